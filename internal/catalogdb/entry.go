package catalogdb

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

var entryTable = sqldb.Table{Name: "entries", Columns: []string{
	"id", "position", "kind", "slug", "first_slug", "name", "what", "field", "old_value", "new_value", "note", "day", "at", "topics",
	"withdrawn", "version",
}}

// entriesWhere returns the states of entries that a condition and an order name.
func entriesWhere(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]catalog.Entry, error) {
	return sqldb.Rows(ctx, tx, `SELECT `+entryTable.List()+` FROM entries `+where, func(scan sqldb.Scanner, e *catalog.Entry) error {
		var id, topics string
		err := scan(&id, &e.Position, &e.Kind, &e.Slug, &e.First, &e.Name, &e.What, &e.Field, &e.Old, &e.New, &e.Note, &e.Day, &e.At,
			&topics, &e.Withdrawn, &e.Version)
		e.Topics = strings.Fields(topics)
		return err
	}, args...)
}

// latestEntries returns the last states of the entries of the chronicle, the latest first.
func latestEntries(ctx context.Context, tx *sql.Tx) ([]catalog.Entry, error) {
	return entriesWhere(ctx, tx, `ORDER BY position DESC, day DESC, id LIMIT $1`, catalog.KeptEntries)
}

// loadGone reads the oldest slugs of what was removed.
func loadGone(ctx context.Context, tx *sql.Tx, c *catalog.Catalog) error {
	c.Gone = map[*catalog.Kind]map[string]string{}
	_, err := sqldb.Rows(ctx, tx, `SELECT kind, slug, first_slug FROM entries WHERE what = 'removed' ORDER BY position`,
		func(scan sqldb.Scanner, _ *struct{}) error {
			var kind *catalog.Kind
			var slug, first string
			err := scan(kindColumn{&kind}, &slug, &first)
			if c.Gone[kind] == nil {
				c.Gone[kind] = map[string]string{}
			}
			c.Gone[kind][slug] = first
			return err
		})
	return err
}

// morning returns the catalogue before the first version of the day, and the slugs, by kind, of the records that changed
// since. The day of the first version of all begins after it.
func (p *publication) morning(ctx context.Context, version int64) (*catalog.Catalog, map[*catalog.Kind][]string, error) {
	first, err := sqldb.Value[int64](ctx, p.tx, `SELECT COALESCE(min(version), $1) FROM publications WHERE published_at >= $2`,
		version, catalog.Day(p.now))
	if err != nil {
		return nil, nil, err
	}
	p.first = max(2, first)
	all := touchedRows{rows: map[rowKey]*touched{}, kin: groups{}}
	if err := all.read(ctx, p.tx, p.first); err != nil {
		return nil, nil, err
	}
	former, err := all.former(p.old.Catalog, p.old.url)
	if err != nil {
		return nil, nil, err
	}
	morning, _ := former.replace()
	morning.Gone = p.old.Catalog.Gone
	changed := map[*catalog.Kind][]string{}
	for key := range all.rows {
		if key.kind == pastKind {
			key.kind = catalog.ToolKind
		}
		changed[key.kind] = append(changed[key.kind], key.slug)
	}
	for _, k := range catalog.WrittenKinds {
		r := p.diff.Of(k)
		changed[k] = slices.Concat(changed[k], r.Added, r.Changed, r.Removed)
	}
	return morning, changed, nil
}

// An entryPage is the part of the chronicle that a version may change.
type entryPage struct {
	*publication
	version      int64
	before, last map[string]*catalog.Entry // states of entries by id, in the morning and now
	position     int64
	at           string
	rows         []catalog.Entry // to be written
}

// tell compares the day with its morning and writes what happened, before the records are written.
func (p *publication) tell(ctx context.Context, version int64) (err error) {
	w := entryPage{
		publication: p, version: version, at: catalog.FormatTime(p.now),
		before: map[string]*catalog.Entry{}, last: map[string]*catalog.Entry{},
	}
	if version == 1 {
		for _, e := range p.next.PastEntries() {
			if w.last[e.ID()] == nil {
				w.last[e.ID()] = &e
				w.rows = append(w.rows, e)
			}
		}
		return w.write(ctx)
	}
	morning, changed, err := p.morning(ctx, version)
	if err != nil {
		return err
	}
	w.position, err = LastEntry(ctx, p.tx)
	if err != nil {
		return err
	}
	told, today := catalog.Told(morning, p.next, changed, w.at), catalog.Day(p.now)
	ofDay, err := w.read(ctx, told, today)
	if err != nil {
		return err
	}
	w.merge(told, ofDay, today)
	return w.write(ctx)
}

// read reads the states of entries, and returns the ids of those that versions of the day have changed, by position.
func (w *entryPage) read(ctx context.Context, told []catalog.Entry, today string) (ofDay []string, err error) {
	rows, err := entriesWhere(ctx, w.tx, `WHERE version >= $1 ORDER BY position`, w.first)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		ofDay = append(ofDay, rows[i].ID())
	}
	ids := slices.Clone(ofDay)
	for _, e := range told {
		ids = append(ids, e.ID())
		e.Day = today
		ids = append(ids, e.ID())
	}
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), 500) {
		args, list := sqldb.InAfter(nil, some)
		rows, err := entriesWhere(ctx, w.tx, `WHERE id IN `+list+` ORDER BY position`, args...)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			id := rows[i].ID()
			w.last[id] = &rows[i]
			if rows[i].Version < w.first {
				w.before[id] = w.last[id]
			}
		}
	}
	return ofDay, nil
}

// merge adds the states that differ from the last ones: of entries of the day that do not follow any more, which are again
// as they were in the morning, and of those that follow. What an earlier day told stays: what happens again is of today, and
// goes on from what was told of today. What happened to a tool before it left stays, too.
func (w *entryPage) merge(told []catalog.Entry, ofDay []string, today string) {
	var follow []catalog.Entry
	isKnown, hasLeft := map[string]bool{}, map[string]bool{} // by id, and by kind and oldest slug
	for _, e := range told {
		if e.At != "" {
			if w.isTold(&e) {
				e.Day = today
			}
			if w.isTold(&e) {
				e.Old = w.before[e.ID()].Old
				e.Withdrawn = e.Old == e.New && e.What != catalog.WhatNew
			}
		}
		if e.What == catalog.WhatRetired || e.What == catalog.WhatRemoved {
			hasLeft[e.Kind+"/"+e.First] = true
		}
		last := w.last[e.ID()]
		isQuiet := last == nil && !e.Withdrawn || last != nil && last.At == ""
		if !isKnown[e.ID()] && (e.At != "" || isQuiet) {
			isKnown[e.ID()] = true
			follow = append(follow, e)
		}
	}
	for _, id := range ofDay {
		if isKnown[id] {
			continue
		}
		isKnown[id] = true
		e := *w.last[id]
		if hasLeft[e.Kind+"/"+e.First] && e.What != catalog.WhatRestored {
			continue
		}
		e.Withdrawn = true
		if w.before[id] != nil {
			e = *w.before[id]
		}
		e.At = w.at
		if w.last[id].At == "" {
			e.At = ""
		}
		w.add(e)
	}
	for _, e := range follow {
		w.add(e)
	}
}

// isTold reports whether an earlier day told an entry.
func (w *entryPage) isTold(e *catalog.Entry) bool {
	before := w.before[e.ID()]
	return before != nil && !before.Withdrawn
}

// add adds a state unless the last one says it on the same topics.
func (w *entryPage) add(e catalog.Entry) {
	if last := w.last[e.ID()]; last != nil && last.Says(&e) && (e.At == "" || last.At != "") &&
		(e.Withdrawn || slices.Equal(last.Topics, e.Topics)) {
		return
	}
	w.position++
	e.Position = w.position
	w.rows = append(w.rows, e)
}

// write writes the new states.
func (w *entryPage) write(ctx context.Context) error {
	batch := sqldb.NewBatch(w.tx, entryTable, w.db.Placeholders())
	for i := range w.rows {
		e := &w.rows[i]
		err := batch.Add(ctx, e.ID(), e.Position, e.Kind, e.Slug, e.First, e.Name, string(e.What), e.Field, e.Old, e.New, e.Note, e.Day,
			e.At, strings.Join(e.Topics, " "), e.Withdrawn, w.version)
		if err != nil {
			return err
		}
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	return sqldb.Exec(ctx, w.tx, `UPDATE catalogue SET chronicle = $1`, w.position)
}
