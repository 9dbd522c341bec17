package catalogdb

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/record"
	"palmares/internal/sqldb"
)

// An Undo takes a version back: for each record that the version changed and that nobody changed
// since, it has what there was before.
type Undo struct {
	Version int64  // that is taken back
	Base    int64  // that Next is made from
	Source  Source // of Version
	Undid   int64  // the version that Version took back itself; 0 for none
	// Next is what is to be published, exactly as it is: histories and dates are as before, so
	// that nothing is left of what the version did. Former names of today are aliases.
	Next *catalog.Catalog
	Left []Left // what was changed since, and stays as it is; by name

	due time.Time // when Version made itself; zero if somebody published it
}

// A Left is a record that an Undo leaves as it is.
type Left struct {
	Name  string // outils/plume
	Since int64  // the last version that changed it, or a record that has to go with it
}

// Errors of Undo, and of a publication of one. The cause of those of Undo is a problem.Text.
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
	u.Base, err = sqldb.Value[int64](ctx, tx, VersionQuery)
	if err != nil {
		return nil, err
	}
	refuse := func(kind error, code string, args ...any) (*Undo, error) {
		what := problem.New(code, args...)
		return nil, sqldb.Problem(kind, what, "%s", what)
	}
	switch first := max(2, u.Base-keptVersions+1); {
	case version < 1 || version > u.Base:
		return refuse(ErrNoVersion, "no-such-version", version)
	case version == 1:
		return refuse(ErrCannotUndo, "nothing-to-return-to")
	case version < first:
		return refuse(ErrCannotUndo, "version-too-old", version, keptVersions, first)
	}
	all, err := sqldb.Rows(ctx, tx, selectVersions+` WHERE version = $1`, scanVersion, version)
	if err == nil && len(all) > 0 {
		u.Source, u.Undid = all[0].Source, all[0].Undoes
		if all[0].Due != "" {
			u.due, err = time.Parse(time.RFC3339, all[0].Due)
		}
	}
	return u, err
}

// A touched is a row that the version wrote, or a later one.
type touched struct {
	before row   // as the version found it; Deleted if there was none
	isOurs bool  // the version wrote it
	since  int64 // the last later version that wrote it; 0 for none
	isSame bool  // it is now as it was before
}

// touchedRows are the rows that the version or a later one wrote.
type touchedRows struct {
	rows map[rowKey]*touched
	url  string // of the site before the version; "" for the present one
	kin  groups
}

// make compares what was before the version with what is published.
func (u *Undo) make(ctx context.Context, tx *sql.Tx, force bool) error {
	all := touchedRows{rows: map[rowKey]*touched{}, kin: groups{}}
	if err := all.read(ctx, tx, u.Version); err != nil {
		return err
	}
	head, err := loadHead(ctx, tx)
	if err != nil {
		return err
	}
	now, err := gather(ctx, tx, gathering{url: head.url, each: func(r *row) {
		if t := all.rows[r.key()]; t != nil {
			t.isSame = t.before.Hash == r.Hash && t.before.private == r.private
			all.kin.join(r)
		}
	}}, "")
	if err != nil {
		return err
	}
	if err := loadScheduled(ctx, tx, &now.Catalog); err != nil {
		return err
	}
	u.choose(&all, force)
	return u.replace(&now.Catalog, &all, cmp.Or(all.url, head.url))
}

// read reads what the version and later ones replaced.
func (a *touchedRows) read(ctx context.Context, tx *sql.Tx, version int64) error {
	_, err := sqldb.Rows(ctx, tx, `SELECT until, kind, slug, public, hash, document, private FROM former_records
		WHERE until >= $1 ORDER BY until`, func(scan sqldb.Scanner, _ *struct{}) error {
		var r row
		var until int64
		err := scan(&until, kindColumn{&r.Kind}, &r.Slug, &r.public, &r.Hash, &r.document, &r.private)
		if err != nil {
			return err
		}
		r.Deleted = r.document == ""
		t := a.rows[r.key()]
		if t == nil {
			t = &touched{before: r, isOurs: until == version}
			a.rows[r.key()] = t
			if r.Kind == catalog.CatalogueKind {
				var then gathered
				err = decodeRows(&then, "", r)
				a.url = then.URL
			}
		}
		if until > version {
			t.since = until
		}
		a.kin.join(&r)
		return err
	}, version)
	return err
}

func decodeRows(to *gathered, url string, rows ...row) error {
	d := rowDecoder{gathering: gathering{url: url}}
	work := make(chan []row, 1)
	work <- rows
	close(work)
	d.run(work)
	to.add(&d.gathered)
	return d.err
}

// choose keeps the rows that are to be as they were before. Rows whose names are related go together:
// a tool and what it was renamed to or absorbed by, and what became of it when it was retired.
func (u *Undo) choose(all *touchedRows, force bool) {
	type kin struct {
		isOurs, differs bool
		since           int64
	}
	groups, named := map[rowKey]*kin{}, map[string]bool{}
	for key, t := range all.rows {
		group := groups[all.kin.of(key)]
		if group == nil {
			group = &kin{}
			groups[all.kin.of(key)] = group
		}
		group.isOurs, group.differs = group.isOurs || t.isOurs, group.differs || !t.isSame
		group.since = max(group.since, t.since)
		named[undoName(key)] = named[undoName(key)] || t.isOurs // as a draft, or as a public record
	}
	left := map[string]int64{}
	for key, t := range all.rows {
		group := groups[all.kin.of(key)]
		if group.isOurs && (force || group.since == 0 || !group.differs) {
			continue
		}
		delete(all.rows, key)
		if name := undoName(key); name != "" && named[name] && !t.isSame {
			left[name] = group.since
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		u.Left = append(u.Left, Left{name, left[name]})
	}
}

// undoName returns the name of the file of a row without its suffix; "" if it has none.
func undoName(key rowKey) string {
	switch key.kind {
	case catalog.CatalogueKind:
		return catalog.SettingsFile
	case pictureKind:
		return key.slug
	}
	if slices.Contains(catalog.WrittenKinds, key.kind) {
		return key.kind.Folder + "/" + key.slug
	}
	return ""
}

// groups are records that go together: each leads to another one of its group, or to none.
type groups map[rowKey]rowKey

// of returns the record that stands for the group of a row.
func (g groups) of(key rowKey) rowKey {
	key.public = false
	if key.kind == catalog.RetiredKind || key.kind == pastKind {
		key.kind = catalog.ToolKind
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
func (g groups) join(r *row) {
	if !strings.Contains(r.document, `"aliases"`) {
		return
	}
	var names struct{ Aliases []string }
	_ = json.Unmarshal([]byte(r.document), &names) // what is damaged is found when it is decoded
	for _, alias := range names.Aliases {
		if a, b := g.of(r.key()), g.of(rowKey{r.Kind, alias, false}); a != b {
			g[a] = b
		}
	}
}

// former returns what makes of the catalogue of now the one before. Pictures are removed only if nothing uses them.
func (a *touchedRows) former(now *catalog.Catalog, url string) (*nextLoad, error) {
	n := &nextLoad{old: now, fresh: &gathered{}, touched: map[*catalog.Kind][]string{}}
	var former []row
	for _, t := range a.rows {
		if !t.before.Deleted {
			former = append(former, t.before)
		} else if t.before.Kind == pictureKind {
			continue
		}
		n.touch(&t.before)
	}
	err := decodeRows(n.fresh, url, former...)
	n.fresh.Sort()
	return n, err
}

// replace makes Next of what is published now and of what rows were before.
func (u *Undo) replace(now *catalog.Catalog, all *touchedRows, url string) error {
	n, err := all.former(now, url)
	if err != nil {
		return err
	}
	if !u.due.IsZero() {
		n.fresh.Forget(u.due, now.Zone()) // or it would happen again at once
	}
	u.Next, _ = n.replace()
	if u.Undid == 0 { // what an undo replaced has its aliases
		u.Next.MoveBack(now)
	}
	u.Next.SettleProofs()
	u.Next.Scheduled, u.Next.Held = now.Scheduled, now.Held
	for i := range u.Next.Scheduled {
		u.Next.Scheduled[i].Problem = "" // it may fit again
	}
	record.SettlePictures(u.Next)
	return nil
}

// beginUndo makes sure that an undo fits what is published, whose revision stays on record.
func (p *publication) beginUndo(ctx context.Context) error {
	u := p.opts.Undo
	if p.head.Version != u.Base {
		return sqldb.Problem(ErrUndoMoved, nil, "version %d was published in the meantime: try again; nothing was changed",
			p.head.Version)
	}
	s := &p.opts.Source
	err := p.tx.QueryRowContext(ctx, `SELECT revision, author, clean FROM publications WHERE version = $1`, u.Base).
		Scan(&s.Revision, &s.Author, &s.Clean)
	if err != nil {
		return fmt.Errorf("version %d: %w", u.Base, err)
	}
	return nil
}
