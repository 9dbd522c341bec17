package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/record"
)

var changeColumns = []column[record.Change]{
	{"kind", func(c *record.Change) any { return (*string)(&c.Kind) }},
	{"slug", func(c *record.Change) any { return &c.Slug }},
	{"position", func(c *record.Change) any { return &c.Position }},
	{"version", func(c *record.Change) any { return &c.Version }},
	{"at", func(c *record.Change) any { return &c.At }},
	{"deleted", func(c *record.Change) any { return &c.Deleted }},
	{"renamed_to", func(c *record.Change) any { return &c.RenamedTo }},
	{"hash", func(c *record.Change) any { return &c.Hash }},
	{"size", func(c *record.Change) any { return &c.Size }},
	{"images", func(c *record.Change) any { return &c.Images }},
	{"first_position", func(c *record.Change) any { return &c.FirstPosition }},
	{"first_at", func(c *record.Change) any { return &c.FirstAt }},
}

// knownColumns are what the next publication must know of the changes before it.
var knownColumns = only(changeColumns, "kind", "slug", "deleted", "renamed_to", "hash", "images", "first_position", "first_at")

// loadFeed reads the feed of the published catalogue, with some columns of its changes.
func loadFeed(ctx context.Context, tx *sql.Tx, columns []column[record.Change]) (*record.Feed, error) {
	f, err := feedHead(ctx, tx)
	if err != nil {
		return nil, err
	}
	var rows int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM record_changes`).Scan(&rows); err != nil {
		return nil, err
	}
	f.Changes, err = records(ctx, tx, rows, changeTable, columns)
	slices.SortFunc(f.Changes, func(a, b record.Change) int { return cmp.Compare(a.Position, b.Position) })
	return f, err
}

// feedHead reads the feed without its changes.
func feedHead(ctx context.Context, tx *sql.Tx) (*record.Feed, error) {
	f := &record.Feed{}
	err := tx.QueryRowContext(ctx, `SELECT feed, feed_format, feed_position, feed_state FROM catalogue`).Scan(&f.ID, &f.Format, &f.Last, &f.State)
	return f, err
}

// A feedStep adds what a publication changes to the feed. Records are encoded and hashed
// while others are written, which makes a large publication a tenth faster; their changes
// are written in between, as all of them would take much memory. The zero value has none.
type feedStep struct {
	changes chan *record.Change // to be written
	stop    chan struct{}       // closed when no more are needed
	rows    *batch
	written int

	// Set once changes is closed.
	feed *record.Feed // nil if err is set
	err  error
}

// start begins the step, which reads the catalogues of p until changes is closed.
func (f *feedStep) start(ctx context.Context, p *publication, version int64, at string) error {
	old, err := feedHead(ctx, p.tx)
	if err != nil {
		return err
	}
	f.stop = make(chan struct{})
	next := old.Advance(record.Step{
		Old: p.old.Catalog, Next: p.next, Version: version, At: at, Touched: touched(&p.diff),
		Review: func(t *catalog.Tool) (text string, ok bool) {
			select {
			case <-f.stop:
				return "", false
			default:
			}
			text, f.err = p.review(t)
			return text, f.err == nil
		},
	})
	_, err = recordsWhere(ctx, p.tx, 0, changeTable, knownColumns, func(c *record.Change) bool {
		next.Add(c)
		return false
	}, "")
	if err != nil {
		return err
	}
	f.changes, f.rows = make(chan *record.Change, 2*progressEvery), newBatch(p.tx, changeTable, p.dialect.placeholders())
	go func() {
		defer close(f.changes)
		f.feed = next.Finish(func(c *record.Change) bool {
			select {
			case f.changes <- c:
				return true
			case <-f.stop:
				return false
			}
		})
	}()
	return nil
}

// writeReady writes the changes that are ready.
func (f *feedStep) writeReady(ctx context.Context) error {
	for range len(f.changes) {
		if err := f.write(ctx, <-f.changes); err != nil {
			return err
		}
	}
	return nil
}

func (f *feedStep) write(ctx context.Context, c *record.Change) error {
	f.written++
	return f.rows.add(ctx, rowOf(changeColumns, c)...)
}

// finish writes the other changes, and the feed.
func (f *feedStep) finish(ctx context.Context, p *publication) error {
	p.progress("feed", f.written, 0)
	for c := range f.changes {
		if err := f.write(ctx, c); err != nil {
			return err
		}
		if f.written%progressEvery == 0 {
			p.progress("feed", f.written, 0)
		}
	}
	if f.err != nil {
		return f.err
	}
	if err := f.rows.flush(ctx); err != nil {
		return err
	}
	p.progress("feed", f.written, f.written)
	return storeFeed(ctx, p.tx, f.feed)
}

// end stops what is still under way, and waits until the catalogues are no longer read.
func (f *feedStep) end() {
	close(f.stop)
	for range f.changes {
	}
}

// storeFeed stores a feed without its changes.
func storeFeed(ctx context.Context, tx *sql.Tx, feed *record.Feed) error {
	_, err := tx.ExecContext(ctx, `UPDATE catalogue SET feed = $1, feed_format = $2, feed_position = $3, feed_state = $4`,
		feed.ID, feed.Format, feed.Last, feed.State)
	return err
}

// touched returns a function that reports whether a publication writes a record.
func touched(d *catalog.Diff) func(record.Kind, string) bool {
	return func(kind record.Kind, slug string) bool {
		switch kind {
		case record.Tool:
			return writes(&d.Tools, slug)
		case record.Comparison:
			return writes(&d.Comparisons, slug)
		case record.Retired:
			return writes(&d.Retired, slug)
		case record.Page:
			return writes(&d.Pages, slug)
		}
		return d.Metadata
	}
}

// writes reports whether a record is added or changed. Both are in the order of the
// catalogue, which is sorted.
func writes(r *catalog.RecordChanges, slug string) bool {
	_, added := slices.BinarySearch(r.Added, slug)
	_, changed := slices.BinarySearch(r.Changed, slug)
	return added || changed
}

// RenewFeed gives the feed another id, which it returns: positions in a database that was
// restored from a backup mean something else than they did before.
func (s *Catalogue) RenewFeed(ctx context.Context) (id string, err error) {
	id = rand.Text()
	return id, s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE catalogue SET feed = $1`, id)
		return err
	})
}

// writeFirstFeed gives a new database a feed without changes.
func writeFirstFeed(ctx context.Context, tx *sql.Tx) error {
	return storeFeed(ctx, tx, &record.Feed{ID: rand.Text(), Format: record.Format, State: record.State(nil)})
}
