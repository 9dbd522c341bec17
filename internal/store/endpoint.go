package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/webhook"
)

// Errors about webhooks that callers may need to distinguish, besides ErrNotFound and
// ErrInvalid.
var (
	ErrPlan          = errors.New("the account's plan has no webhooks")
	ErrEndpointLimit = errors.New("the account has reached its endpoint limit")
	ErrTooMany       = errors.New("rate limit exceeded")
	ErrInactive      = errors.New("the endpoint is not active")
)

// Endpoints are the webhook endpoints of accounts.
type Endpoints struct{ *db }

// Whatever changes a delivery or an endpoint's state locks the endpoint first (see
// lockEndpoint). On PostgreSQL that makes the limits per endpoint exact across all nodes
// and prevents deadlocks.

// Create creates an endpoint that is active at once. The secret is sealed for the
// endpoint's id, which is made here, hence a function. events are sorted and deduplicated;
// nil is all.
//
// ErrNotFound: no such account; ErrPlan: it is not Pro; ErrEndpointLimit: it has
// webhook.MaxEndpoints, which holds under concurrency too; ErrInvalid: an event.
func (s *Endpoints) Create(ctx context.Context, accountID, url string, events []string, seal func(endpointID string) string, now time.Time) (webhook.Endpoint, error) {
	return s.create(ctx, accountID, url, events, seal, nil, now)
}

// CreateNext is Create for a form that may be submitted twice: newest is the id of the
// newest endpoint when the form was rendered, "" for none. ErrChanged: there is a newer
// one.
func (s *Endpoints) CreateNext(ctx context.Context, accountID, url string, events []string, seal func(endpointID string) string, newest string, now time.Time) (webhook.Endpoint, error) {
	return s.create(ctx, accountID, url, events, seal, &newest, now)
}

func (s *Endpoints) create(ctx context.Context, accountID, url string, events []string, seal func(endpointID string) string, newest *string, now time.Time) (webhook.Endpoint, error) {
	events, err := normalEvents(events)
	if err != nil {
		return webhook.Endpoint{}, err
	}
	w := webhook.Endpoint{
		ID: account.NewID(account.EndpointID, now, rand.Reader), AccountID: accountID, URL: url, Events: events,
		State: webhook.Active, CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
	sealed := seal(w.ID)
	err = s.write(ctx, func(tx *sql.Tx) error {
		// The account's row is the lock, as for its keys.
		if _, err := tx.ExecContext(ctx, `UPDATE accounts SET plan = plan WHERE id = $1`, accountID); err != nil {
			return err
		}
		if newest != nil {
			if err := checkNewest(ctx, tx, "endpoints", accountID, *newest); err != nil {
				return err
			}
		}
		var email string
		var plan account.Plan
		var have int
		err := tx.QueryRowContext(ctx, `SELECT email, plan, (SELECT count(*) FROM endpoints WHERE account_id = $1) FROM accounts WHERE id = $1`, accountID).
			Scan(&email, (*string)(&plan), &have)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return noAccountID(accountID)
		case err != nil:
			return err
		case plan != account.Pro:
			return problemWith(email, ErrPlan, "%s has the %s plan and webhooks are part of the pro plan", email, plan)
		case have >= webhook.MaxEndpoints:
			return problem(ErrEndpointLimit, nil, "%s has %d endpoints and may have %d: delete one first", email, have, webhook.MaxEndpoints)
		}
		// Its turn is the last: a new endpoint does not overtake those that wait.
		_, err = tx.ExecContext(ctx, `
			INSERT INTO endpoints (id, account_id, url, events, state, reason, created_at, secret, old_secret, old_secret_until,
				failures, failing_since, last_success_at, disabled_at, not_before, turn)
			VALUES ($1, $2, $3, $4, $5, '', $6, $7, '', '', 0, '', '', '', '', (SELECT coalesce(max(turn), 0) FROM endpoints))`,
			w.ID, accountID, url, joinList(events), string(w.State), formatTime(w.CreatedAt), sealed)
		return err
	})
	if err != nil {
		return webhook.Endpoint{}, err
	}
	return w, nil
}

// List returns the endpoints of an owner, oldest first.
func (s *Endpoints) List(ctx context.Context, owner account.Owner) ([]webhook.Endpoint, error) {
	var all []webhook.Endpoint
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		all, err = rows(ctx, tx, 0, selectEndpoints+`AND ($1 OR w.account_id = $2)`, scanEndpoint, owner.Any(), owner.AccountID())
		return err
	})
	slices.SortFunc(all, func(a, b webhook.Endpoint) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// Find returns an endpoint. ErrNotFound: there is none, or it is another account's.
func (s *Endpoints) Find(ctx context.Context, owner account.Owner, id string) (webhook.Endpoint, error) {
	var w webhook.Endpoint
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		w, err = findEndpoint(ctx, tx, owner, id)
		return err
	})
	return w, err
}

// Change changes what the owner of an endpoint may change, and returns the result. When it
// becomes active again or its URL changes, pending deliveries are due at once and
// webhook.DisableAfter starts again. Only another URL clears its failures: an endpoint that
// fails still does so after a pause, until a delivery succeeds. Pending deliveries stay,
// whatever events the endpoint takes from now on.
//
// ErrNotFound; ErrInvalid: an event, or a state that its owner cannot choose.
func (s *Endpoints) Change(ctx context.Context, owner account.Owner, id string, c webhook.Change, now time.Time) (webhook.Endpoint, error) {
	return s.changeEndpoint(ctx, owner, id, func(tx *sql.Tx, w webhook.Endpoint) error {
		if w.State == webhook.Suspended { // derived, not stored
			w.State = webhook.Active
		}
		restart := ""
		if c.URL != nil && *c.URL != w.URL {
			w.URL, restart = *c.URL, clearFailures
		}
		if c.Events != nil {
			events, err := normalEvents(*c.Events)
			if err != nil {
				return err
			}
			w.Events = events
		}
		if c.State != nil && *c.State != w.State {
			switch *c.State {
			case webhook.Active:
				restart = cmp.Or(restart, `UPDATE endpoints SET not_before = '' `)
				w.ResumedAt = now
			case webhook.Paused:
			default:
				return problem(ErrInvalid, nil, "the state of an endpoint cannot be set to %q: set it to active or paused", *c.State)
			}
			w.State, w.Reason, w.DisabledAt = *c.State, "", time.Time{}
		}
		_, err := tx.ExecContext(ctx, `UPDATE endpoints SET url = $1, events = $2, state = $3, reason = $4, disabled_at = $5, resumed_at = $6 WHERE id = $7`,
			w.URL, joinList(w.Events), string(w.State), w.Reason, formatTime(w.DisabledAt), formatTime(w.ResumedAt), id)
		if err != nil || restart == "" {
			return err
		}
		if _, err := tx.ExecContext(ctx, restart+`WHERE id = $1`, id); err != nil {
			return err
		}
		return makeDue(ctx, tx, id, now)
	})
}

// clearFailures begins the statement that clears the failures of endpoints.
const clearFailures = `UPDATE endpoints SET failures = 0, failing_since = '', not_before = '' `

// Delete deletes an endpoint; Deliveries.Sweep removes its deliveries. ErrNotFound.
func (s *Endpoints) Delete(ctx context.Context, owner account.Owner, id string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := findEndpoint(ctx, tx, owner, id); err != nil {
			return err
		}
		return buryEndpoints(ctx, tx, `id = $1`, id)
	})
}

// RotateSecret replaces the secret of an endpoint; the previous one signs as well for
// webhook.Overlap, the one before that no longer. ErrNotFound.
func (s *Endpoints) RotateSecret(ctx context.Context, owner account.Owner, id, sealed string, now time.Time) (webhook.Endpoint, error) {
	return s.rotateSecret(ctx, owner, id, sealed, nil, now)
}

// RotateNextSecret is RotateSecret for a form that may be submitted twice: last is
// OldSecretUntil when the form was rendered. ErrChanged: it is another one by now. All
// past times are equal, since they are deleted sooner or later.
func (s *Endpoints) RotateNextSecret(ctx context.Context, owner account.Owner, id, sealed string, last, now time.Time) (webhook.Endpoint, error) {
	return s.rotateSecret(ctx, owner, id, sealed, &last, now)
}

func (s *Endpoints) rotateSecret(ctx context.Context, owner account.Owner, id, sealed string, last *time.Time, now time.Time) (webhook.Endpoint, error) {
	return s.changeEndpoint(ctx, owner, id, func(tx *sql.Tx, w webhook.Endpoint) error {
		if last != nil && !w.OldSecretUntil.Equal(*last) && (now.Before(w.OldSecretUntil) || now.Before(*last)) {
			return problem(ErrChanged, nil, "the secret of the endpoint %s was rotated meanwhile: look at it again", id)
		}
		_, err := tx.ExecContext(ctx, `UPDATE endpoints SET old_secret = secret, secret = $1, old_secret_until = $2 WHERE id = $3`,
			sealed, formatTime(now.Add(webhook.Overlap)), id)
		return err
	})
}

// ReplaceSecret replaces a sealed secret of an endpoint with the same secret sealed with
// another key. If the endpoint no longer has oldSealed, nothing changes: another node was
// faster.
func (s *Endpoints) ReplaceSecret(ctx context.Context, endpointID, oldSealed, newSealed string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE endpoints SET
				secret = CASE WHEN secret = $2 THEN $3 ELSE secret END,
				old_secret = CASE WHEN old_secret = $2 THEN $3 ELSE old_secret END
			WHERE id = $1 AND (secret = $2 OR old_secret = $2)`, endpointID, oldSealed, newSealed)
		return err
	})
}

// SealedSecrets returns those of every endpoint, to be sealed again with ReplaceSecret
// when the key has changed.
func (s *Endpoints) SealedSecrets(ctx context.Context) ([]webhook.SealedSecret, error) {
	var all []webhook.SealedSecret
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		all, err = rows(ctx, tx, 0, `SELECT id, secret, old_secret FROM endpoints WHERE account_id <> $1`, func(scan scanner, k *webhook.SealedSecret) error {
			return scan(&k.EndpointID, &k.Secret, &k.OldSecret)
		}, deletedID)
		return err
	})
	return all, err
}

// changeEndpoint locks an endpoint, lets fn change it, and returns the result.
func (s *db) changeEndpoint(ctx context.Context, owner account.Owner, id string, fn func(*sql.Tx, webhook.Endpoint) error) (webhook.Endpoint, error) {
	var w webhook.Endpoint
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := s.lockEndpoint(ctx, tx, id); err != nil {
			return err
		}
		old, err := findEndpoint(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if err := fn(tx, old); err != nil {
			return err
		}
		w, err = findEndpoint(ctx, tx, owner, id)
		return err
	})
	if err != nil {
		return webhook.Endpoint{}, err
	}
	return w, nil
}

// lockEndpoint makes other transactions that would change an endpoint wait for this one.
// On PostgreSQL the lock is one that lets a publication refer to the endpoint meanwhile;
// a statement after this one sees what others committed before.
func (s *db) lockEndpoint(ctx context.Context, tx *sql.Tx, id string) error {
	return s.dialect.lockRows(ctx, tx, `SELECT 1 FROM endpoints WHERE id = $1 FOR NO KEY UPDATE`, id)
}

func findEndpoint(ctx context.Context, q queryer, owner account.Owner, id string) (webhook.Endpoint, error) {
	var w webhook.Endpoint
	err := scanEndpoint(q.QueryRowContext(ctx, selectEndpoints+`AND w.id = $1 AND ($2 OR w.account_id = $3)`, id, owner.Any(), owner.AccountID()).Scan, &w)
	if errors.Is(err, sql.ErrNoRows) {
		return webhook.Endpoint{}, problemWith(id, ErrNoEndpoint, "there is no endpoint %q", id)
	}
	return w, err
}

const selectEndpoints = `
	SELECT w.id, w.account_id, w.url, w.events, w.state, w.reason, w.created_at, w.old_secret_until,
		w.failures, w.failing_since, w.last_success_at, w.disabled_at, w.not_before,
		w.failure_at, w.failure_outcome, w.failure_status, w.mailed_for, w.resumed_at, a.plan
	FROM endpoints w JOIN accounts a ON a.id = w.account_id WHERE w.account_id <> '` + deletedID + `' `

func scanEndpoint(scan scanner, w *webhook.Endpoint) error {
	var events, created, old, failing, success, disabled, notBefore, failed, mailed, resumed string
	var plan account.Plan
	err := scan(&w.ID, &w.AccountID, &w.URL, &events, (*string)(&w.State), &w.Reason, &created, &old, &w.Failures, &failing, &success, &disabled, &notBefore,
		&failed, (*string)(&w.LastFailure.Outcome), &w.LastFailure.Status, &mailed, &resumed, (*string)(&plan))
	if err != nil {
		return err
	}
	// A paused or disabled endpoint keeps its state: Pro would make no difference.
	if w.State == webhook.Active && plan != account.Pro {
		w.State = webhook.Suspended
	}
	if w.Events, err = splitList(events); err != nil {
		return err
	}
	for _, m := range []struct {
		text string
		time *time.Time
	}{
		{created, &w.CreatedAt},
		{old, &w.OldSecretUntil},
		{failing, &w.FailingSince},
		{success, &w.LastSuccessAt},
		{disabled, &w.DisabledAt},
		{notBefore, &w.NotBefore},
		{failed, &w.LastFailure.At},
		{mailed, &w.MailedFor},
		{resumed, &w.ResumedAt},
	} {
		if *m.time, err = parseTime(m.text); err != nil {
			return err
		}
	}
	return nil
}

func normalEvents(events []string) ([]string, error) {
	if events == nil {
		return nil, nil
	}
	if len(events) == 0 {
		return nil, problem(ErrInvalid, nil, "an endpoint needs at least one event: pause it instead, or give it some of %s", strings.Join(webhook.Types, ", "))
	}
	for _, e := range events {
		if !slices.Contains(webhook.Types, e) {
			return nil, problem(ErrInvalid, nil, "there is no event %q: the events are %s", e, strings.Join(webhook.Types, ", "))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(events))), nil
}
