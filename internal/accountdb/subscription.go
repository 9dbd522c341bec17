package accountdb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
)

// Subscriptions are what accounts pay, as last read from Stripe.
type Subscriptions struct{ db *sqldb.DB }

const selectSubscriptions = `
	SELECT account_id, customer_id, subscription_id, status, period_end, cancel_at, grace_until, granted, version FROM subscriptions `

// Find returns the subscription of an account; the zero value when the account never
// went to pay.
func (s *Subscriptions) Find(ctx context.Context, accountID string) (billing.Subscription, error) {
	found, err := findSubscription(ctx, s.db.Reads(), `WHERE account_id = $1`, accountID)
	return found, s.db.Explain(ctx, err)
}

// ByCustomer is Find by the customer's id at Stripe.
func (s *Subscriptions) ByCustomer(ctx context.Context, customerID string) (billing.Subscription, error) {
	found, err := findSubscription(ctx, s.db.Reads(), `WHERE customer_id = $1`, customerID)
	return found, s.db.Explain(ctx, err)
}

func findSubscription(ctx context.Context, q sqldb.Queryer, where, id string) (billing.Subscription, error) {
	found, err := sqldb.Row(ctx, q, selectSubscriptions+where, sqldb.ScanFields[billing.Subscription], id)
	return found, sqldb.OrMissing(err, nil)
}

// List returns the subscription of every account that ever went to pay, oldest account
// first.
func (s *Subscriptions) List(ctx context.Context) ([]billing.Subscription, error) {
	return sqldb.List(ctx, s.db, selectSubscriptions+`ORDER BY account_id`, sqldb.ScanFields[billing.Subscription])
}

// SetCustomer stores which customer of Stripe an account is, in place of old, "" for
// none, and returns its subscription. If the account is another customer by now, that
// stays: of two concurrent requests one gets the other's. ErrNotFound: no such account.
func (s *Subscriptions) SetCustomer(
	ctx context.Context, accountID, old, customerID string,
) (billing.Subscription, error) {
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (found billing.Subscription, err error) {
		a, err := lockAccountByID(ctx, tx, accountID)
		if err != nil {
			return found, err
		}
		if err := sqldb.Exec(ctx, tx, `
			INSERT INTO subscriptions (account_id, customer_id, subscription_id, status, period_end, cancel_at, grace_until, granted, version)
			VALUES ($1, $2, '', '', '', '', '', FALSE, 1)
			ON CONFLICT (account_id) DO UPDATE SET customer_id = excluded.customer_id, version = subscriptions.version + 1
			WHERE subscriptions.customer_id = $3`, a.ID, customerID, old); err != nil {
			return found, err
		}
		return findSubscription(ctx, tx, `WHERE account_id = $1`, a.ID)
	})
}

// EventSeen reports whether an event of Stripe was applied already.
func (s *Subscriptions) EventSeen(ctx context.Context, id string) (bool, error) {
	return sqldb.Get[bool](ctx, s.db, `SELECT EXISTS (SELECT 1 FROM stripe_events WHERE id = $1)`, id)
}

// LastEvent returns when an event of Stripe was last applied; the zero time for never.
func (s *Subscriptions) LastEvent(ctx context.Context) (time.Time, error) {
	return sqldb.Get[time.Time](ctx, s.db, `SELECT coalesce(max(received_at), '') FROM stripe_events`)
}

// Apply stores what was read of an account's subscription and its effect: the plan, the
// mails about it, and the event that caused the reading, all or nothing. An event that
// was applied already changes nothing. Apply returns false and writes nothing when
// something was written since the finding's version: the reading may be older than
// that, and must be repeated.
func (s *Subscriptions) Apply(ctx context.Context, f billing.Finding) (bool, error) {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		a, err := lockAccountByID(ctx, tx, f.AccountID)
		if errors.Is(err, sqldb.ErrNotFound) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		old, err := sqldb.Row(ctx, tx, selectSubscriptions+`WHERE account_id = $1`, sqldb.ScanFields[billing.Subscription], a.ID)
		if err != nil {
			return err
		}
		if f.EventID != "" {
			noted, err := sqldb.ExecRows(ctx, tx, `INSERT INTO stripe_events (id, received_at) VALUES ($1, $2)
				ON CONFLICT (id) DO NOTHING`, f.EventID, sqldb.FormatTime(f.ObservedAt))
			if err != nil || noted == 0 {
				return err
			}
		}
		if old.Version != f.Version {
			return errStale
		}
		return s.applyEffect(ctx, tx, a, billing.EffectOf(a.Plan, old, f.Reading, f.ObservedAt), f.ObservedAt)
	})
	if errors.Is(err, errStale) {
		return false, nil
	}
	return true, err
}

// errStale rolls back a transaction whose reading may be too old.
var errStale = errors.New("the subscription changed meanwhile")

// applyEffect stores an effect on an account whose row is locked.
func (s *Subscriptions) applyEffect(
	ctx context.Context, tx *sql.Tx, a account.Account, e billing.Effect, now time.Time,
) error {
	next := e.Subscription
	err := sqldb.Exec(ctx, tx, `
		UPDATE subscriptions SET subscription_id = $1, status = $2, period_end = $3, cancel_at = $4, grace_until = $5, granted = $6, version = version + 1
		WHERE account_id = $7`,
		next.ID, string(next.Status), sqldb.FormatTime(next.PeriodEnd), sqldb.FormatTime(next.CancelAt), sqldb.FormatTime(next.GraceUntil), next.Granted, a.ID)
	if err != nil {
		return err
	}
	if e.PaymentFailed {
		if err := QueueMail(ctx, tx, mail.PaymentFailedTo(a.Email, next.GraceUntil), now); err != nil {
			return err
		}
	}
	if e.PlanEnded {
		if err := QueueMail(ctx, tx, mail.PlanEndedTo(a.Email, e.KeysDue), now); err != nil {
			return err
		}
	}
	if e.Plan == a.Plan {
		return nil
	}
	if err := movePlan(ctx, tx, a.ID, e.Plan, e.KeysDue); err != nil {
		return err
	}
	return raiseRevision(ctx, s.db, tx)
}

// PruneEvents deletes the events received before a time. Stripe repeats an event for
// three days at most.
func (s *Subscriptions) PruneEvents(ctx context.Context, before time.Time) error {
	return sqldb.WriteOnce(ctx, s.db, `DELETE FROM stripe_events WHERE received_at < $1`, sqldb.FormatTime(before))
}

// lockAccountByID is lockAccount by the account's id.
func lockAccountByID(ctx context.Context, tx *sql.Tx, id string) (account.Account, error) {
	if err := sqldb.Exec(ctx, tx, `UPDATE accounts SET plan = plan WHERE id = $1`, id); err != nil {
		return account.Account{}, err
	}
	return findAccountByID(ctx, tx, id)
}
