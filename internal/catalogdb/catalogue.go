package catalogdb

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
	"palmares/internal/record"
	"palmares/internal/sqldb"
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
	Stage string // "load", "compare", "records", "picture files", "events", "deliveries"
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
type Catalogue struct {
	db      *sqldb.DB
	deliver Deliver
}

// Deliver writes the deliveries of the events of a publication, those after a sequence up to
// last, in the transaction of the publication.
type Deliver func(
	ctx context.Context, tx *sql.Tx, after, last int64, now time.Time, progress func(done, total int),
) error

// A RemovalsError stops a publication in which active tools disappear without
// having been retired or renamed.
type RemovalsError struct {
	Slugs []string
}

func (e *RemovalsError) Error() string {
	const most = 10
	shown, more := e.Slugs, ""
	if len(shown) > most {
		more = fmt.Sprintf(" and %d more", len(shown)-most)
		shown = shown[:most]
	}
	if len(e.Slugs) == 1 {
		return "1 published tool is missing: " + e.Slugs[0]
	}
	return fmt.Sprintf("%d published tools are missing: %s%s", len(e.Slugs), strings.Join(shown, ", "), more)
}

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
		progress := func(done, total int) { p.progress("deliveries", done, total) }
		if err := s.deliver(ctx, p.tx, p.old.sequence, done.Sequence, p.now, progress); err != nil {
			return err
		}
		return s.db.Notify(ctx, p.tx)
	})
	if err != nil {
		return Publication{}, err
	}
	return done, nil
}

// publish runs fn as one publication.
func (s *Catalogue) publish(
	ctx context.Context, next *catalog.Catalog, opts PublishOptions, fn func(*publication) error,
) error {
	run := s.db.WriteLarge
	if opts.DryRun {
		run = s.db.Read // neither waits for a publication nor blocks one
	}
	err := run(ctx, func(tx *sql.Tx) error {
		if !opts.DryRun {
			// Locks the row until the end of the transaction: one publication at a time,
			// while keys and accounts go on (SQLite has one writer at a time anyway).
			if _, err := tx.ExecContext(ctx, `UPDATE catalogue SET version = version`); err != nil {
				return err
			}
		}
		return fn(&publication{tx: tx, db: s.db, next: next, opts: opts, now: opts.Now()})
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
	tx *sql.Tx
	db *sqldb.DB

	opts    PublishOptions
	now     time.Time
	head    Head
	refused error // of the guard, if something would change
	old     *Published
	next    *catalog.Catalog
	diff    catalog.Diff

	feed   *record.Step         // to the next version
	stored map[rowKey]storedRow // but for public ones without anything private
}

// begin finds out what would be replaced, and whether it may be.
func (p *publication) begin(ctx context.Context) (err error) {
	if err := p.checkMirror(ctx); err != nil {
		return err
	}
	p.head, err = head(ctx, p.tx)
	if err != nil {
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
	if err := p.load(ctx); err != nil {
		return err
	}
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
	at := sqldb.FormatTime(p.now)
	feed, err := p.writeRecords(ctx, done.Version)
	if err != nil {
		return err
	}
	if err := p.writePictureFiles(ctx, done.Version); err != nil {
		return err
	}
	if err := p.recordCopy(ctx, feed.State); err != nil {
		return err
	}
	counts := p.diff.Changes[len(p.diff.Changes)-1].Object // of catalog.updated
	from := p.opts.Source
	_, err = p.tx.ExecContext(ctx, `
		INSERT INTO publications (version, published_at, first_sequence, last_sequence, changes,
			revision, author, token, clean, records)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		done.Version, at, p.old.sequence+1, done.Sequence, string(wire.AppendJSON(nil, counts)),
		from.Revision, from.Author, from.Token, from.Clean, recordsOf(&p.diff))
	if err != nil {
		return err
	}
	if err := p.writeEvents(ctx, done.Version, at); err != nil {
		return err
	}
	if err := storeFeed(ctx, p.tx, feed); err != nil {
		return err
	}
	_, err = p.tx.ExecContext(ctx, `
		UPDATE catalogue SET url = $1, version = $2, sequence = $3, published_at = $4, changed_on = $5`,
		p.next.URL, done.Version, done.Sequence, at, p.day())
	return err
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

// writeRows writes n rows to a table and reports the progress.
func (p *publication) writeRows(ctx context.Context, stage string, t sqldb.Table, n int, row func(i int) []any) error {
	b := sqldb.NewBatch(p.tx, t, p.db.Placeholders())
	for i := range n {
		if i%progressEvery == 0 {
			p.progress(stage, i, n)
		}
		if err := b.Add(ctx, row(i)...); err != nil {
			return err
		}
	}
	if err := b.Flush(ctx); err != nil {
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
