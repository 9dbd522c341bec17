package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/webhook"
	"palmares/internal/wire"
)

// PublishOptions say how to publish. The zero value refuses removals.
type PublishOptions struct {
	// Now is called once no other publication is in the way, and gives the time of this
	// one: versions are in the order of their times. It must be set.
	Now           func() time.Time
	AllowRemovals bool           // tools may disappear without an entry in cimetiere/
	DryRun        bool           // only find out what would change
	Pictures      PictureSource  // of the new pictures; may be nil if there are none
	Source        Source         // recorded with the version
	Progress      func(Progress) // called from time to time, by the goroutine of Publish; may be nil
	// Guard is called with what would be replaced; no other publication comes in between.
	// Its error ends a publication that would change something. It may be nil.
	Guard func(Head) error
	// Check is called before anything is written, with the published catalogue, what
	// would change and the day of the publication. Its error ends the publication. It may
	// be nil.
	Check func(old *catalog.Catalog, diff *catalog.Diff, today string) error
	// Mirror makes the publication a copy of an origin; nil for one of this database's own.
	Mirror *MirrorCopy
}

// Progress is how far a publication is.
type Progress struct {
	Stage string // "load", "compare", "tools", "comparisons", "retired", "pages", "prices", "scores", "pictures", "picture files", "feed", "events", "deliveries"
	Done  int
	Total int // 0 while it is not known
}

// A Publication is what Publish did, or with DryRun would have done.
type Publication struct {
	Version  int64 // that is published now
	Sequence int64 // of its last event
	Diff     catalog.Diff
}

// Catalogue is the published catalogue. Only Publish changes it.
type Catalogue struct{ *db }

// Publish replaces the catalogue with next in one transaction: changes are written
// together with their events and deliveries, or not at all. When nothing changed, the
// version stays and only its revision is replaced, by that of opts.Source.
//
// next is completed in place (see catalog.CarryOver). Of two publications at once the
// second waits for the first and is compared with it; if that takes too long it returns
// ErrBusy. A RemovalsError lists tools that would be lost. If ctx ends during the commit,
// Publish may return an error for a publication that was committed; publishing again then
// finds nothing to change. ErrMirror: the database is a mirror, and opts.Mirror is nil.
func (s *Catalogue) Publish(ctx context.Context, next *catalog.Catalog, opts PublishOptions) (Publication, error) {
	var done Publication
	err := s.publish(ctx, next, opts, func(p *publication) error {
		if err := p.compare(ctx); err != nil {
			return err
		}
		done = Publication{Version: p.old.Version, Sequence: p.old.sequence, Diff: p.diff}
		if !p.changes() {
			return p.stand(ctx)
		}
		done.Version++
		done.Sequence += int64(len(p.diff.Changes))
		if opts.DryRun {
			return errRollback
		}
		if err := p.write(ctx, done); err != nil {
			return err
		}
		if err := p.writeDeliveries(ctx, done.Sequence); err != nil {
			return err
		}
		return s.dialect.notify(ctx, p.tx)
	})
	if err != nil {
		return Publication{}, err
	}
	return done, nil
}

// publish runs fn as one publication.
func (s *Catalogue) publish(ctx context.Context, next *catalog.Catalog, opts PublishOptions, fn func(*publication) error) error {
	run := s.writeLarge
	if opts.DryRun {
		run = s.read // neither waits for a publication nor blocks one
	}
	err := run(ctx, func(tx *sql.Tx) error {
		if !opts.DryRun {
			// Locks the row until the end of the transaction: one publication at a time,
			// while keys and accounts go on (SQLite has one writer at a time anyway).
			if _, err := tx.ExecContext(ctx, `UPDATE catalogue SET version = version`); err != nil {
				return err
			}
		}
		return fn(&publication{tx: tx, dialect: s.dialect, next: next, opts: opts, now: opts.Now()})
	})
	if errors.Is(err, errRollback) {
		return nil
	}
	return err
}

// errRollback ends a transaction that has nothing to commit.
var errRollback = errors.New("nothing to commit")

// publication is one run of Publish inside its transaction.
type publication struct {
	tx      *sql.Tx
	dialect dialect

	opts    PublishOptions
	now     time.Time
	head    Head
	refused error // of the guard, if something would change
	old     *Published
	next    *catalog.Catalog
	diff    catalog.Diff

	unchanged *catalog.Unchanged // tools, which old does not have
}

// begin finds out what would be replaced, and whether it may be.
func (p *publication) begin(ctx context.Context) (err error) {
	if err := p.checkMirror(ctx); err != nil {
		return err
	}
	if p.head, err = head(ctx, p.tx); err != nil {
		return err
	}
	if p.opts.Guard != nil {
		p.refused = p.opts.Guard(p.head)
	}
	return nil
}

// compare computes what next changes, and refuses what must not change.
func (p *publication) compare(ctx context.Context) (err error) {
	if err := p.begin(ctx); err != nil {
		return err
	}
	p.progress("load", 0, 1)
	p.next.Sort()
	p.unchanged = catalog.NewUnchanged(p.next)
	if p.old, err = load(ctx, p.tx, p.differs); err != nil {
		return err
	}
	p.old.Catalog.Unchanged = p.unchanged
	p.progress("load", 1, 1)
	p.progress("compare", 0, 1)
	today := catalog.Day(p.now)
	p.complete(today)
	gone := catalog.Removals(p.old.Catalog, p.next)
	p.diff = catalog.Compare(p.old.Catalog, p.next, markdown.Sections)
	if p.changesDate() {
		p.diff.Report(p.next)
	}
	switch {
	case p.refused != nil && p.changes():
		return p.refused
	case len(gone) > 0 && !p.opts.AllowRemovals:
		return &RemovalsError{Slugs: gone}
	}
	p.progress("compare", 1, 1)
	if p.opts.Check != nil {
		return p.opts.Check(p.old.Catalog, &p.diff, today)
	}
	return nil
}

// changes reports whether there will be a new version.
func (p *publication) changes() bool { return len(p.diff.Changes) > 0 }

// day returns the day of the catalogue's last update.
func (p *publication) day() string {
	if p.opts.Mirror != nil {
		return p.opts.Mirror.Origin.UpdatedAt
	}
	return catalog.Day(p.now)
}

// write stores what changed as the version of done.
func (p *publication) write(ctx context.Context, done Publication) error {
	at := formatTime(p.now)
	for _, step := range []func(context.Context) error{
		p.writeSettings, p.writeCategories, p.writeTools, p.writeComparisons, p.writeRetired, p.writePages,
		func(ctx context.Context) error { return priceHistory.write(ctx, p) },
		func(ctx context.Context) error { return scoreHistory.write(ctx, p) },
		p.writePast,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := p.writePictures(ctx, done.Version); err != nil {
		return err
	}
	counts := p.diff.Changes[len(p.diff.Changes)-1].Object // of catalog.updated
	state, err := p.writeFeed(ctx, done.Version, at)
	if err != nil {
		return err
	}
	if err := p.recordCopy(ctx, state); err != nil {
		return err
	}
	from := p.opts.Source
	_, err = p.tx.ExecContext(ctx, `
		INSERT INTO publications (version, published_at, first_sequence, last_sequence, changes, revision, author, token, clean, records)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		done.Version, at, p.old.sequence+1, done.Sequence, string(wire.AppendJSON(nil, counts)),
		from.Revision, from.Author, from.Token, from.Clean, recordsOf(&p.diff))
	if err != nil {
		return err
	}
	if err := p.writeEvents(ctx, done.Version, at); err != nil {
		return err
	}
	if err := p.writeVersionChanges(ctx, done.Version); err != nil {
		return err
	}
	_, err = p.tx.ExecContext(ctx, `UPDATE catalogue SET name = $1, url = $2, version = $3, sequence = $4, published_at = $5, changed_on = $6`,
		p.next.Name, p.next.URL, done.Version, done.Sequence, at, p.day())
	return err
}

func (p *publication) writeSettings(ctx context.Context) error {
	if !p.diff.Metadata {
		return nil
	}
	assignments := make([]string, len(settingColumns))
	for i, c := range settingColumns {
		assignments[i] = fmt.Sprintf("%s = $%d", c.name, i+1)
	}
	_, err := p.tx.ExecContext(ctx, "UPDATE catalogue SET "+strings.Join(assignments, ", "), rowOf(settingColumns, &p.next.Settings)...)
	return err
}

// writeCategories replaces all of them: they are few.
func (p *publication) writeCategories(ctx context.Context) error {
	if !p.diff.Metadata {
		return nil
	}
	if _, err := p.tx.ExecContext(ctx, `DELETE FROM categories`); err != nil {
		return err
	}
	return writeRecords(ctx, p, "categories", categoryTable, categoryColumns, pointers(p.next.Categories))
}

func (p *publication) writeTools(ctx context.Context) error {
	if err := p.remove(ctx, toolTable, p.diff.Tools.Removed); err != nil {
		return err
	}
	all := written(p.next.Tools, p.diff.Tools, func(x *catalog.Tool) string { return x.Slug })
	return writeRecords(ctx, p, "tools", toolTable, toolColumns, all)
}

func (p *publication) writeComparisons(ctx context.Context) error {
	if err := p.remove(ctx, comparisonTable, p.diff.Comparisons.Removed); err != nil {
		return err
	}
	all := written(pointers(p.next.Comparisons), p.diff.Comparisons, func(x *catalog.Comparison) string { return x.Slug })
	return writeRecords(ctx, p, "comparisons", comparisonTable, comparisonColumns, all)
}

func (p *publication) writeRetired(ctx context.Context) error {
	if err := p.remove(ctx, retiredTable, p.diff.Retired.Removed); err != nil {
		return err
	}
	all := written(pointers(p.next.Retired), p.diff.Retired, func(x *catalog.Retired) string { return x.Slug })
	return writeRecords(ctx, p, "retired", retiredTable, retiredColumns, all)
}

// writeRecords writes records to a table and reports the progress.
func writeRecords[T any](ctx context.Context, p *publication, stage string, t table, columns []column[T], all []*T) error {
	return p.writeRows(ctx, stage, t, len(all), func(i int) []any { return rowOf(columns, all[i]) })
}

func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// written returns the records that were added or changed.
func written[T any](all []*T, r catalog.RecordChanges, slug func(*T) string) []*T {
	list := make([]*T, 0, len(r.Added)+len(r.Changed))
	for i := range all {
		if writes(&r, slug(all[i])) {
			list = append(list, all[i])
		}
	}
	return list
}

func (p *publication) writePages(ctx context.Context) error {
	if err := p.remove(ctx, pageTable, p.diff.Pages.Removed); err != nil {
		return err
	}
	all := written(pointers(p.next.Pages), p.diff.Pages, func(x *catalog.Page) string { return x.Slug })
	return writeRecords(ctx, p, "pages", pageTable, pageColumns, all)
}

func (p *publication) writeEvents(ctx context.Context, version int64, at string) error {
	ids := account.NewIDs(account.EventID, p.now, rand.Reader)
	return p.writeRows(ctx, "events", eventTable, len(p.diff.Changes), func(i int) []any {
		c := &p.diff.Changes[i]
		sequence := p.old.sequence + 1 + int64(i)
		id := ids.Next()
		return []any{sequence, version, id, c.Type, c.Slug, at, string(webhook.EventBody(id, p.now, sequence, c))}
	})
}

// progressEvery is how many records are written in about a tenth of a second.
const progressEvery = 1000

// writeRows writes n rows to a table and reports the progress.
func (p *publication) writeRows(ctx context.Context, stage string, t table, n int, row func(i int) []any) error {
	b := newBatch(p.tx, t, p.dialect.placeholders())
	for i := range n {
		if i%progressEvery == 0 {
			p.progress(stage, i, n)
		}
		if err := b.add(ctx, row(i)...); err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	p.progress(stage, n, n)
	return nil
}

func (p *publication) progress(stage string, done, total int) {
	if p.opts.Progress != nil {
		p.opts.Progress(Progress{Stage: stage, Done: done, Total: total})
	}
}
