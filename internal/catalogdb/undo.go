package catalogdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/sqldb"
)

// An Undo takes a version back: for each record that the version changed and that nobody changed
// since, it has what there was before.
type Undo struct {
	Version int64  // that is taken back
	Source  Source // of Version
	Undid   int64  // the version that Version took back itself; 0 for none
	// Next is what is to be published, exactly as it is: histories and dates are as before, so
	// that nothing is left of what the version did. Former names of today are aliases.
	Next *catalog.Catalog
	Left []Left // what was changed since, and stays as it is; by name

	base int64 // the version that Next was made from
}

// A Left is a record that an Undo leaves as it is.
type Left struct {
	Name  string // outils/plume
	Since int64  // the last version that changed it, or a record that has to go with it
}

// Errors of Undo, and of a publication of one.
var (
	// ErrCannotUndo: the version cannot be undone.
	ErrCannotUndo = errors.New("the version cannot be undone")
	// ErrUndoMoved: another version was published since Undo was called, which may be called again.
	ErrUndoMoved = errors.New("another version was published in the meantime")
)

// Undo finds out what taking a version back changes. With force, records that were changed since
// are taken back as well. ErrNoVersion and ErrCannotUndo say why there is none.
func (s *Catalogue) Undo(ctx context.Context, version int64, force bool) (*Undo, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) (*Undo, error) {
		u, err := findUndo(ctx, tx, version)
		if err != nil {
			return nil, err
		}
		return u, u.make(ctx, tx, force)
	})
}

// findUndo returns what is known of a version that can be undone.
func findUndo(ctx context.Context, tx *sql.Tx, version int64) (*Undo, error) {
	u := &Undo{Version: version}
	var err error
	u.base, err = sqldb.Value[int64](ctx, tx, VersionQuery)
	if err != nil {
		return nil, err
	}
	switch first := max(2, u.base-keptVersions+1); {
	case version < 1 || version > u.base:
		return nil, sqldb.Problem(ErrNoVersion, nil, "there is no version %d: see `palmares log`", version)
	case version == 1:
		return nil, sqldb.Problem(ErrCannotUndo, nil, "there is nothing before version 1 to return to")
	case version < first:
		return nil, sqldb.Problem(ErrCannotUndo, nil, "version %d is too old to be undone: what was before is kept for the last "+
			"%d versions, from version %d on; publish the folder as it was", version, keptVersions, first)
	}
	all, err := sqldb.Rows(ctx, tx, selectVersions+` WHERE version = $1`, scanVersion, version)
	if err == nil && len(all) > 0 {
		u.Source, u.Undid = all[0].Source, all[0].Undoes
	}
	return u, err
}

// A touched is a row that the version wrote.
type touched struct {
	before row   // as the version found it; Deleted if there was none
	after  row   // as the version left it
	since  int64 // the last later version that wrote it; 0 for none
	isSame bool  // it is now as it was before
}

// make compares what was before the version with what is published.
func (u *Undo) make(ctx context.Context, tx *sql.Tx, force bool) error {
	rows, url, err := u.touchedRows(ctx, tx)
	if err != nil {
		return err
	}
	head, err := loadHead(ctx, tx)
	if err != nil {
		return err
	}
	now, err := gather(ctx, tx, gathering{url: head.url, each: func(r *row) {
		t := rows[rowKey{r.Kind, r.Slug, r.public}]
		if t == nil {
			return
		}
		if t.since == 0 {
			t.after = *r
		}
		t.isSame = t.before.Hash == r.Hash && t.before.private == r.private
	}}, "")
	if err != nil {
		return err
	}
	if !force {
		err = u.leave(rows)
	}
	if err == nil {
		err = u.replace(&now.Catalog, rows, url)
	}
	return err
}

// touchedRows returns the rows that the version wrote, and the URL of the site before it.
func (u *Undo) touchedRows(ctx context.Context, tx *sql.Tx) (rows map[rowKey]*touched, url string, err error) {
	type former struct {
		row
		until int64
	}
	all, err := sqldb.Rows(ctx, tx, `
		SELECT until, kind, slug, public, hash, document, private FROM former_records
		WHERE until >= $1 AND (kind = $2 OR (kind, slug, public) IN
			(SELECT kind, slug, public FROM former_records WHERE until = $1)) ORDER BY until`,
		func(scan sqldb.Scanner, f *former) error {
			err := scan(&f.until, &f.Kind, &f.Slug, &f.public, &f.Hash, &f.document, &f.private)
			f.Deleted = f.document == ""
			return err
		}, u.Version, string(record.Catalogue))
	if err != nil {
		return nil, "", err
	}
	rows = map[rowKey]*touched{}
	var then gathered // the catalogue before the version, as far as it is not the present one
	for i := range all {
		f := &all[i]
		if f.Kind == record.Catalogue && then.URL == "" {
			err = decodeRows(&then, "", f.row)
		}
		key := rowKey{f.Kind, f.Slug, f.public}
		t := rows[key]
		switch {
		case f.until == u.Version:
			rows[key] = &touched{before: f.row}
		case t != nil && t.since == 0:
			t.after, t.since = f.row, f.until
		case t != nil:
			t.since = f.until
		}
		if err != nil {
			return nil, "", err
		}
	}
	if then.URL == "" {
		then.URL, err = sqldb.Value[string](ctx, tx, `SELECT url FROM catalogue`)
	}
	return rows, then.URL, err
}

// decodeRows adds what rows hold.
func decodeRows(to *gathered, url string, rows ...row) error {
	d := rowDecoder{gathering: gathering{url: url}}
	work := make(chan []row, 1)
	work <- rows
	close(work)
	d.run(work)
	to.add(&d.gathered)
	return d.err
}

// undoFolders are the folders of the kinds that have files.
var undoFolders = map[record.Kind]string{
	record.Tool: "outils/", record.Comparison: "comparatifs/", record.Retired: "cimetiere/", record.Page: "pages/", pictureKind: "",
}

// leave removes the rows that stay as they are. Records whose names are related go together: a tool
// and what it was renamed to or absorbed by, and what became of it when it was retired.
func (u *Undo) leave(rows map[rowKey]*touched) error {
	g := groups{}
	for _, t := range rows {
		for _, r := range []row{t.before, t.after} {
			if r.Deleted || r.Kind != record.Tool && r.Kind != record.Comparison {
				continue
			}
			var one gathered
			if err := decodeRows(&one, "", r); err != nil {
				return err
			}
			for _, tool := range one.Tools {
				g.join(r.Kind, r.Slug, tool.Aliases)
			}
			for _, x := range one.Comparisons {
				g.join(r.Kind, r.Slug, x.Aliases)
			}
		}
	}
	since := map[rowKey]int64{} // by group
	for key, t := range rows {
		if t.since > 0 && !t.isSame {
			since[g.of(key)] = max(since[g.of(key)], t.since)
		}
	}
	left := map[string]int64{}
	for key, t := range rows {
		last, isLeft := since[g.of(key)]
		if !isLeft {
			continue
		}
		delete(rows, key)
		if folder, ok := undoFolders[key.kind]; ok && !t.isSame {
			left[folder+key.slug] = last
		} else if key.kind == record.Catalogue {
			left[catalog.SettingsFile] = last
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		u.Left = append(u.Left, Left{name, left[name]})
	}
	return nil
}

// groups are records that go together, each by the one that stands for it.
type groups map[rowKey]rowKey

// of returns the group of a row.
func (g groups) of(key rowKey) rowKey {
	if key.public = false; key.kind == record.Retired || key.kind == pastKind {
		key.kind = record.Tool
	}
	for {
		next, ok := g[key]
		if !ok {
			return key
		}
		key = next
	}
}

// join makes a record and its aliases one group.
func (g groups) join(kind record.Kind, slug string, aliases []string) {
	for _, alias := range aliases {
		a, b := g.of(rowKey{kind, slug, false}), g.of(rowKey{kind, alias, false})
		if a != b {
			g[a] = b
		}
	}
}

// replace makes Next of what is published now and of what rows were before. Pictures are removed
// only if nothing uses them.
func (u *Undo) replace(now *catalog.Catalog, rows map[rowKey]*touched, url string) error {
	n := nextLoad{old: now, fresh: &gathered{}, touched: map[record.Kind][]string{}}
	var former []row
	for _, t := range rows {
		if !t.before.Deleted {
			former = append(former, t.before)
		} else if t.before.Kind == pictureKind {
			continue
		}
		n.touch(&t.before)
	}
	if err := decodeRows(n.fresh, url, former...); err != nil {
		return err
	}
	n.fresh.Sort()
	u.Next, _ = n.replace()
	u.Next.MoveBack(now)
	used := record.Pictures(u.Next)
	u.Next.Pictures = maps.Clone(u.Next.Pictures)
	maps.DeleteFunc(u.Next.Pictures, func(path string, _ catalog.Picture) bool { return !used[path] })
	if len(u.Next.Pictures) == 0 {
		u.Next.Pictures = nil
	}
	return nil
}

// beginUndo makes sure that an undo fits what is published, whose revision stays on record.
func (p *publication) beginUndo(ctx context.Context) error {
	u := p.opts.Undo
	if p.head.Version != u.base {
		return sqldb.Problem(ErrUndoMoved, nil, "version %d was published in the meantime: try again; nothing was changed",
			p.head.Version)
	}
	s := &p.opts.Source
	err := p.tx.QueryRowContext(ctx, `SELECT revision, author, clean FROM publications WHERE version = $1`, u.base).
		Scan(&s.Revision, &s.Author, &s.Clean)
	if err != nil {
		return fmt.Errorf("version %d: %w", u.base, err)
	}
	return nil
}
