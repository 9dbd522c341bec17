package store

import (
	"context"
	"database/sql"
	"time"
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

// Events is the log of events.
type Events struct{ *db }

// List returns up to limit events after the given sequence, oldest first.
func (s *Events) List(ctx context.Context, after int64, limit int) ([]Event, error) {
	var events []Event
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		events, err = rows(ctx, tx, 0, `SELECT `+eventTable.list()+` FROM events WHERE sequence > $1 ORDER BY sequence LIMIT $2`,
			func(scan scanner, e *Event) error {
				var at, body string
				if err := scan(&e.Sequence, &e.Version, &e.ID, &e.Type, &e.Slug, &at, &body); err != nil {
					return err
				}
				e.Body = []byte(body)
				e.CreatedAt, err = parseTime(at)
				return err
			}, after, limit)
		return err
	})
	return events, err
}

// Oldest returns the sequence of the oldest event that is kept, 0 when there is none.
func (s *Events) Oldest(ctx context.Context) (int64, error) {
	var oldest int64
	err := s.reads.QueryRowContext(ctx, `SELECT coalesce(min(sequence), 0) FROM events`).Scan(&oldest)
	return oldest, s.explain(ctx, err)
}
