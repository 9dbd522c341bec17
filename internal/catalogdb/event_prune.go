package catalogdb

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"palmares/internal/sqldb"
)

// eventsLinger is how much longer an event is kept than a delivery: by then a resend that
// was requested just before has been written, and keeps its event.
const eventsLinger = time.Hour

// pruneStep is how many events Prune deletes in one transaction, so that claims and
// publications need not wait long.
const pruneStep = 500

// Prune deletes events that are an hour older than before, when their deliveries have been
// deleted. Events that a younger delivery sends again and those that feeds are made from are
// kept, outside the log. The sequence continues as if nothing had been removed, and
// publications stay on record. What is left after an error, the next call deletes.
func (s *Events) Prune(ctx context.Context, before time.Time) error {
	before = before.Add(-eventsLinger)
	// The last event of the publications before the first one that is kept.
	var last, pruned int64
	var kept []int64
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `
			SELECT coalesce((SELECT min(first_sequence) - 1 FROM publications WHERE published_at >= $1), sequence), pruned_sequence FROM catalogue`, sqldb.FormatTime(before)).Scan(&last, &pruned)
		if err != nil || last == 0 {
			return err
		}
		t, err := loadTopics(ctx, tx)
		if err == nil {
			kept, err = t.sequences(ctx, tx)
		}
		return err
	})
	if err == nil && last > pruned { // before the first gap
		err = sqldb.WriteOnce(ctx, s.db.Retried(),
			`UPDATE catalogue SET pruned_sequence = $1 WHERE pruned_sequence < $1`, last)
	}
	if err != nil {
		return err
	}
	slices.Sort(kept)
	// Events that stay are read once: each batch begins where the one before ended.
	var from int64
	return sqldb.InBatches(ctx, s.db, pruneStep, func(tx *sql.Tx) (int64, error) {
		old, err := sqldb.Rows(ctx, tx, `
			SELECT e.sequence FROM events e WHERE e.sequence > $1 AND e.sequence <= $2
				AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.sequence = e.sequence AND d.origin <> 'event')
			ORDER BY e.sequence LIMIT $3`, func(scan sqldb.Scanner, n *int64) error { return scan(n) }, from, last, pruneStep)
		if err != nil || len(old) == 0 {
			return 0, err
		}
		from = old[len(old)-1]
		read := int64(len(old))
		old = slices.DeleteFunc(old, func(n int64) bool { _, isKept := slices.BinarySearch(kept, n); return isKept })
		if len(old) == 0 {
			return read, nil
		}
		args, list := sqldb.InAfter(nil, old)
		_, err = tx.ExecContext(ctx, `
			DELETE FROM events WHERE sequence IN `+list+`
				AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.sequence = events.sequence AND d.origin <> 'event')`, args...)
		return read, err
	})
}
