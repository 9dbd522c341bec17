package catalogdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/sqldb"
	"palmares/internal/wire"
)

// An Advance is what Catalogue.Advance did.
type Advance struct {
	Versions []Publication       // that made themselves, oldest first
	Stuck    []catalog.Scheduled // what was due and could not be published, which nobody was told before
}

// Advance makes the versions that are due, one for each hour, oldest first. Any number of nodes may
// call it at once: each hour is settled by one of them, in one transaction.
func (s *Catalogue) Advance(ctx context.Context, now func() time.Time) (done Advance, err error) {
	for {
		at, err := s.due(ctx, s.db.Reads(), now, 0)
		if err != nil || at.IsZero() {
			return done, s.db.Explain(ctx, err)
		}
		version, stuck, err := s.advance(ctx, now)
		if err != nil {
			return done, err
		}
		done.Stuck = append(done.Stuck, stuck...)
		if version.Version > 0 {
			done.Versions = append(done.Versions, version)
		}
	}
}

// A prepared is what was read before an hour, as reading it is most of the work.
type prepared struct {
	at    time.Time // the hour
	tools map[content]*catalog.Tool
}

// A content is what a row of a tool has.
type content struct {
	hash    string // of the document
	private string
}

// prepareBefore is how long before an hour it is prepared.
const prepareBefore = 30 * time.Second

// Prepare reads the tools if an hour is near, so that Advance need not decode those that are the same
// then, and forgets them after it.
func (s *Catalogue) Prepare(ctx context.Context, now func() time.Time) error {
	at, err := s.due(ctx, s.db.Reads(), now, prepareBefore)
	if err != nil || at.IsZero() {
		s.prepared.Store(nil)
		return s.db.Explain(ctx, err)
	}
	if was := s.prepared.Load(); was != nil && was.at.Equal(at) {
		return nil
	}
	next, err := sqldb.Read(ctx, s.db, func(tx *sql.Tx) (*prepared, error) {
		head, err := loadHead(ctx, tx)
		if err != nil {
			return nil, err
		}
		contents := map[string]content{}
		all, err := gather(ctx, tx, gathering{url: head.url, each: func(r *row) {
			contents[r.Slug] = content{r.Hash, r.private}
		}}, `kind = $1 AND public AND NOT deleted`, catalog.ToolKind.Name)
		if err != nil {
			return nil, err
		}
		next := &prepared{at: at, tools: make(map[content]*catalog.Tool, len(all.Tools))}
		for _, t := range all.Tools {
			next.tools[contents[t.Slug]] = t
		}
		return next, nil
	})
	s.prepared.Store(next)
	return err
}

// clock returns the time by which hours are judged: that of the database if nodes share it.
func (s *Catalogue) clock(ctx context.Context, q sqldb.Queryer, now func() time.Time) (time.Time, error) {
	if !s.db.Shared() {
		return now(), nil
	}
	return sqldb.Value[time.Time](ctx, q, `SELECT clock_timestamp()`)
}

// due returns the hour that has come, or comes within a duration, and is not settled; zero for none.
func (s *Catalogue) due(
	ctx context.Context, q sqldb.Queryer, now func() time.Time, within time.Duration,
) (at time.Time, err error) {
	text, err := sqldb.Value[string](ctx, q, `SELECT due FROM catalogue`)
	if err != nil || text == "" {
		return at, err
	}
	clock, err := s.clock(ctx, q, now)
	if err != nil || text > catalog.FormatTime(clock.Add(within)) {
		return at, err
	}
	at, err = time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("catalogue.due is damaged: publish again (%w)", err)
	}
	return at, nil
}

// advance settles the next hour that has come, if another node has not.
func (s *Catalogue) advance(
	ctx context.Context, now func() time.Time,
) (done Publication, stuck []catalog.Scheduled, err error) {
	err = s.publish(ctx, nil, PublishOptions{Now: now, AllowRemovals: true}, func(p *publication) error {
		done, stuck = Publication{}, nil
		at, err := s.due(ctx, p.tx, now, 0)
		if err == nil && at.IsZero() {
			return errRollback
		}
		if err != nil {
			return err
		}
		if err := p.loadDue(ctx, at, s.prepared.Load()); err != nil {
			return err
		}
		stuck = p.newlyStuck()
		for i := range stuck {
			if err := s.tellStuck(ctx, p.tx, p.next.Settings.Contact, &stuck[i], p.now); err != nil {
				return err
			}
		}
		p.judge(catalog.Day(at))
		if !p.changes() { // all of it is stuck
			return p.writeScheduled(ctx)
		}
		done, err = s.commit(ctx, p)
		return err
	})
	return done, stuck, err
}

// newlyStuck returns what cannot be published for a reason that was not stored before.
func (p *publication) newlyStuck() (list []catalog.Scheduled) {
	for _, s := range p.next.Scheduled {
		isKnown := func(o catalog.Scheduled) bool {
			return o.Name() == s.Name() && o.Due == s.Due && o.Problem == s.Problem
		}
		if s.Problem != "" && !slices.ContainsFunc(p.old.Catalog.Scheduled, isKnown) {
			list = append(list, s)
		}
	}
	return list
}

// loadDue makes next what the stored catalogue is from an hour on.
func (p *publication) loadDue(ctx context.Context, at time.Time, known *prepared) (err error) {
	p.dueAt = at
	p.head, err = head(ctx, p.tx)
	if err != nil {
		return err
	}
	err = p.tx.QueryRowContext(ctx, `SELECT revision, author, token, clean FROM publications WHERE version = $1`,
		p.head.Version).Scan(&p.opts.Source.Revision, &p.opts.Source.Author, &p.opts.Source.Token, &p.opts.Source.Clean)
	if err != nil {
		return err
	}
	p.old, err = loadHead(ctx, p.tx)
	if err != nil {
		return err
	}
	feed, err := feedHead(ctx, p.tx)
	if err != nil {
		return err
	}
	p.stored = map[rowKey]storedRow{}
	var public []record.Change
	all, err := gather(ctx, p.tx, gathering{url: p.old.url, known: known, each: func(r *row) {
		if r.public {
			public = append(public, r.Change)
		}
		p.knowPrivate(r)
	}}, "")
	if err != nil {
		return err
	}
	stored := &all.Catalog
	if err := loadScheduled(ctx, p.tx, stored); err != nil {
		return err
	}
	p.next = stored.Clone()
	p.next.Advance(at)
	record.SettlePictures(p.next)
	p.feed = feed.Step(p.next, p.old.Version+1, sqldb.FormatTime(p.now))
	for i := range public {
		p.feed.Before(&public[i])
	}
	p.old.Catalog = stored
	return loadGone(ctx, p.tx, stored)
}

func loadScheduled(ctx context.Context, tx *sql.Tx, c *catalog.Catalog) error {
	type row struct {
		kind, slug, due, document, problem string
	}
	rows, err := sqldb.Rows(ctx, tx, `SELECT kind, slug, due, document, problem FROM scheduled`,
		func(scan sqldb.Scanner, r *row) error { return scan(&r.kind, &r.slug, &r.due, &r.document, &r.problem) })
	if err != nil {
		return err
	}
	var decoder record.Decoder
	for _, r := range rows {
		s := catalog.Scheduled{Due: r.due, Problem: r.problem}
		kind := kindNamed(r.kind)
		if kind == pictureKind {
			var p catalog.Picture
			if err := json.Unmarshal([]byte(r.document), &p); err != nil {
				return err
			}
			if c.Held == nil {
				c.Held = map[string]catalog.Picture{}
			}
			c.Held[r.slug] = p
			continue
		}
		if catalog.KindNamed(r.kind) == nil {
			continue // of a later release
		}
		s.Record = kind.New()
		_, err = decoder.Decode(kind, []byte(r.document), s.Record)
		if t, ok := s.Record.(*catalog.Tool); ok {
			c.DropDefaultURLs(t)
		}
		if err != nil {
			return fmt.Errorf("the scheduled record %s is damaged: publish again (%w)", r.slug, err)
		}
		c.Scheduled = append(c.Scheduled, s)
	}
	catalog.SortScheduled(c.Scheduled)
	return nil
}

var scheduledTable = sqldb.Table{Name: "scheduled", Columns: []string{"kind", "slug", "due", "document", "problem"}}

// writeScheduled stores what is scheduled, and when something happens next.
func (p *publication) writeScheduled(ctx context.Context) error {
	if err := sqldb.Exec(ctx, p.tx, `UPDATE catalogue SET due = $1`, p.next.NextDue()); err != nil {
		return err
	}
	if err := sqldb.Exec(ctx, p.tx, `DELETE FROM scheduled`); err != nil {
		return err
	}
	rows := sqldb.NewBatch(p.tx, scheduledTable, p.db.Placeholders())
	for i := range p.next.Scheduled {
		s := &p.next.Scheduled[i]
		r := record.Of(p.next, s.Record)
		if err := rows.Add(ctx, r.Kind.Name, r.Slug, s.Due, string(r.Append(nil, nil)), s.Problem); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.next.Held)) {
		document := string(wire.AppendJSON(nil, p.next.Held[path]))
		if err := rows.Add(ctx, pictureKind.Name, path, "", document, ""); err != nil {
			return err
		}
	}
	return rows.Flush(ctx)
}

// Planned returns what is to come, by hour and name.
func (s *Catalogue) Planned(ctx context.Context) ([]catalog.Planned, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) ([]catalog.Planned, error) {
		all, err := gather(ctx, tx, gathering{}, `NOT deleted AND (kind = $1 OR kind = $2 AND document LIKE '%"announced":%'
			OR kind <> $2 AND document LIKE '%"unpublish_at":%')`, catalog.CatalogueKind.Name, catalog.ToolKind.Name)
		if err != nil {
			return nil, err
		}
		if err := loadScheduled(ctx, tx, &all.Catalog); err != nil {
			return nil, err
		}
		return all.Catalog.Planned(), nil
	})
}

// Stuck returns how many records are not public although their hour has passed.
func (s *Catalogue) Stuck(ctx context.Context) (int64, error) {
	n, err := sqldb.Value[int64](ctx, s.db.Reads(), countStuck)
	return n, s.db.Explain(ctx, err)
}

const countStuck = `SELECT count(*) FROM scheduled WHERE problem <> ''`
