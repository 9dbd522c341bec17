package accountdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

const recoveryID = "rcv_"

// Recover requests everything that an endpoint missed since a time: the events published
// since then that it takes and that are neither delivered to it nor pending. It only
// stores the request; RunRecovery carries it out in steps. Events published from now on
// are not part of it. The oldest day of which events are kept is accepted as a whole,
// although part of it was pruned: people enter days.
//
// ErrNotFound; ErrInvalid: since is in the future or longer ago than events are kept;
// sqldb.ErrTooMany: the endpoint has a recovery that is not done.
func (s *Deliveries) Recover(
	ctx context.Context, owner account.Owner, endpointID string, since, now time.Time,
) (webhook.Recovery, error) {
	since = since.UTC().Truncate(time.Millisecond)
	r := webhook.Recovery{
		ID: account.NewID(recoveryID, now, rand.Reader), EndpointID: endpointID,
		Since: since, CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
	oldest := r.CreatedAt.Add(-webhook.Keep)
	if since.Before(oldest) && !since.Before(oldest.Add(-24*time.Hour)) {
		since, r.Since = oldest, oldest
	}
	if since.After(now) || since.Before(oldest) {
		return webhook.Recovery{}, sqldb.Problem(sqldb.ErrInvalid, nil, "events can be recovered since a time in the last "+
			"%d days, and %s is not one: give a later time, not in the future",
			int(webhook.Keep.Hours())/24, sqldb.FormatTime(since))
	}
	_, err := changeEndpoint(ctx, s.db, owner, endpointID, func(tx *sql.Tx, _ webhook.Endpoint) error {
		open, err := sqldb.Value[int](ctx, tx, `SELECT count(*) FROM recoveries WHERE endpoint_id = $1 AND done_at = ''`,
			endpointID)
		if err != nil {
			return err
		}
		if open > 0 {
			return sqldb.Problem(sqldb.ErrTooMany, nil, "a recovery of the endpoint %s is under way: wait until it is done",
				endpointID)
		}
		// Sequences rise with time, but a clock may be set back: since is checked again for
		// every event.
		after, last, err := s.rooms.EventsSince(ctx, tx, since)
		if err != nil {
			return err
		}
		return sqldb.Exec(ctx, tx, `
			INSERT INTO recoveries (id, endpoint_id, since, created_at, done_at, deliveries, after_sequence, last_sequence)
			VALUES ($1, $2, $3, $4, '', 0, $5, $6)`,
			r.ID, endpointID, sqldb.FormatTime(since), sqldb.FormatTime(r.CreatedAt), after, last)
	})
	return r, err
}

// Recoveries returns the recoveries of an endpoint, newest first. ErrNotFound: no such endpoint.
func (s *Deliveries) Recoveries(
	ctx context.Context, owner account.Owner, endpointID string,
) ([]webhook.Recovery, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) ([]webhook.Recovery, error) {
		if _, err := findEndpoint(ctx, tx, owner, endpointID); err != nil {
			return nil, err
		}
		return sqldb.Rows(ctx, tx, `
			SELECT id, endpoint_id, since, created_at, done_at, deliveries FROM recoveries WHERE endpoint_id = $1 ORDER BY created_at DESC, id DESC`,
			sqldb.ScanFields[webhook.Recovery], endpointID)
	})
}

// RunRecovery runs one step of the oldest unfinished recovery: it handles the next limit
// events. A process that dies between two steps loses nothing, and any number of nodes
// may call it at once. more reports whether there was something to do, and may be again.
func (s *Deliveries) RunRecovery(ctx context.Context, now time.Time, limit int) (more bool, err error) {
	more, err = sqldb.Get[bool](ctx, s.db, `SELECT EXISTS (SELECT 1 FROM recoveries WHERE done_at = '')`)
	if err != nil || !more {
		return false, err
	}
	return sqldb.Write(ctx, s.db.Retried(), func(tx *sql.Tx) (bool, error) { return s.recoverStep(ctx, tx, now, limit) })
}

func (s *Deliveries) recoverStep(ctx context.Context, tx *sql.Tx, now time.Time, limit int) (bool, error) {
	// The endpoint is locked, not the recovery: two recoveries of one endpoint must not
	// both find that an event is missing, and a deletion locks the endpoint first.
	pick := `SELECT w.id FROM recoveries r JOIN endpoints w ON w.id = r.endpoint_id WHERE r.done_at = ''
		ORDER BY r.created_at, r.id LIMIT 1` +
		s.db.LockClause("FOR NO KEY UPDATE OF w SKIP LOCKED")
	endpointID, err := sqldb.Value[string](ctx, tx, pick)
	if err != nil {
		return false, sqldb.OrMissing(err, nil)
	}
	// The progress of the recovery is only reliable once the endpoint is locked.
	var id, since string
	var after, last int64
	err = tx.QueryRowContext(ctx, `
		SELECT id, since, after_sequence, last_sequence FROM recoveries WHERE endpoint_id = $1 AND done_at = '' ORDER BY created_at, id LIMIT 1`, endpointID).
		Scan(&id, &since, &after, &last)
	if err != nil {
		return true, sqldb.OrMissing(err, nil) // another node has finished it
	}
	w, err := findEndpoint(ctx, tx, account.AnyOwner(), endpointID)
	if err != nil {
		return false, err
	}
	upTo := min(after+int64(limit), last)
	made, err := s.deliverEvents(ctx, tx, w, deliveryPrefix(now), webhook.OfRecovery, after, upTo, since, now)
	if err != nil {
		return false, err
	}
	done := ""
	if upTo == last {
		done = sqldb.FormatTime(now)
	}
	return true, sqldb.Exec(ctx, tx, `UPDATE recoveries SET after_sequence = $1, deliveries = deliveries + $2, done_at = $3
		WHERE id = $4`, upTo, made, done, id)
}
