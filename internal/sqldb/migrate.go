package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"time"
)

// unreleased is the last version of the tables of programs that were never released. The
// n-th migration makes version unreleased + n.
const unreleased = 29

// A step is the migrations of one number, a file of each part that has one.
type step struct {
	files []string
	texts []string
}

// stepsOf returns the migrations of all parts, in order.
func stepsOf(parts []Part) ([]step, error) {
	byNumber := map[string]*step{}
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
			number := path.Base(file)[:4]
			if byNumber[number] == nil {
				byNumber[number] = &step{}
			}
			s := byNumber[number]
			s.files, s.texts = append(s.files, file), append(s.texts, string(text))
		}
	}
	var steps []step
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		steps = append(steps, *byNumber[number])
	}
	return steps, nil
}

var createdTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// tablesOf returns the tables that migrations create, each after those it refers to.
func tablesOf(parts []Part) (names []string, err error) {
	steps, err := stepsOf(parts)
	for _, s := range steps {
		for _, text := range s.texts {
			for _, found := range createdTable.FindAllStringSubmatch(text, -1) {
				names = append(names, found[1])
			}
		}
	}
	return names, err
}

// migrate brings the tables up to date. Of several processes that start at once one
// applies the migrations and the others find them applied; a database that is up to date
// is only read, so that a process can start while another one publishes.
func (d *DB) migrate(ctx context.Context) error {
	steps, err := stepsOf(d.parts)
	if err != nil {
		return err
	}
	var version int
	err = d.untilFree(ctx, func() (err error) {
		limited, cancel := d.dialect.schemaContext(ctx)
		defer cancel()
		version, err = d.schema(limited, d.writes)
		return err
	})
	if err != nil {
		return err
	}
	newest := unreleased + len(steps)
	switch {
	case version > newest:
		return Problem(ErrNewer, nil, "%s has version %d of the tables and this palmares knows version %d: "+
			"upgrade palmares; nothing was changed", d.name, version, newest)
	case version > 0 && version <= unreleased:
		return Problem(ErrOlder, nil, "%s was written by a palmares from before the first release: run `palmares export` "+
			"of that program, and publish the exported folder into a new database; nothing was changed", d.name)
	case version < newest:
		if err := d.applyMigrations(ctx, steps); err != nil {
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

// applyMigrations applies the migrations that are left once it has the lock, all of them
// or none.
func (d *DB) applyMigrations(ctx context.Context, steps []step) error {
	return d.WriteLarge(ctx, func(tx *sql.Tx) error {
		if err := d.dialect.lockSchema(ctx, tx); err != nil {
			return err
		}
		version, err := d.schema(ctx, tx)
		if err != nil {
			return err
		}
		isNew := version == 0
		if isNew {
			if err := Exec(ctx, tx, `CREATE TABLE palmares_schema (version INTEGER NOT NULL PRIMARY KEY)`); err != nil {
				return err
			}
			if err := d.dialect.markOurs(ctx, tx); err != nil {
				return err
			}
			version = unreleased
		}
		for ; version < unreleased+len(steps); version++ {
			if err := steps[version-unreleased].apply(ctx, tx, version+1); err != nil {
				return err
			}
		}
		if isNew {
			return d.created(ctx, tx)
		}
		return nil
	})
}

func (s *step) apply(ctx context.Context, tx *sql.Tx, version int) error {
	for i, text := range s.texts {
		if err := Exec(ctx, tx, text); err != nil {
			return fmt.Errorf("%s: %w", s.files[i], err)
		}
	}
	return Exec(ctx, tx, `INSERT INTO palmares_schema (version) VALUES ($1)`, version)
}

func (d *DB) created(ctx context.Context, tx *sql.Tx) error {
	for _, part := range d.parts {
		if part.Created == nil {
			continue
		}
		if err := part.Created(ctx, d, tx); err != nil {
			return err
		}
	}
	return nil
}

// schema returns the version of the tables, 0 when there are none yet. ErrNotOurs: the
// database belongs to another program.
func (d *DB) schema(ctx context.Context, q Queryer) (int, error) {
	ours, err := d.dialect.hasTables(ctx, q)
	if err != nil || !ours {
		return 0, err
	}
	version, err := Value[int](ctx, q, `SELECT max(version) FROM palmares_schema`)
	return version, err
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
