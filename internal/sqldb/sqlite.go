package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite" // without cgo, and it binds $2, $1, $2 as written: see TestPlaceholdersBindByNumber
	sqlite3 "modernc.org/sqlite/lib"

	"palmares/internal/osfile"
)

// applicationID marks a SQLite file as ours: "PLMS" in the header field made for it.
const applicationID = 0x504c4d53

// busyTimeout is how long one attempt to become the writer waits inside SQLite, where
// a cancelled context cannot reach it. tryWrite repeats the attempt.
const busyTimeout = 200 * time.Millisecond

// sqliteDialect is a SQLite file: one node, and one writer at a time.
type sqliteDialect struct {
	name   string
	writes *sql.DB
	fresh  *sql.DB     // keeps no connection: each has an empty cache
	file   os.FileInfo // of the file that was opened; nil until it exists
	lock   *os.File    // nil unless this process is the server
}

func (s *DB) openSQLite(ctx context.Context, path string) error {
	if path == "" || path == ":memory:" {
		return Problem(ErrNotADatabase, nil, "sqlite: needs the path of a file, as in sqlite:data/palmares.db")
	}
	path, err := filepath.Abs(path) // the process may change folder; connections are opened at any time
	if err != nil {
		return err
	}
	s.name = path
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return Problem(ErrNotADatabase, nil, "%s is a folder: give the path of a file, as in sqlite:%s",
			path, filepath.Join(path, "palmares.db"))
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return Problem(ErrReadOnly, err, "the folder of %s cannot be created (%v): choose another path, "+
				"or let this user write there", path, err)
		}
		// It holds email addresses; SQLite gives its other files the same mode. Connections
		// never create it: one that is opened after the file vanished would.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return Problem(ErrReadOnly, err, "%s cannot be created (%v): choose another path, or let this user write there",
				path, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	case err != nil:
		return Problem(ErrReadOnly, err, "%s cannot be opened: %v", path, err)
	}
	if err := s.openSQLitePools(path); err != nil {
		return err
	}
	// Before anything is written to a file that may not be ours.
	if err := s.untilFree(ctx, func() error { _, err := s.dialect.hasTables(ctx, s.writes); return err }); err != nil {
		return err
	}
	s.dialect.(*sqliteDialect).file, err = os.Stat(path)
	if err != nil {
		return err
	}
	// WAL lets readers go on while a writer writes. The mode is kept in the file.
	return s.untilFree(ctx, func() error {
		var mode string
		return s.writes.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	})
}

func (s *DB) openSQLitePools(path string) (err error) {
	open := func(connections int, busy time.Duration, params ...string) *sql.DB {
		pool, failed := sql.Open("sqlite", sqliteURI(path, busy, params...))
		if failed != nil {
			err = failed
			return nil
		}
		pool.SetMaxOpenConns(connections) // 0: as many as there are queries
		pool.SetMaxIdleConns(connections)
		return pool
	}
	// FULL: a commit is on the disk before Publish returns, so that what was announced
	// survives a power cut, not only a killed process, for which NORMAL would do. It
	// costs one sync for each commit, and commits are few.
	// secure_delete: what is deleted is overwritten, not left in free pages: the keys
	// of past days, the addresses of deleted accounts.
	s.writes = open(1, busyTimeout, "_txlock", "immediate", "_foreign_keys", "on", "_synchronous", "FULL",
		"_pragma", "secure_delete(1)",
		"_pragma", "journal_size_limit(67108864)") // a large publication leaves no large log behind
	s.reads = open(4, 10*time.Second, "_query_only", "on")
	s.lookups = s.reads
	s.sends = pools{reads: open(2, 10*time.Second, "_query_only", "on"), writes: s.writes}
	fresh := open(0, busyTimeout, "_query_only", "on")
	// To SQLite there is no round trip, and its driver looks up each placeholder's name among all of
	// them. A hundred rows at once made the first publication of 100,000 tools three times slower
	// than a few.
	s.placeholders = 50
	s.dialect = &sqliteDialect{name: s.name, writes: s.writes, fresh: fresh}
	return err
}

// sqliteURI names a file with any character in it, and how to open it.
func sqliteURI(path string, busy time.Duration, params ...string) string {
	q := url.Values{
		"_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)}, "_dqs": {"0"}, "_error_rc": {"1"}, "mode": {"rw"},
	}
	for i := 0; i < len(params); i += 2 {
		q.Add(params[i], params[i+1])
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return u.String()
}

func (*sqliteDialect) limitWrite(context.Context, *sql.Tx, writeLimits) error { return nil }

func (*sqliteDialect) lookup(_ context.Context, query func() error) error { return query() }

func (*sqliteDialect) polled(context.Context, error) {}

func (*sqliteDialect) counted(error) {}

func (*sqliteDialect) discardIdle() {}

// notify does nothing: there are no other nodes, and other processes poll often enough.
func (*sqliteDialect) notify(context.Context, *sql.Tx) error { return nil }

func (*sqliteDialect) listen(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}

func (*sqliteDialect) schemaContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// hasTables refuses a file that has tables but not our mark. Litestream, which copies the file as it
// is written, may be the first to open it, and has two tables of its own there.
func (d *sqliteDialect) hasTables(ctx context.Context, q Queryer) (bool, error) {
	var id, tables int
	if err := q.QueryRowContext(ctx, `SELECT application_id, (SELECT count(*) FROM sqlite_schema
		WHERE name NOT GLOB '_litestream_*') FROM pragma_application_id`).Scan(&id, &tables); err != nil {
		return false, err
	}
	if id != applicationID && (id != 0 || tables != 0) {
		return false, ProblemWith(d.name, ErrForeignFile, "%s is the database of another program", d.name)
	}
	return id == applicationID, nil
}

// lockSchema does nothing: the transaction itself is the lock.
func (*sqliteDialect) lockSchema(context.Context, *sql.Tx) error { return nil }

func (*sqliteDialect) markOurs(ctx context.Context, tx *sql.Tx) error {
	return Exec(ctx, tx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
}

// isBusy reports whether SQLite has another writer.
func (*sqliteDialect) isBusy(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_BUSY
}

func (d *sqliteDialect) explain(err error) error {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return err
	}
	code := lite.Code() & 0xff
	if gone := d.present(); code == sqlite3.SQLITE_CANTOPEN && gone != nil {
		return gone
	}
	switch code {
	case sqlite3.SQLITE_BUSY:
		return busy(d.name, err)
	case sqlite3.SQLITE_FULL:
		return full(d.name, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		if osfile.IsReadOnly(d.name) {
			return Problem(ErrReadOnly, err, "%s cannot be written: its file system is read-only; mount it for writing, and "+
				"look into the system's log (dmesg) if it was before", d.name)
		}
		return Problem(ErrReadOnly, err, "%s cannot be written: the file and its folder must belong to the user that runs "+
			"palmares", d.name)
	case sqlite3.SQLITE_NOTADB:
		return Problem(ErrNotSQLite, err, "%s is not a SQLite database", d.name)
	case sqlite3.SQLITE_CORRUPT:
		return Problem(ErrDamaged, err, "%s is damaged: restore it from a backup (%v)", d.name, err)
	case sqlite3.SQLITE_IOERR:
		return Problem(ErrDisk, err, "%s cannot be read or written: check its disk and the system's log (%v)", d.name, err)
	}
	return fmt.Errorf("%s: %w", d.name, err)
}

// purgeWait is longer than our own readers take. A reader of another program may take
// hours and is not waited for.
const purgeWait = 3 * time.Second

// purge moves the write-ahead log into the file and empties it, so that pages as they
// were before a deletion do not remain in it. A reader in a transaction prevents that;
// what then remains is overwritten as the log is used again, and removed by the next
// call. Litestream is always such a reader, so that no page leaves the log unseen, and
// moves pages into the file itself.
func (d *sqliteDialect) purge(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, purgeWait)
	defer cancel()
	for {
		var busy bool
		var frames, moved int
		// it waits busyTimeout
		err := d.writes.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
		if err != nil && !d.isBusy(err) || err == nil && !busy {
			return err
		}
		select {
		case <-waiting.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond): // others write in between
		}
	}
}

// lockTables does nothing: the transaction is the only writer.
func (*sqliteDialect) lockTables(context.Context, *sql.Tx, []string) error { return nil }

// offline keeps servers from starting, too.
func (d *sqliteDialect) offline(context.Context) error { return d.claim() }

// claim locks a file beside the database. Not the database: when a process closes any
// descriptor of that, the kernel drops SQLite's locks.
func (d *sqliteDialect) claim() error {
	path, err := filepath.EvalSymlinks(d.name)
	if err != nil {
		return err
	}
	path += "-lock"
	lock, ok, err := osfile.Lock(path)
	if err != nil {
		return Problem(ErrReadOnly, err, "%s cannot be locked, which a server must do (%v): let this user write it, "+
			"on a disk of this machine", path, err)
	}
	if !ok {
		return ProblemWith(d.name, ErrServed, "another palmares serve uses %s: stop that one first; "+
			"for several servers use PostgreSQL", d.name)
	}
	d.lock = lock
	return nil
}

func (d *sqliteDialect) present() error {
	if d.file == nil {
		return nil
	}
	now, err := os.Stat(d.name)
	switch {
	case err != nil:
		return Problem(ErrVanished, err, "%s is gone (%v): nothing can be stored; stop palmares, "+
			"put the file back from a backup and start it again", d.name, err)
	case !os.SameFile(d.file, now):
		return Problem(ErrVanished, nil, "%s is not the file that was opened: it was replaced, and nothing can be stored; "+
			"restart palmares to use the new one", d.name)
	}
	return nil
}

// inspect reads the first pages and the roots of tables, which a file that was
// overwritten or cut does not have. Reading all of a large file would take minutes.
func (d *sqliteDialect) inspect(ctx context.Context) error {
	if err := d.present(); err != nil {
		return err
	}
	err := d.readRoots(ctx)
	if d.isBusy(err) {
		return nil
	}
	return err
}

func (d *sqliteDialect) readRoots(ctx context.Context) error {
	conn, err := d.fresh.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	names, err := Rows(ctx, conn, `SELECT name FROM sqlite_schema WHERE type = 'table'`, ScanText)
	if err != nil || len(names) == 0 {
		return err
	}
	var found int64
	query := "SELECT EXISTS (SELECT 1 FROM " + strings.Join(names, ") + EXISTS (SELECT 1 FROM ") + ")"
	return conn.QueryRowContext(ctx, query).Scan(&found)
}

func (d *sqliteDialect) close() error {
	err := d.fresh.Close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}
