package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

// migrations lead from an empty database to the tables of this binary, in the order of
// their names; the n-th makes version n. They only go forward, and one that has been
// released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// compatibleFrom is the oldest version of the tables whose program works with the tables
// of this one: the previous release's. While nodes are replaced one by one, old and new
// ones run side by side, and an old one may have to restart. So the migrations of a
// release only add tables, and columns with a default; what is no longer used is removed
// one release later. It is raised with each release to the newest migration of the
// previous one; before the first release it is the newest of all.
const compatibleFrom = 8

// compatibleSince is the first version that records compatibleFrom in the tables.
const compatibleSince = 8

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
	if version < len(files) {
		if version, err = s.applyMigrations(ctx, source, files); err != nil {
			return err
		}
	}
	if version == len(files) {
		return nil
	}
	var oldest int // 0: only the newest program works
	if version >= compatibleSince {
		if err := s.reads.QueryRowContext(ctx, `SELECT compatible_from FROM palmares_schema WHERE version = $1`, version).Scan(&oldest); err != nil {
			return err
		}
	}
	if s.alone || oldest == 0 || oldest > len(files) {
		return problem(ErrNewer, nil, "%s has version %d of the tables and this palmares knows version %d: upgrade palmares; nothing was changed", s.name, version, len(files))
	}
	return nil
}

// applyMigrations applies the migrations that are left once it has the lock, all of them
// or none, and returns the resulting version of the tables.
func (s *db) applyMigrations(ctx context.Context, source fs.FS, files []string) (version int, err error) {
	err = s.writeLarge(ctx, func(tx *sql.Tx) error {
		if err := s.dialect.lockSchema(ctx, tx); err != nil {
			return err
		}
		if version, err = s.schema(ctx, tx); err != nil || version >= len(files) {
			return err
		}
		before := version
		if version == 0 {
			if _, err := tx.ExecContext(ctx, `CREATE TABLE palmares_schema (version INTEGER NOT NULL PRIMARY KEY)`); err != nil {
				return err
			}
			if err := s.dialect.markOurs(ctx, tx); err != nil {
				return err
			}
		}
		for ; version < len(files); version++ {
			if err := applyMigration(ctx, tx, source, files[version], version+1); err != nil {
				return fmt.Errorf("%s: %w", files[version], err)
			}
		}
		if before < feedSince && version >= feedSince {
			return s.writeFirstFeed(ctx, tx)
		}
		return nil
	})
	return version, err
}

func applyMigration(ctx context.Context, tx *sql.Tx, source fs.FS, file string, version int) error {
	text, err := fs.ReadFile(source, file)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	if version < compatibleSince {
		_, err = tx.ExecContext(ctx, `INSERT INTO palmares_schema (version) VALUES ($1)`, version)
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO palmares_schema (version, compatible_from) VALUES ($1, $2)`, version, compatibleFrom)
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
