package catalogdb

import (
	"context"
	"database/sql"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

var entryTable = sqldb.Table{Name: "entries", Columns: []string{
	"id", "kind", "slug", "first_slug", "name", "what", "field", "old_value", "new_value", "note", "day", "at", "first_position",
	"position", "withdrawn", "version",
}}

// A storedEntry is a row.
type storedEntry struct {
	catalog.Entry
	version int64 // that last changed it
}

func scanEntry(scan sqldb.Scanner, e *storedEntry) error {
	var id string
	return scan(&id, &e.Kind, &e.Slug, &e.First, &e.Name, &e.What, &e.Field, &e.Old, &e.New, &e.Note, &e.Day, &e.At,
		&e.FirstPosition, &e.Position, &e.Withdrawn, &e.version)
}

// latestEntries returns the last entries of the chronicle, the latest first.
func latestEntries(ctx context.Context, tx *sql.Tx) (list []catalog.Entry, err error) {
	rows, err := sqldb.Rows(ctx, tx, `SELECT `+entryTable.List()+` FROM entries ORDER BY position DESC LIMIT $1`,
		scanEntry, catalog.KeptEntries)
	for i := range rows {
		list = append(list, rows[i].Entry)
	}
	return list, err
}

// writeEntries merges what a version tells into the chronicle, in the order in which it is told.
func (p *publication) writeEntries(ctx context.Context, version int64, at string) error {
	if len(p.diff.Entries) == 0 {
		return nil
	}
	today := at[:len("2006-01-02")]
	known, err := p.knownEntries(ctx, today)
	if err != nil {
		return err
	}
	position, err := LastEntry(ctx, p.tx)
	if err != nil {
		return err
	}
	changed, taken := map[string]bool{}, map[[2]string]bool{} // the fields of records whose entries are withdrawn
	store := func(e catalog.Entry, isNews bool) {
		if isNews {
			position++
			e.Position, e.At = position, at
			if e.FirstPosition == 0 {
				e.FirstPosition = position
			}
		}
		known[e.ID()], changed[e.ID()] = &storedEntry{e, version}, true
	}
	for _, e := range p.diff.Entries {
		if p.takeBack(known, &e, today, store) {
			continue
		}
		var stored *catalog.Entry
		if row := known[e.ID()]; row != nil {
			stored = &row.Entry
		}
		field := [2]string{e.First, string(e.What)}
		e.IsAmended = e.IsAmended || taken[field]
		if next, isNews, isStored := e.Merge(stored, today); isStored {
			store(next, isNews)
			taken[field] = taken[field] || e.Withdrawn && isNews
		}
	}
	if err := p.replaceEntries(ctx, known, changed); err != nil {
		return err
	}
	return sqldb.Exec(ctx, p.tx, `UPDATE catalogue SET chronicle = $1`, position)
}

// takeBack withdraws the entries of a day that another one answers, and reports whether that is then nothing.
func (p *publication) takeBack(
	known map[string]*storedEntry, e *catalog.Entry, today string, store func(e catalog.Entry, isNews bool),
) (isNothing bool) {
	if e.Withdrawn {
		return false
	}
	for _, id := range slices.Concat(p.ofRecord[e.First], p.ofRecord[e.Slug]) {
		if other := known[id]; !other.Withdrawn && other.At >= today && e.Answers(&other.Entry) {
			taken := other.Entry
			taken.Withdrawn = true
			store(taken, true)
			isNothing = e.What != catalog.WhatRetired
		}
	}
	if isNothing && e.What == catalog.WhatRemoved { // with all that happened to it
		for _, id := range p.ofRecord[e.First] {
			if other := known[id]; !other.Withdrawn && other.Kind == e.Kind {
				taken := other.Entry
				taken.Withdrawn = true
				store(taken, true)
			}
		}
	}
	return isNothing
}

// knownEntries returns the stored entries that a version may change, by id: those of the day, and those that it tells again.
func (p *publication) knownEntries(ctx context.Context, today string) (map[string]*storedEntry, error) {
	known := map[string]*storedEntry{}
	p.ofRecord = map[string][]string{}
	add := func(where string, args ...any) error {
		rows, err := sqldb.Rows(ctx, p.tx, `SELECT `+entryTable.List()+` FROM entries WHERE `+where, scanEntry, args...)
		for i := range rows {
			known[rows[i].ID()] = &rows[i]
		}
		return err
	}
	if err := add(`at >= $1`, today); err != nil {
		return nil, err
	}
	for id, e := range known {
		p.ofRecord[e.First] = append(p.ofRecord[e.First], id)
		if e.Slug != e.First {
			p.ofRecord[e.Slug] = append(p.ofRecord[e.Slug], id)
		}
	}
	for some := range slices.Chunk(p.diff.Entries, 500) {
		var ids []string
		for i := range some {
			ids = append(ids, some[i].ID())
		}
		args, list := sqldb.InAfter(nil, ids)
		if err := add(`id IN `+list, args...); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// replaceEntries writes the entries that changed, by position.
func (p *publication) replaceEntries(ctx context.Context, all map[string]*storedEntry, changed map[string]bool) error {
	var rows []*storedEntry
	for id := range changed {
		rows = append(rows, all[id])
	}
	slices.SortFunc(rows, func(a, b *storedEntry) int { return int(a.Position - b.Position) })
	batch := sqldb.NewBatch(p.tx, entryTable, p.db.Placeholders())
	for some := range slices.Chunk(rows, 500) {
		var ids []string
		for _, e := range some {
			ids = append(ids, e.ID())
		}
		args, list := sqldb.InAfter(nil, ids)
		if err := sqldb.Exec(ctx, p.tx, `DELETE FROM entries WHERE id IN `+list, args...); err != nil {
			return err
		}
		for _, e := range some {
			err := batch.Add(ctx, e.ID(), e.Kind, e.Slug, e.First, e.Name, string(e.What), e.Field, e.Old, e.New, e.Note, e.Day, e.At,
				e.FirstPosition, e.Position, e.Withdrawn, e.version)
			if err != nil {
				return err
			}
		}
	}
	return batch.Flush(ctx)
}
