package sqldb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"time"
)

// unreleased is the last version of the tables of programs that were never released. The
// n-th migration makes version unreleased + n.
const unreleased = 29

// A migration is a file of SQL.
type migration struct{ file, text, digest string }

// migrationsOf returns the migrations of all parts in the order of their numbers, and of one number in
// the order of the parts.
func migrationsOf(parts []Part) (all []migration, err error) {
	for _, part := range parts {
		files, err := fs.Glob(part.Migrations, "migrations/*.sql")
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := fs.ReadFile(part.Migrations, file)
			if err != nil {
				return nil, err
			}
			all = append(all, migration{path.Base(file), string(text), fmt.Sprintf("%x", sha256.Sum256(text))})
		}
	}
	slices.SortStableFunc(all, func(a, b migration) int { return cmp.Compare(a.file[:4], b.file[:4]) })
	return all, nil
}

var createdTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// tablesOf returns the tables that migrations create, each after those it refers to.
func tablesOf(parts []Part) (names []string, err error) {
	all, err := migrationsOf(parts)
	for _, m := range all {
		for _, found := range createdTable.FindAllStringSubmatch(m.text, -1) {
			names = append(names, found[1])
		}
	}
	return names, err
}

// migrate brings the tables up to date. Of several processes that start at once one
// applies the migrations and the others find them applied; a database that is up to date
// is only read, so that a process can start while another one publishes.
func (d *DB) migrate(ctx context.Context) error {
	all, err := migrationsOf(d.parts)
	if err != nil {
		return err
	}
	var version int
	err = d.untilFree(ctx, func() (err error) {
		limited, cancel := d.dialect.schemaContext(ctx)
		defer cancel()
		version, err = d.schema(limited, d.writes, all)
		return err
	})
	if err != nil {
		return err
	}
	if version < unreleased+len(all) {
		if err := d.applyMigrations(ctx, all); err != nil {
			return err
		}
	}
	for _, part := range d.parts {
		if part.Opened == nil {
			continue
		}
		if err := part.Opened(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

const createSchema = `CREATE TABLE palmares_schema (version INTEGER NOT NULL PRIMARY KEY, digest TEXT NOT NULL)`

// applyMigrations applies the migrations that are left once it has the lock, all of them
// or none.
func (d *DB) applyMigrations(ctx context.Context, all []migration) error {
	return d.WriteLarge(ctx, func(tx *sql.Tx) error {
		if err := d.dialect.lockSchema(ctx, tx); err != nil {
			return err
		}
		version, err := d.schema(ctx, tx, all)
		if err != nil {
			return err
		}
		isNew := version == 0
		if isNew {
			if err := Exec(ctx, tx, createSchema); err != nil {
				return err
			}
			if err := d.dialect.markOurs(ctx, tx); err != nil {
				return err
			}
			version = unreleased
		}
		for _, m := range all[version-unreleased:] {
			if err := Exec(ctx, tx, m.text); err != nil {
				return fmt.Errorf("%s: %w", m.file, err)
			}
			version++
			err := Exec(ctx, tx, `INSERT INTO palmares_schema (version, digest) VALUES ($1, $2)`, version, m.digest)
			if err != nil {
				return err
			}
		}
		for _, part := range d.parts {
			if isNew && part.Created != nil {
				if err := part.Created(ctx, d, tx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// schema returns the version of the tables, 0 when there are none yet. ErrNotOurs: the database belongs
// to another program. ErrNewer, ErrOlder: its migrations are not the first of all.
func (d *DB) schema(ctx context.Context, q Queryer, all []migration) (int, error) {
	ours, err := d.dialect.hasTables(ctx, q)
	if err != nil || !ours {
		return 0, err
	}
	version, err := Value[int](ctx, q, `SELECT max(version) FROM palmares_schema`)
	if err != nil {
		return 0, err
	}
	if newest := unreleased + len(all); version > newest {
		return 0, Problem(ErrNewer, nil, "%s has version %d of the tables and this palmares knows version %d: "+
			"upgrade palmares; nothing was changed", d.name, version, newest)
	}
	if version > unreleased {
		applied, err := Rows(ctx, q, `SELECT digest FROM palmares_schema ORDER BY version`, ScanText)
		isSame := func(m migration, digest string) bool { return m.digest == digest }
		if err != nil || slices.EqualFunc(all[:version-unreleased], applied, isSame) {
			return version, err
		}
	}
	return 0, Problem(ErrOlder, nil, "%s was written by a palmares from before the first release: "+
		"run `palmares export` of that program, and publish the exported folder into a new database; nothing was changed", d.name)
}

// untilFree repeats fn while another process has the SQLite file to itself: one that
// creates it, changes its mode (which fails for others at once, without the busy
// timeout) or is the last to close it. On a busy machine that takes longer than the
// busy timeout.
func (d *DB) untilFree(ctx context.Context, fn func() error) error {
	waiting, cancel := context.WithTimeout(ctx, d.writeWait)
	defer cancel()
	for {
		err := fn()
		if !d.dialect.isBusy(err) {
			return err
		}
		select {
		case <-waiting.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}
