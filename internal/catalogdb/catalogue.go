package catalogdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/record"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
	"palmares/internal/wire"
)

// Publish replaces the catalogue with next in one transaction: changes are written
// together with their events and deliveries, or not at all. When nothing changed, the
// version stays and only its revision is replaced, by that of opts.Source.
//
// next is completed in place (see catalog.CarryOver). Of two publications at once the
// second waits for the first and is compared with it; if that takes too long it returns
// ErrBusy. A RemovalsError lists tools that would be lost. If ctx ends during the commit,
// Publish may return an error for a publication that was committed; publishing again then
// finds nothing to change.
func (s *Catalogue) Publish(ctx context.Context, next *catalog.Catalog, opts PublishOptions) (Publication, error) {
	var done Publication
	err := s.publish(ctx, next, opts, func(p *publication) error {
		if err := p.compare(ctx); err != nil {
			return err
		}
		if !p.changes() {
			done = Publication{Version: p.old.Version, Sequence: p.old.sequence, Diff: p.diff}
			return p.stand(ctx)
		}
		var err error
		done, err = s.commit(ctx, p)
		return err
	})
	if err != nil {
		return Publication{}, err
	}
	return done, nil
}

// commit makes a version of what was compared, unless that is only a dry run.
func (s *Catalogue) commit(ctx context.Context, p *publication) (done Publication, err error) {
	done = Publication{
		Version: p.old.Version + 1, Sequence: p.old.sequence + int64(len(p.diff.Changes)), Diff: p.diff,
	}
	if p.opts.DryRun {
		return done, errRollback
	}
	if err := p.write(ctx, done); err != nil {
		return done, err
	}
	progress := func(done, total int) { p.progress("deliveries", done, total) }
	if err := s.deliver(ctx, p.tx, p.old.sequence, done.Sequence, p.now, progress); err != nil {
		return done, err
	}
	return done, s.db.Notify(ctx, p.tx)
}

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
			if err := sqldb.Exec(ctx, tx, `UPDATE catalogue SET version = version`); err != nil {
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

// begin finds out what would be replaced, and whether it may be.
func (p *publication) begin(ctx context.Context) (err error) {
	p.head, err = head(ctx, p.tx)
	if err != nil {
		return err
	}
	if p.opts.Undo != nil {
		return p.beginUndo(ctx)
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
	if err := p.advance(ctx); err != nil {
		return err
	}
	if err := p.load(ctx); err != nil {
		return err
	}
	p.progress("load", 1, 1)
	p.progress("compare", 0, 1)
	today := catalog.Day(p.now)
	gone := p.judge(today)
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

// advance makes what has come due since the folder was read happen in it: another node may have made
// a version of that meanwhile. It is by the clock of the database that hours come.
func (p *publication) advance(ctx context.Context) error {
	clock, err := (&Catalogue{db: p.db}).clock(ctx, p.tx, func() time.Time { return p.now })
	if err != nil {
		return err
	}
	if p.opts.Undo == nil && p.next.HasAnnounced(clock) {
		stored, err := gather(ctx, p.tx, gathering{}, `NOT deleted AND kind = $1 AND document LIKE '%"price_history":%'`,
			catalog.ToolKind.Name)
		if err != nil {
			return err
		}
		p.next.ForgetAnnounced(&stored.Catalog, clock)
	}
	if p.next.Advance(clock) {
		record.SettlePictures(p.next)
	}
	return nil
}

// judge completes next and computes what it changes. It returns the tools that would be lost.
func (p *publication) judge(today string) (gone []string) {
	if p.opts.Undo == nil {
		catalog.CarryOver(p.old.Catalog, p.next, today)
	}
	gone = catalog.Removals(p.old.Catalog, p.next)
	p.diff = catalog.Compare(p.old.Catalog, p.next, markdown.Sections)
	p.diff.Scheduled = catalog.CompareScheduled(p.old.Catalog.Scheduled, p.next.Scheduled, p.now)
	if !p.diff.Empty() {
		p.diff.Report(p.next)
	}
	return gone
}

// write stores what changed as the version of done.
func (p *publication) write(ctx context.Context, done Publication) error {
	at := sqldb.FormatTime(p.now)
	if err := p.tell(ctx, done.Version); err != nil {
		return err
	}
	feed, err := p.writeRecords(ctx, done.Version)
	if err != nil {
		return err
	}
	if err := p.writeScheduled(ctx); err != nil {
		return err
	}
	if err := p.writePictureFiles(ctx, done.Version); err != nil {
		return err
	}
	last := p.diff.Changes[len(p.diff.Changes)-1] // catalog.updated
	counts := last.Object.(catalog.Counts)
	last.Object = counts.Published(done.Version, feed.Last, feed.State)
	var undone int64
	if p.opts.Undo != nil {
		undone = p.opts.Undo.Version
	}
	due, changedOn := "", catalog.Day(p.now)
	if !p.dueAt.IsZero() { // the version makes itself
		due, changedOn = catalog.FormatTime(p.dueAt), max(p.old.ChangedOn, catalog.Day(p.dueAt))
	}
	from := p.opts.Source
	_, err = p.tx.ExecContext(ctx, `
		INSERT INTO publications (version, published_at, first_sequence, last_sequence, changes,
			revision, author, token, clean, records, due)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		done.Version, at, p.old.sequence+1, done.Sequence, string(wire.AppendJSON(nil, counts)),
		from.Revision, from.Author, from.Token, from.Clean, recordsOf(p.diff, undone, from.Note), due)
	if err != nil {
		return err
	}
	if err := p.writeEvents(ctx, done.Version, at, &last); err != nil {
		return err
	}
	if err := storeFeed(ctx, p.tx, feed); err != nil {
		return err
	}
	return sqldb.Exec(ctx, p.tx, `
		UPDATE catalogue SET url = $1, version = $2, sequence = $3, published_at = $4, changed_on = $5`,
		p.next.URL, done.Version, done.Sequence, at, changedOn)
}

// writeEvents writes the events of all changes; last is the last one, as it is announced.
func (p *publication) writeEvents(ctx context.Context, version int64, at string, last *catalog.Change) error {
	ids := account.NewIDs(account.EventID, p.now, rand.Reader)
	rows, n := sqldb.NewBatch(p.tx, eventTable, p.db.Placeholders()), len(p.diff.Changes)
	for i := range n {
		if i%progressEvery == 0 {
			p.progress("events", i, n)
		}
		c := &p.diff.Changes[i]
		if i == n-1 {
			c = last
		}
		sequence, id := p.old.sequence+1+int64(i), ids.Next()
		body := string(webhook.EventBody(id, p.now, sequence, c))
		if err := rows.Add(ctx, sequence, version, id, c.Type, c.Slug, at, body); err != nil {
			return err
		}
	}
	err := rows.Flush(ctx)
	p.progress("events", n, n)
	return err
}

// stand stores what a folder that changes nothing adds to the version that stands: its
// revision, which later publications must contain, and which price changes its files list.
func (p *publication) stand(ctx context.Context) error {
	if p.opts.Undo != nil {
		return errRollback
	}
	from := p.opts.Source
	h := &p.head
	isKnown := !h.Earlier && h.Revision == from.Revision && h.Author == from.Author && h.Clean == from.Clean
	isRecorded := from.Revision != "" && !isKnown && !errors.Is(p.refused, ErrRevisionStays)
	isListed := len(p.diff.Listed) > 0 && p.refused == nil
	if p.opts.DryRun || !isRecorded && !isListed {
		return errRollback
	}
	if isRecorded {
		_, err := p.tx.ExecContext(ctx, `UPDATE publications SET revision = $1, author = $2, clean = $3 WHERE version = $4`,
			from.Revision, from.Author, from.Clean, p.head.Version)
		if err != nil {
			return err
		}
	}
	if !isListed {
		return nil
	}
	for _, slug := range p.diff.Listed {
		rest := privateOf(p.next, p.next.Tool(slug))
		_, err := p.tx.ExecContext(ctx, `UPDATE records SET private = $1 WHERE kind = $2 AND slug = $3 AND public`,
			rest.text(), catalog.ToolKind.Name, slug)
		if err != nil {
			return err
		}
	}
	return nil
}
