package catalogdb

import (
	"context"
	"database/sql"
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
// deleted. Those whose sequence the query needed selects are kept, outside the log. The sequence
// continues as if nothing had been removed, and publications stay on record. What is left after an
// error, the next call deletes.
func (s *Events) Prune(ctx context.Context, before time.Time, needed string) error {
	last, _, err := EventsSince(ctx, s.db.Reads(), before.Add(-eventsLinger))
	if err == nil { // before the first gap
		err = sqldb.WriteOnce(ctx, s.db.Retried(),
			`UPDATE catalogue SET pruned_sequence = $1 WHERE pruned_sequence < $1`, last)
	}
	if err != nil {
		return s.db.Explain(ctx, err)
	}
	return sqldb.InBatches(ctx, s.db, pruneStep, func(tx *sql.Tx) (int64, error) {
		return sqldb.ExecRows(ctx, tx, `DELETE FROM events WHERE sequence IN (SELECT e.sequence FROM events e WHERE e.sequence <= $1
			AND NOT EXISTS (SELECT 1 FROM (`+needed+`) AS n WHERE n.sequence = e.sequence)
			ORDER BY e.sequence LIMIT $2)`, last, pruneStep)
	})
}
