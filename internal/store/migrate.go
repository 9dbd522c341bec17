package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

// migrations are the steps from an empty database to the tables this binary
// knows, in the order of their names; the n-th makes version n. They only go
// forward, and one that has been released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// compatibleFrom is the oldest version of the tables whose program works on those
// that this one makes: the previous release's. While nodes are replaced one by one,
// old and new run side by side, and an old one may have to start again. So the
// migrations of a release only add: tables, and columns with a default. What is no
// longer used is removed a release later. It is raised with each release, to the
// newest step of the one before; as long as there is none it is the newest of all.
const compatibleFrom = 8

// From this version on the tables say themselves which programs work on them.
const saysCompatible = 8

// queryer is a pool or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// migrate brings the tables up to date. Of many processes that start at once one
// takes the steps and the others find them taken; a database that is up to date is
// only read, so that a process starts while another one publishes.
func (s *db) migrate(ctx context.Context, steps fs.FS) error {
	files, err := fs.Glob(steps, "migrations/*.sql")
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
		if version, err = s.applyMigrations(ctx, steps, files); err != nil {
			return err
		}
	}
	if version == len(files) {
		return nil
	}
	var oldest int // 0 for none but the newest
	if version >= saysCompatible {
		if err := s.reads.QueryRowContext(ctx, `SELECT compatible_from FROM palmares_schema WHERE version = $1`, version).Scan(&oldest); err != nil {
			return err
		}
	}
	if oldest == 0 || oldest > len(files) {
		return problem(ErrNewer, nil, "%s has version %d of the tables and this palmares knows version %d: upgrade palmares; nothing was changed", s.name, version, len(files))
	}
	return nil
}

// applyMigrations applies the migrations that are left once it has the lock, all of them
// or none, and returns the resulting version of the tables.
func (s *db) applyMigrations(ctx context.Context, steps fs.FS, files []string) (version int, err error) {
	err = s.writeLarge(ctx, func(tx *sql.Tx) error {
		if err := s.dialect.lockSchema(ctx, tx); err != nil {
			return err
		}
		if version, err = s.schema(ctx, tx); err != nil || version >= len(files) {
			return err
		}
		if version == 0 {
			if _, err := tx.ExecContext(ctx, `CREATE TABLE palmares_schema (version INTEGER NOT NULL PRIMARY KEY)`); err != nil {
				return err
			}
			if err := s.dialect.markOurs(ctx, tx); err != nil {
				return err
			}
		}
		for ; version < len(files); version++ {
			if err := applyMigration(ctx, tx, steps, files[version], version+1); err != nil {
				return fmt.Errorf("%s: %w", files[version], err)
			}
		}
		return nil
	})
	return version, err
}

func applyMigration(ctx context.Context, tx *sql.Tx, steps fs.FS, file string, version int) error {
	text, err := fs.ReadFile(steps, file)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	if version < saysCompatible {
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
