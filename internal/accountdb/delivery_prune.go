package accountdb

import (
	"context"
	"database/sql"
	"time"

	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// pruneDeliveries is how many rows Prune deletes in one transaction, so that claims and
// publications need not wait long.
const pruneDeliveries = 500

// Prune deletes deliveries, their attempts and recoveries older than before, whether they
// were delivered or not. Old secrets that no longer sign at webhook.Keep after before, which
// is now, are deleted too. What is left after an error, the next call deletes.
func (s *Deliveries) Prune(ctx context.Context, before time.Time) error {
	endpoints, err := sqldb.List(ctx, s.db, `SELECT id FROM endpoints`, sqldb.ScanText)
	if err != nil {
		return err
	}
	for _, id := range endpoints {
		err := sqldb.InBatches(ctx, s.db, pruneDeliveries, func(tx *sql.Tx) (int64, error) {
			if err := lockEndpoint(ctx, s.db, tx, id); err != nil {
				return 0, err
			}
			old, err := sqldb.Rows(ctx, tx, `SELECT id FROM deliveries WHERE endpoint_id = $1 AND created_at < $2
				ORDER BY created_at LIMIT $3`, sqldb.ScanText, id, sqldb.FormatTime(before), pruneDeliveries)
			if err != nil || len(old) == 0 {
				return 0, err
			}
			args, list := sqldb.InAfter(nil, old)
			return sqldb.ExecRows(ctx, tx, `DELETE FROM deliveries WHERE id IN `+list, args...) // attempts go with them
		})
		if err != nil {
			return err
		}
		err = s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
			if err := lockEndpoint(ctx, s.db, tx, id); err != nil {
				return err
			}
			return sqldb.ExecAll(ctx, tx,
				sqldb.Do(`UPDATE endpoints SET old_secret = '', old_secret_until = ''
					WHERE id = $1 AND old_secret_until <> '' AND old_secret_until <= $2`, id, sqldb.FormatTime(before.Add(webhook.Keep))),
				sqldb.Do(`DELETE FROM recoveries WHERE endpoint_id = $1 AND created_at < $2`, id, sqldb.FormatTime(before)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SentAgain selects the sequences of the events that are sent again, which must not be deleted.
const SentAgain = `SELECT sequence FROM deliveries WHERE origin <> 'event'`

// Figures counts endpoints and returns how long the longest due delivery to a healthy
// endpoint has waited. Deliveries that wait because their receiver fails are left out.
func (s *Deliveries) Figures(ctx context.Context, now time.Time) (webhook.Figures, error) {
	f := webhook.Figures{Endpoints: map[webhook.State]int{}}
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		all, err := sqldb.Rows(ctx, tx, selectEndpoints, scanEndpoint)
		if err != nil {
			return err
		}
		for _, w := range all {
			if w.Failing() {
				f.Endpoints[webhook.FailingNow]++
			} else {
				f.Endpoints[w.State]++
			}
		}
		since, err := sqldb.Value[time.Time](ctx, tx, `
			SELECT next_at FROM (
				SELECT (`+due("next_at", 1)+`) AS next_at FROM endpoints w JOIN accounts a ON a.id = w.account_id
				WHERE w.state = 'active' AND a.plan = 'pro' AND w.probe_at = '') AS longest
			WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`, sqldb.FormatTime(now))
		if err != nil {
			return sqldb.OrMissing(err, nil)
		}
		f.OldestDue = max(now.Sub(since), 0)
		return nil
	})
	return f, err
}

// sweepStep is how many deliveries one step of Sweep deletes, each with ten attempts at
// most: few enough that others hardly wait for it.
const sweepStep = 500

// Sweep deletes the next deliveries of endpoints that were deleted, or an endpoint that
// has none left, in one transaction. It reports whether there may be more. A process that
// dies between two steps loses nothing: any other continues.
func (s *Deliveries) Sweep(ctx context.Context) (more bool, err error) {
	id, err := sqldb.Get[string](ctx, s.db, `SELECT coalesce(min(id), '') FROM endpoints WHERE account_id = $1`, deletedID)
	if err != nil || id == "" {
		return false, err
	}
	err = s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
		if err := lockEndpoint(ctx, s.db, tx, id); err != nil {
			return err
		}
		n, err := sqldb.ExecRows(ctx, tx,
			`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE endpoint_id = $1 LIMIT $2)`, id, s.sweepStep)
		if err != nil || n > 0 {
			return err
		}
		return sqldb.Exec(ctx, tx, `DELETE FROM endpoints WHERE id = $1`, id)
	})
	return err == nil, err
}
