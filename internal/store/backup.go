package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Backup is what Store.Backup has written.
type Backup struct {
	Size    int64
	Version int64 // of the catalogue; 0 if nothing was published
}

// Backup writes a copy of a SQLite database to a new file, verifies it and makes sure that
// it is on the disk. Readers and writers go on meanwhile. A file that exists is refused.
func (s *Store) Backup(ctx context.Context, file string) (b Backup, err error) {
	lite, ok := s.dialect.(*sqliteDialect)
	if !ok {
		return b, problem(ErrNotSQLite, nil, "%s is not a SQLite file: make a backup with pg_dump", s.name)
	}
	if _, err := os.Lstat(file); err == nil {
		return b, fmt.Errorf("%s exists: choose another name, or move it away", file)
	}
	draft, err := os.CreateTemp(filepath.Dir(file), ".palmares-backup-*") // mode 0600
	if err != nil {
		return b, fmt.Errorf("nothing can be written beside %s: %w", file, err)
	}
	defer func() {
		if removed := os.Remove(draft.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	if err := draft.Close(); err != nil {
		return b, err
	}
	if _, err := lite.writes.ExecContext(ctx, "VACUUM INTO $1", draft.Name()); err != nil {
		if ctx.Err() != nil {
			return b, ctx.Err()
		}
		return b, fmt.Errorf("the backup cannot be written to %s: %w", filepath.Dir(file), err)
	}
	if b, err = verifyBackup(ctx, draft.Name()); err != nil {
		return b, err
	}
	if err := os.Link(draft.Name(), file); err != nil { // unlike a rename, it replaces nothing
		return b, err
	}
	return b, syncFile(file)
}

// verifyBackup reads all of a copy.
func verifyBackup(ctx context.Context, file string) (b Backup, err error) {
	copied, err := sql.Open("sqlite", sqliteURI(file, busyTimeout, "_query_only", "on"))
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	if err := integrity(ctx, copied, file); err != nil {
		return b, err
	}
	if err := copied.QueryRowContext(ctx, `SELECT version FROM catalogue`).Scan(&b.Version); err != nil {
		return b, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return b, err
	}
	b.Size = info.Size()
	return b, nil
}

// integrity reads a whole SQLite database and returns ErrDamaged if something is wrong.
func integrity(ctx context.Context, db *sql.DB, name string) error {
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return problem(ErrDamaged, nil, "%s is damaged: restore it from a backup (%s)", name, found)
	}
	var orphans int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_foreign_key_check`).Scan(&orphans); err != nil {
		return err
	}
	if orphans > 0 {
		return problem(ErrDamaged, nil, "%s is damaged: %d rows refer to others that do not exist; restore it from a backup", name, orphans)
	}
	return nil
}

// syncFile makes a file and its name survive a power cut.
func syncFile(file string) error {
	for _, name := range []string{file, filepath.Dir(file)} {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
