package catalogdb

import (
	"context"
	"database/sql"
	"time"

	"palmares/internal/sqldb"
)

// An Event is one change of the catalogue as webhooks announce it. It is written by the
// publication that made the change and never modified.
type Event struct {
	Sequence  int64 // 1, 2, 3… without a gap, in the order of publication
	Version   int64 // of the publication
	ID        string
	Type      string
	Slug      string // "" for catalog.updated
	CreatedAt time.Time
	Body      []byte // as sent, the same bytes to every endpoint and on every attempt
}

var eventTable = sqldb.Table{
	Name: "events", Columns: []string{"sequence", "version", "id", "type", "slug", "created_at", "body"},
}

// SelectEvents is the table of events in the statements of whoever delivers them.
const SelectEvents = `(SELECT sequence, id, type, created_at, body FROM events)`

// EventsSince returns the sequence of the last event before the publications since a time, and of the last of all.
func EventsSince(ctx context.Context, q sqldb.Queryer, since time.Time) (before, last int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT coalesce((SELECT min(first_sequence) - 1 FROM publications
		WHERE published_at >= $1), sequence), sequence FROM catalogue`, sqldb.FormatTime(since)).Scan(&before, &last)
	return before, last, err
}

// An EventPage is a part of the log: the events that Prune has not removed, without a
// gap.
type EventPage struct {
	Events []Event // oldest first
	More   bool    // there are others after the last of Events
	UpTo   int64   // the sequence to continue after: no event that was asked for is left up to it
	Oldest int64   // sequence of the oldest event of the log, of any type; 0 when there is none
	Last   int64   // sequence of the newest event that ever was, of any type; 0 before the first
}

// List returns up to limit events after the given sequence, of one type unless that is "".
func (s *Events) List(ctx context.Context, after int64, eventType string, limit int) (EventPage, error) {
	page := EventPage{UpTo: after}
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		var pruned, last int64
		err := tx.QueryRowContext(ctx, `SELECT pruned_sequence, sequence, coalesce((SELECT min(sequence)
			FROM events WHERE sequence > pruned_sequence), 0) FROM catalogue`).
			Scan(&pruned, &last, &page.Oldest)
		if err != nil {
			return err
		}
		page.Last = last
		// One more is read to know whether there are more.
		query, args := listEvents, []any{max(after, pruned), limit + 1}
		if eventType != "" {
			query, args = listEventsOfType, append(args, eventType)
		}
		page.Events, err = sqldb.Rows(ctx, tx, query, sqldb.ScanFields[Event], args...)
		if err != nil {
			return err
		}
		page.More = len(page.Events) > limit
		if page.More {
			page.Events = page.Events[:limit]
			last = page.Events[limit-1].Sequence
		}
		page.UpTo = max(after, last)
		return nil
	})
	return page, err
}

// The condition on the type is one that only the index on type and sequence orders. With
// type = $3 PostgreSQL may prefer to read all events by their sequence and to skip those
// of other types.
var (
	listEvents       = `SELECT ` + eventTable.List() + ` FROM events WHERE sequence > $1 ORDER BY sequence LIMIT $2`
	listEventsOfType = `SELECT ` + eventTable.List() +
		` FROM events WHERE (type, sequence) > ($3, $1) AND type <= $3 ORDER BY type, sequence LIMIT $2`
)
