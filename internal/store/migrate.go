package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

// migrations lead from an empty database to the tables of this program, in the order of
// their names. They only go forward, and one that has been released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// unreleased is the last version of the tables of programs that were never released. The
// n-th migration makes version unreleased + n.
const unreleased = 22

// queryer is a pool or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// migrate brings the tables up to date. Of several processes that start at once one
// applies the migrations and the others find them applied; a database that is up to date
// is only read, so that a process can start while another one publishes.
func (s *db) migrate(ctx context.Context, source fs.FS) error {
	files, err := fs.Glob(source, "migrations/*.sql")
	if err != nil {
		return err
	}
	var version int
	err = s.untilFree(ctx, func() (err error) {
		limited, cancel := s.dialect.schemaContext(ctx)
		defer cancel()
		version, err = s.schema(limited, s.writes)
		return err
	})
	if err != nil {
		return err
	}
	newest := unreleased + len(files)
	switch {
	case version > newest:
		return problem(ErrNewer, nil, "%s has version %d of the tables and this palmares knows version %d: upgrade palmares; nothing was changed",
			s.name, version, newest)
	case version > 0 && version <= unreleased:
		return problem(ErrOlder, nil, "%s was written by a palmares from before the first release: run `palmares export` of that program, "+
			"and publish the exported folder into a new database; nothing was changed", s.name)
	case version < newest:
		if err := s.applyMigrations(ctx, source, files); err != nil {
			return err
		}
	}
	return s.renewView(ctx)
}

// applyMigrations applies the migrations that are left once it has the lock, all of them
// or none.
func (s *db) applyMigrations(ctx context.Context, source fs.FS, files []string) error {
	return s.writeLarge(ctx, func(tx *sql.Tx) error {
		if err := s.dialect.lockSchema(ctx, tx); err != nil {
			return err
		}
		version, err := s.schema(ctx, tx)
		if err != nil {
			return err
		}
		isNew := version == 0
		if isNew {
			if _, err := tx.ExecContext(ctx, `CREATE TABLE palmares_schema (version INTEGER NOT NULL PRIMARY KEY)`); err != nil {
				return err
			}
			if err := s.dialect.markOurs(ctx, tx); err != nil {
				return err
			}
			version = unreleased
		}
		for ; version < unreleased+len(files); version++ {
			file := files[version-unreleased]
			if err := applyMigration(ctx, tx, source, file, version+1); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		if !isNew {
			return nil
		}
		if err := writeFirstFeed(ctx, tx); err != nil {
			return err
		}
		return s.writeView(ctx, tx)
	})
}

func applyMigration(ctx context.Context, tx *sql.Tx, source fs.FS, file string, version int) error {
	text, err := fs.ReadFile(source, file)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO palmares_schema (version) VALUES ($1)`, version)
	return err
}

// schema returns the version of the tables, 0 when there are none yet. ErrNotOurs: the
// database belongs to another program.
func (s *db) schema(ctx context.Context, q queryer) (int, error) {
	ours, err := s.dialect.hasTables(ctx, q)
	if err != nil || !ours {
		return 0, err
	}
	var version int
	err = q.QueryRowContext(ctx, `SELECT max(version) FROM palmares_schema`).Scan(&version)
	return version, err
}
