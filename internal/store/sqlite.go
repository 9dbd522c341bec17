package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // without cgo, and it binds $2, $1, $2 as written: see TestPlaceholdersBindByNumber
)

// applicationID marks a SQLite file as ours: "PLMS" in the header field made for it.
const applicationID = 0x504c4d53

// busyTimeout is how long one attempt to become the writer waits inside SQLite,
// where a cancelled context cannot reach it. write repeats the attempt.
const busyTimeout = 200 * time.Millisecond

func (s *Store) openSQLite(ctx context.Context, path string) error {
	if path == "" || path == ":memory:" {
		return problem(ErrNotADatabase, nil, "sqlite: needs the path of a file, as in sqlite:data/palmares.db")
	}
	path, err := filepath.Abs(path) // the process may change folder; connections are opened at any time
	if err != nil {
		return err
	}
	s.name = path
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return problem(ErrNotADatabase, nil, "%s is a folder: give the path of a file, as in sqlite:%s", path, filepath.Join(path, "palmares.db"))
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return problem(ErrReadOnly, err, "the folder of %s cannot be made (%v): choose another path, or let this user write there", path, err)
		}
	case err != nil:
		return problem(ErrReadOnly, err, "%s cannot be opened: %v", path, err)
	}

	// FULL: a commit is on the disk before Publish returns, so that what was announced
	// survives a power cut, not only a killed process, for which NORMAL would do. It
	// costs one sync for each commit, and commits are few.
	// secure_delete: what is deleted is overwritten, not left in free pages: the keys
	// of past days, the addresses of accounts that are no more.
	s.writes, err = sql.Open("sqlite", sqliteURI(path, busyTimeout,
		"_txlock", "immediate", "_foreign_keys", "on", "_synchronous", "FULL",
		"_pragma", "secure_delete(1)",
		"_pragma", "journal_size_limit(67108864)")) // a large publication leaves no large log behind
	if err != nil {
		return err
	}
	s.writes.SetMaxOpenConns(1)
	s.reads, err = sql.Open("sqlite", sqliteURI(path, 10*time.Second, "_query_only", "on"))
	if err != nil {
		return err
	}
	s.reads.SetMaxOpenConns(4)
	s.reads.SetMaxIdleConns(4)

	// Before anything is written to a file that may not be ours.
	if err := s.untilFree(ctx, func() error { _, err := s.schema(ctx, s.writes); return err }); err != nil {
		return err
	}
	if info == nil {
		// It holds addresses; SQLite gives its other files the same mode.
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
	}
	// WAL lets readers go on while a writer writes. The mode is kept in the file.
	return s.untilFree(ctx, func() error {
		var mode string
		return s.writes.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	})
}

// untilFree repeats fn while another process has the file to itself: one that makes
// it, that changes its mode (which others are told of at once, without the busy
// timeout) or that is the last to close it. On a busy machine that takes longer
// than the busy timeout.
func (s *Store) untilFree(ctx context.Context, fn func() error) error {
	waiting, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for {
		err := fn()
		if !isBusy(err) {
			return err
		}
		select {
		case <-waiting.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// clearLog moves the write-ahead log into the file and empties it, so that pages as
// they were before a deletion do not live on in it. Readers in the middle of a
// transaction prevent that: ours are done in moments and waited for; one of another
// program may take hours, and is not. What is left then is overwritten as the log is
// used again, and cleared with the next call.
func (s *Store) clearLog(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, min(s.patience, 3*time.Second))
	defer cancel()
	for {
		var busy bool
		var frames, moved int
		err := s.writes.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved) // it waits busyTimeout
		if err != nil && !isBusy(err) || err == nil && !busy {
			return err
		}
		select {
		case <-waiting.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond): // others write in between
		}
	}
}

// sqliteURI names a file with any character in it, and how to open it.
func sqliteURI(path string, busy time.Duration, params ...string) string {
	q := url.Values{"_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)}, "_dqs": {"0"}, "_error_rc": {"1"}}
	for i := 0; i < len(params); i += 2 {
		q.Add(params[i], params[i+1])
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return u.String()
}
