package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"palmares/internal/catalog"
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

// afterPruned selects the events of the log: after those that Prune removed, without a
// gap. Older ones are kept for feeds only.
const afterPruned = `sequence > (SELECT pruned_sequence FROM catalogue)`

// List returns up to limit events after the given sequence, oldest first.
func (s *Events) List(ctx context.Context, after int64, limit int) ([]Event, error) {
	var events []Event
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		events, err = rows(ctx, tx, 0, `SELECT `+eventTable.list()+` FROM events WHERE sequence > $1 AND `+afterPruned+` ORDER BY sequence LIMIT $2`, scanEvent, after, limit)
		return err
	})
	return events, err
}

// maxScan is how many events ListType examines.
const maxScan = 1000

// ListType returns up to limit events of one type among the next maxScan after the given
// sequence, oldest first. It reads the bodies of those only. upTo is the sequence of the
// last event that was examined, and more reports whether there are others after it.
func (s *Events) ListType(ctx context.Context, after int64, eventType string, limit int) (events []Event, upTo int64, more bool, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		const scanned = `(SELECT sequence, type FROM events WHERE sequence > $1 AND ` + afterPruned + ` ORDER BY sequence LIMIT $2)`
		var examined int
		err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(max(sequence), $1) FROM `+scanned+` AS s`, after, maxScan).Scan(&examined, &upTo)
		if err != nil {
			return err
		}
		more = examined == maxScan
		events, err = rows(ctx, tx, 0, `SELECT `+eventTable.list()+` FROM events WHERE sequence IN (
			SELECT sequence FROM `+scanned+` AS s WHERE type = $3 ORDER BY sequence LIMIT $4) ORDER BY sequence`, scanEvent, after, maxScan, eventType, limit)
		if len(events) == limit {
			last := events[limit-1].Sequence
			more, upTo = more || last < upTo, last
		}
		return err
	})
	return events, upTo, more, err
}

func scanEvent(scan scanner, e *Event) error {
	var at, body string
	err := scan(&e.Sequence, &e.Version, &e.ID, &e.Type, &e.Slug, &at, &body)
	if err != nil {
		return err
	}
	e.Body = []byte(body)
	e.CreatedAt, err = parseTime(at)
	return err
}

// scanChange reads an event with what it announces.
func scanChange(scan scanner, e *catalog.Event) error {
	var at, body string
	err := scan(&e.ID, &e.Type, &e.Slug, &at, &body)
	if err != nil {
		return err
	}
	if e.At, err = parseTime(at); err != nil {
		return err
	}
	var sent struct {
		Data struct {
			Changed          []string
			Previous, Object map[string]any
		}
	}
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		return err
	}
	e.Changed, e.Previous, e.Object = sent.Data.Changed, sent.Data.Previous, sent.Data.Object
	return nil
}

// Oldest returns the sequence of the oldest event of the log, 0 when there is none.
func (s *Events) Oldest(ctx context.Context) (int64, error) {
	var oldest int64
	err := s.reads.QueryRowContext(ctx, `SELECT coalesce(min(sequence), 0) FROM events WHERE `+afterPruned).Scan(&oldest)
	return oldest, s.explain(ctx, err)
}
