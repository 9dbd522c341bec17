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

// writeFeed adds what the publication changes to the feed, and returns its state.
func (p *publication) writeFeed(ctx context.Context, version int64, at string) (state string, err error) {
	old, err := feedHead(ctx, p.tx)
	if err != nil {
		return "", err
	}
	next := old.Advance(record.Step{Old: p.old.Catalog, Next: p.next, Version: version, At: at, Touched: touched(&p.diff)})
	_, err = recordsWhere(ctx, p.tx, 0, changeTable, knownColumns, func(c *record.Change) bool {
		next.Add(c)
		return false
	}, "")
	if err != nil {
		return "", err
	}
	rows, written := newBatch(p.tx, changeTable, p.dialect.placeholders()), 0
	feed, err := next.Finish(func(c *record.Change) error {
		if written%progressEvery == 0 {
			p.progress("feed", written, 0)
		}
		written++
		return rows.add(ctx, rowOf(changeColumns, c)...)
	})
	if err != nil {
		return "", err
	}
	if err := rows.flush(ctx); err != nil {
		return "", err
	}
	p.progress("feed", written, written)
	return feed.State, storeFeed(ctx, p.tx, feed)
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
