package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"palmares/internal/webhook"
)

// pruneDeliveries is how many rows Prune deletes in one transaction, so that claims and
// publications need not wait long.
const pruneDeliveries = 500

// eventsLinger is how much longer an event is kept than a delivery: by then a resend that
// was requested just before has been written, and keeps its event.
const eventsLinger = time.Hour

// Prune deletes deliveries, their attempts and recoveries older than before, whether they
// were delivered or not, then the events. Events that a younger delivery sends again and
// those that feeds are made from are kept, outside the log. The sequence continues as if
// nothing had been removed, and publications stay on record. Old secrets that no longer
// sign at webhook.Keep after before, which is now, are deleted too. What is left after an
// error, the next call deletes.
func (s *Deliveries) Prune(ctx context.Context, before time.Time) error {
	var endpoints []string
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		endpoints, err = rows(ctx, tx, 0, `SELECT id FROM endpoints`, scanText)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range endpoints {
		err := s.inBatches(ctx, pruneDeliveries, func(tx *sql.Tx) (int64, error) {
			if err := s.lockEndpoint(ctx, tx, id); err != nil {
				return 0, err
			}
			old, err := rows(ctx, tx, 0, `SELECT id FROM deliveries WHERE endpoint_id = $1 AND created_at < $2 ORDER BY created_at LIMIT $3`,
				scanText, id, formatTime(before), pruneDeliveries)
			if err != nil || len(old) == 0 {
				return 0, err
			}
			args, list := inAfter(nil, old)
			_, err = tx.ExecContext(ctx, `DELETE FROM deliveries WHERE id IN `+list, args...) // attempts go with them
			return int64(len(old)), err
		})
		if err != nil {
			return err
		}
		err = s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
			if err := s.lockEndpoint(ctx, tx, id); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE endpoints SET old_secret = '', old_secret_until = '' WHERE id = $1 AND old_secret_until <> '' AND old_secret_until <= $2`, id, formatTime(before.Add(webhook.Keep))); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `DELETE FROM recoveries WHERE endpoint_id = $1 AND created_at < $2`, id, formatTime(before))
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.pruneEvents(ctx, before.Add(-eventsLinger))
}

func (s *Deliveries) pruneEvents(ctx context.Context, before time.Time) error {
	// The last event of the publications before the first one that is kept.
	var last, pruned int64
	var kept []int64
	err := s.read(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `
			SELECT coalesce((SELECT min(first_sequence) - 1 FROM publications WHERE published_at >= $1), sequence), pruned_sequence FROM catalogue`, formatTime(before)).Scan(&last, &pruned)
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
		err = s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE catalogue SET pruned_sequence = $1 WHERE pruned_sequence < $1`, last)
			return err
		})
	}
	if err != nil {
		return err
	}
	slices.Sort(kept)
	// Events that stay are read once: each batch begins where the one before ended.
	var from int64
	return s.inBatches(ctx, pruneDeliveries, func(tx *sql.Tx) (int64, error) {
		old, err := rows(ctx, tx, 0, `
			SELECT e.sequence FROM events e WHERE e.sequence > $1 AND e.sequence <= $2
				AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.sequence = e.sequence AND d.origin <> 'event')
			ORDER BY e.sequence LIMIT $3`, func(scan scanner, n *int64) error { return scan(n) }, from, last, pruneDeliveries)
		if err != nil || len(old) == 0 {
			return 0, err
		}
		from = old[len(old)-1]
		read := int64(len(old))
		old = slices.DeleteFunc(old, func(n int64) bool { _, isKept := slices.BinarySearch(kept, n); return isKept })
		if len(old) == 0 {
			return read, nil
		}
		args, list := inAfter(nil, old)
		_, err = tx.ExecContext(ctx, `
			DELETE FROM events WHERE sequence IN `+list+`
				AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.sequence = events.sequence AND d.origin <> 'event')`, args...)
		return read, err
	})
}

// Figures counts endpoints and returns how long the longest due delivery to a healthy
// endpoint has waited. Deliveries that wait because their receiver fails are left out.
func (s *Deliveries) Figures(ctx context.Context, now time.Time) (webhook.Figures, error) {
	f := webhook.Figures{Endpoints: map[webhook.State]int{}}
	err := s.read(ctx, func(tx *sql.Tx) error {
		all, err := rows(ctx, tx, 0, selectEndpoints, scanEndpoint)
		if err != nil {
			return err
		}
		for _, w := range all {
			f.Endpoints[w.State]++
		}
		var oldest string
		err = tx.QueryRowContext(ctx, fmt.Sprintf(`
			SELECT next_at FROM (
				SELECT (SELECT d.next_at FROM deliveries d WHERE d.endpoint_id = w.id AND d.state = 'pending' AND d.next_at <= $1 ORDER BY d.next_at LIMIT 1) AS next_at
				FROM endpoints w JOIN accounts a ON a.id = w.account_id 
				WHERE w.state = 'active' AND a.plan = 'pro' AND w.failures < %d AND w.not_before <= $1) AS longest
			WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`, webhook.BreakAfter), formatTime(now)).Scan(&oldest)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		since, err := parseTime(oldest)
		f.OldestDue = max(now.Sub(since), 0)
		return err
	})
	return f, err
}
