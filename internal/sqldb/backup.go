package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"palmares/internal/osfile"
)

// Backup writes a copy of a SQLite database to a new file, verifies it, makes sure that it
// is on the disk, and returns its size. Readers and writers go on meanwhile. A file that
// exists is refused. It calls also with the copy.
func Backup(ctx context.Context, d *DB, file string, also func(Queryer) error) (size int64, err error) {
	if d.Shared() {
		return 0, Problem(ErrNotSQLite, nil, "%s is not a SQLite file: make a backup with pg_dump", d.name)
	}
	if _, err := os.Lstat(file); err == nil {
		return 0, fmt.Errorf("%s exists: choose another name, or move it away", file)
	}
	beside := filepath.Dir(file)
	dir, err := osfile.TempDir(beside)
	if errors.Is(err, fs.ErrPermission) {
		return 0, fmt.Errorf("permission denied to write in %s: choose another folder, or have your shell write the "+
			"file: `palmares backup - >FILE`", beside)
	}
	if err != nil {
		return 0, fmt.Errorf("nothing can be written beside %s: %w", file, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := osfile.RemoveLeftovers(beside); err != nil {
		return 0, fmt.Errorf("what a backup that was killed has left in %s cannot be removed: %w", beside, err)
	}
	partial := filepath.Join(dir, "partial.db")
	if err := os.WriteFile(partial, nil, 0o600); err != nil { // whatever the umask is
		return 0, err
	}
	if _, err := d.writes.ExecContext(ctx, "VACUUM INTO $1", partial); err != nil {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		return 0, fmt.Errorf("the backup cannot be written to %s: %w", beside, err)
	}
	size, err = verifyBackup(ctx, partial, also)
	if err != nil {
		return 0, err
	}
	if err := os.Link(partial, file); err != nil { // unlike a rename, it replaces nothing
		return 0, err
	}
	return size, syncFile(file)
}

// verifyBackup reads all of a copy.
func verifyBackup(ctx context.Context, file string, also func(Queryer) error) (size int64, err error) {
	copied, err := sql.Open("sqlite", sqliteURI(file, busyTimeout, "_query_only", "on"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	if err := integrity(ctx, copied, file); err != nil {
		return 0, err
	}
	if err := also(copied); err != nil {
		return 0, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// integrity reads a whole SQLite database and returns ErrDamaged if something is wrong.
func integrity(ctx context.Context, db *sql.DB, name string) error {
	found, err := Value[string](ctx, db, `PRAGMA integrity_check(1)`)
	if err != nil {
		return err
	}
	if found != "ok" {
		return Problem(ErrDamaged, nil, "%s is damaged: restore it from a backup (%s)", name, found)
	}
	orphans, err := Value[int](ctx, db, `SELECT count(*) FROM pragma_foreign_key_check`)
	if err != nil {
		return err
	}
	if orphans > 0 {
		return Problem(ErrDamaged, nil, "%s is damaged: %d rows refer to others that do not exist; restore it from a backup",
			name, orphans)
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
