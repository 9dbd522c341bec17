package accountdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
	"palmares/internal/webhook"
)

// Errors about webhooks that callers may need to distinguish, besides ErrNotFound and
// ErrInvalid.
var (
	ErrPlan          = errors.New("the account's plan has no webhooks")
	ErrEndpointLimit = errors.New("the account has reached its endpoint limit")
	ErrInactive      = errors.New("the endpoint is not active")
	ErrKeyReused     = errors.New("another request has the key")
	ErrNoEndpoint    = fmt.Errorf("endpoint %w", sqldb.ErrNotFound)
)

// Endpoints are the webhook endpoints of accounts.
type Endpoints struct{ db *sqldb.DB }

// Whatever changes a delivery or an endpoint's state locks the endpoint first (see
// lockEndpoint). On PostgreSQL that makes the limits per endpoint exact across all nodes
// and prevents deadlocks.

// Create creates an endpoint that is active at once. The secret is sealed for the
// endpoint's id, which is made here, hence a function. events are sorted and deduplicated;
// nil is all. newest is for a form that may be submitted twice: the id of the newest
// endpoint when the form was rendered, "" for none; otherwise nil.
//
// ErrNotFound: no such account; ErrPlan: it is not Pro; ErrEndpointLimit: it has
// webhook.MaxEndpoints, which holds under concurrency too; ErrInvalid: an event;
// sqldb.ErrChanged: there is a newer endpoint than newest.
func (s *Endpoints) Create(
	ctx context.Context, accountID, url string, events []string, seal func(endpointID string) string, newest *string,
	now time.Time,
) (webhook.Endpoint, error) {
	w, _, err := s.create(ctx, accountID, "", url, events, seal, newest, now)
	return w, err
}

// CreateOnce creates an endpoint, or returns the one that a request with the same key has created in the last
// webhook.KeyHolds, as it was then, with the secret that it has, sealed. ErrKeyReused: that one asked for something else.
func (s *Endpoints) CreateOnce(
	ctx context.Context, accountID, key, url string, events []string, seal func(endpointID string) string, now time.Time,
) (w webhook.Endpoint, sealed string, err error) {
	return s.create(ctx, accountID, key, url, events, seal, nil, now)
}

func (s *Endpoints) create(
	ctx context.Context, accountID, key, url string, events []string, seal func(endpointID string) string, newest *string,
	now time.Time,
) (w webhook.Endpoint, sealed string, err error) {
	events, err = normalEvents(events)
	if err != nil {
		return w, "", err
	}
	request := digest(url + "\n" + sqldb.FormatTexts(events))
	if key != "" {
		key = digest(key)
	}
	w = webhook.Endpoint{
		ID: account.NewID(account.EndpointID, now, rand.Reader), AccountID: accountID, URL: url, Events: events,
		State: webhook.Active, CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
	sealed = seal(w.ID)
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		a, err := lockAccountByID(ctx, tx, accountID)
		if err != nil {
			return err
		}
		if newest != nil {
			if err := checkNewest(ctx, tx, "endpoints", accountID, *newest); err != nil {
				return err
			}
		}
		var first struct {
			ID        string
			CreatedAt time.Time
			Secret    string
			Request   string
		}
		err = tx.QueryRowContext(ctx, `SELECT id, created_at, secret, request FROM endpoints
			WHERE account_id = $1 AND request_key = $2 AND request_key <> '' AND created_at > $3 ORDER BY id DESC LIMIT 1`,
			accountID, key, sqldb.FormatTime(now.Add(-webhook.KeyHolds))).Scan(sqldb.Fields(&first)...)
		switch {
		case err == nil && first.Request != request:
			return ErrKeyReused
		case err == nil:
			w.ID, w.CreatedAt, sealed = first.ID, first.CreatedAt, first.Secret
			return nil
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		have, err := sqldb.Value[int](ctx, tx, `SELECT count(*) FROM endpoints WHERE account_id = $1`, accountID)
		switch {
		case err != nil:
			return err
		case a.Plan != account.Pro:
			return sqldb.ProblemWith(a.Email, ErrPlan, "%s has the %s plan and webhooks are part of the pro plan", a.Email, a.Plan)
		case have >= webhook.MaxEndpoints:
			return sqldb.Problem(ErrEndpointLimit, nil, "%s has %d endpoints and may have %d: delete one first",
				a.Email, have, webhook.MaxEndpoints)
		}
		// Its turn is the last: a new endpoint does not overtake those that wait.
		return sqldb.Exec(ctx, tx, `
			INSERT INTO endpoints (id, account_id, url, events, state, reason, created_at, secret, old_secret, old_secret_until,
				failures, failing_since, last_success_at, disabled_at, not_before, turn, request_key, request)
			VALUES ($1, $2, $3, $4, $5, '', $6, $7, '', '', 0, '', '', '', '', (SELECT coalesce(max(turn), 0) FROM endpoints), $8, $9)`,
			w.ID, accountID, url, sqldb.FormatTexts(events), string(w.State), sqldb.FormatTime(w.CreatedAt), sealed, key, request)
	})
	return w, sealed, err
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// List returns the endpoints of an owner, oldest first.
func (s *Endpoints) List(ctx context.Context, owner account.Owner) ([]webhook.Endpoint, error) {
	return sqldb.List(ctx, s.db, selectEndpoints+`AND ($1 OR w.account_id = $2) ORDER BY w.id`, scanEndpoint, owner.Any(),
		owner.AccountID())
}

// Find returns an endpoint. ErrNotFound: there is none, or it is another account's.
func (s *Endpoints) Find(ctx context.Context, owner account.Owner, id string) (webhook.Endpoint, error) {
	w, err := findEndpoint(ctx, s.db.Reads(), owner, id)
	return w, s.db.Explain(ctx, err)
}

// Change changes what the owner of an endpoint may change, and returns the result. When it
// becomes active again or its URL changes, pending deliveries are due at once and
// webhook.DisableAfter starts again. Only another URL clears its failures: an endpoint that
// fails still does so after a pause, until a delivery succeeds. Pending deliveries stay,
// whatever events the endpoint takes from now on.
//
// ErrNotFound; ErrInvalid: an event, or a state that its owner cannot choose.
func (s *Endpoints) Change(
	ctx context.Context, owner account.Owner, id string, c webhook.Change, now time.Time,
) (webhook.Endpoint, error) {
	return changeEndpoint(ctx, s.db, owner, id, func(tx *sql.Tx, w webhook.Endpoint) error {
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
				restart = cmp.Or(restart, `UPDATE endpoints SET not_before = '',
					probe_at = CASE WHEN probe_at > created_at THEN created_at ELSE probe_at END `)
				w.ResumedAt = now
			case webhook.Paused:
			default:
				return sqldb.Problem(sqldb.ErrInvalid, nil, "the state of an endpoint cannot be set to %q: "+
					"set it to active or paused", *c.State)
			}
			w.State, w.Reason, w.DisabledAt = *c.State, "", time.Time{}
		}
		err := sqldb.Exec(ctx, tx,
			`UPDATE endpoints SET url = $1, events = $2, state = $3, reason = $4, disabled_at = $5, resumed_at = $6 WHERE id = $7`,
			w.URL, sqldb.FormatTexts(w.Events), string(w.State), string(w.Reason), sqldb.FormatTime(w.DisabledAt),
			sqldb.FormatTime(w.ResumedAt), id)
		if err != nil || restart == "" {
			return err
		}
		if err := sqldb.Exec(ctx, tx, restart+`WHERE id = $1`, id); err != nil {
			return err
		}
		return makeDue(ctx, tx, id, now)
	})
}

// clearFailures begins the statement that clears the failures of endpoints.
const clearFailures = `UPDATE endpoints SET failures = 0, failing_since = '', not_before = '', probe_at = '' `

// Delete deletes an endpoint; Deliveries.Sweep removes its deliveries. ErrNotFound.
func (s *Endpoints) Delete(ctx context.Context, owner account.Owner, id string) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := findEndpoint(ctx, tx, owner, id); err != nil {
			return err
		}
		return buryEndpoints(ctx, tx, `id = $1`, id)
	})
}

// RotateSecret replaces the secret of an endpoint; the previous one signs as well for
// webhook.Overlap, the one before that no longer. last is for a form that may be submitted
// twice: OldSecretUntil when the form was rendered; otherwise nil. ErrNotFound;
// sqldb.ErrChanged: it is another one by now. All past times are equal, since they are deleted
// sooner or later.
func (s *Endpoints) RotateSecret(
	ctx context.Context, owner account.Owner, id, sealed string, last *time.Time, now time.Time,
) (webhook.Endpoint, error) {
	return changeEndpoint(ctx, s.db, owner, id, func(tx *sql.Tx, w webhook.Endpoint) error {
		if last != nil && !w.OldSecretUntil.Equal(*last) && (now.Before(w.OldSecretUntil) || now.Before(*last)) {
			return sqldb.Problem(sqldb.ErrChanged, nil, "the secret of the endpoint %s was rotated meanwhile: look at it again", id)
		}
		return sqldb.Exec(ctx, tx, `UPDATE endpoints SET old_secret = secret, secret = $1, old_secret_until = $2
			WHERE id = $3`,
			sealed, sqldb.FormatTime(now.Add(webhook.Overlap)), id)
	})
}

// Secrets are the secrets of all endpoints.
func (s *Endpoints) Secrets() vault.Secrets { return s.db.Secrets("endpoints", "secret", "old_secret") }

// changeEndpoint locks an endpoint, lets fn change it, and returns the result.
func changeEndpoint(
	ctx context.Context, db *sqldb.DB, owner account.Owner, id string, fn func(*sql.Tx, webhook.Endpoint) error,
) (webhook.Endpoint, error) {
	return sqldb.Write(ctx, db, func(tx *sql.Tx) (webhook.Endpoint, error) {
		if err := lockEndpoint(ctx, db, tx, id); err != nil {
			return webhook.Endpoint{}, err
		}
		w, err := findEndpoint(ctx, tx, owner, id)
		if err != nil {
			return w, err
		}
		if err := fn(tx, w); err != nil {
			return w, err
		}
		return findEndpoint(ctx, tx, owner, id)
	})
}

// lockEndpoint makes other transactions that would change an endpoint wait for this one.
// On PostgreSQL the lock is one that lets a publication refer to the endpoint meanwhile;
// a statement after this one sees what others committed before.
func lockEndpoint(ctx context.Context, db *sqldb.DB, tx *sql.Tx, id string) error {
	return sqldb.LockRows(ctx, db, tx, `SELECT 1 FROM endpoints WHERE id = $1`, "FOR NO KEY UPDATE", id)
}

func findEndpoint(ctx context.Context, q sqldb.Queryer, owner account.Owner, id string) (webhook.Endpoint, error) {
	w, err := sqldb.Row(ctx, q, selectEndpoints+`AND w.id = $1 AND ($2 OR w.account_id = $3)`, scanEndpoint,
		id, owner.Any(), owner.AccountID())
	return w, sqldb.OrMissing(err, sqldb.ProblemWith(id, ErrNoEndpoint, "there is no endpoint %q", id))
}

const selectEndpoints = `
	SELECT w.id, w.account_id, w.url, w.events, w.state, w.reason, w.disabled_at, w.failures, w.failing_since,
		w.not_before, w.probe_at, w.last_success_at, w.failure_at, w.failure_outcome, w.failure_status, w.old_secret_until, w.created_at,
		w.resumed_at, w.mailed_for, a.plan
	FROM endpoints w JOIN accounts a ON a.id = w.account_id WHERE w.account_id <> '` + deletedID + `' `

func scanEndpoint(scan sqldb.Scanner, w *webhook.Endpoint) error {
	var plan account.Plan
	err := scan(append(sqldb.Fields(w), &plan)...)
	// A paused or disabled endpoint keeps its state: Pro would make no difference.
	if w.State == webhook.Active && plan != account.Pro {
		w.State = webhook.Suspended
	}
	return err
}

func normalEvents(events []string) ([]string, error) {
	if events == nil {
		return nil, nil
	}
	if len(events) == 0 {
		return nil, sqldb.Problem(sqldb.ErrInvalid, nil, "an endpoint needs at least one event: pause it instead, "+
			"or give it some of %s", strings.Join(webhook.Types, ", "))
	}
	for _, e := range events {
		if !slices.Contains(webhook.Types, e) {
			return nil, sqldb.Problem(sqldb.ErrInvalid, nil, "there is no event %q: the events are %s", e,
				strings.Join(webhook.Types, ", "))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(events))), nil
}

// maxMadeDue limits what makeDue changes in one transaction. While an endpoint fails few
// deliveries are tried, so there are seldom as many.
const maxMadeDue = 5000

// makeDue makes the pending deliveries of an endpoint, which is locked, due since they were
// created, so that they are sent before newer ones. Those that are being sent keep their lease, and
// those beyond maxMadeDue their time.
func makeDue(ctx context.Context, tx *sql.Tx, endpointID string, now time.Time) error {
	return sqldb.Exec(ctx, tx, `
		UPDATE deliveries SET next_at = created_at WHERE id IN (
			SELECT id FROM deliveries WHERE endpoint_id = $1 AND state = 'pending' AND next_at > $2 AND lease_until <= $2
			ORDER BY created_at, id LIMIT $3)`, endpointID, sqldb.FormatTime(now), maxMadeDue)
}
