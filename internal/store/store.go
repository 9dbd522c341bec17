// Package store keeps the published catalogue, its events, the accounts, their
// keys and how often who asked. It is the only place with SQL.
//
// One text serves SQLite and PostgreSQL: `$1` placeholders, portable column types,
// ids and moments made in Go, sorting done in Go. What SQL leaves to each engine
// (locks, the first connection, error codes) stands in sqlite.go, postgres.go and
// errors.go, side by side with its reason. Everything else cannot tell which
// database it runs on, and one suite of tests runs on both.
//
// The catalogue changes only in Publish, in one transaction; readers see one
// version or the next, never a mix.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Store is an open database. Open makes it, Close ends it, and any number of
// goroutines use it in between.
type Store struct {
	name     string // for sentences: the path or the server, never a password
	postgres bool
	reads    *sql.DB
	hot      *sql.DB       // for what requests and the watch ask; on SQLite it is reads
	writes   *sql.DB       // on SQLite a single connection: it has one writer at a time
	patience time.Duration // how long a writer waits for another
	locks    time.Duration // and on PostgreSQL for a row, if that is less

	// Of PostgreSQL only.
	server  *pgx.ConnConfig // how to reach it
	wires   *wires          // all connections to it
	counts  *sql.DB         // the connection that counts
	doubted *atomic.Int64   // when a connection last hung or broke, in Unix nanoseconds

	hotDoubted, countDoubted *atomic.Int64 // the same of the hot ones, and of the one that counts
}

// defaultPatience outlasts the publication of a hundred thousand tools, which is
// what a writer on SQLite may have to wait for.
const defaultPatience = 30 * time.Second

// Open opens the database that dsn names, `sqlite:PATH` or `postgres://…`, makes
// it if it is a SQLite file that does not exist yet, and brings its tables up to date.
func Open(ctx context.Context, dsn string) (*Store, error) {
	s := &Store{patience: defaultPatience, locks: lockLimit}
	var err error
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		err = s.openSQLite(ctx, path)
		s.hot = s.reads
	} else if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		err = s.openPostgres(dsn)
	} else {
		// The text is not repeated: it may be an address with a password and a typo.
		return nil, errors.New("the database is neither sqlite:PATH nor postgres://USER@HOST/NAME: give one of the two")
	}
	if err == nil {
		err = s.migrate(ctx, migrations)
	}
	if err == nil {
		return s, nil
	}
	return nil, errors.Join(s.explain(ctx, err), s.Close())
}

// Close waits for the transactions under way and closes every connection.
func (s *Store) Close() error {
	var err error
	if s.counts != nil {
		err = errors.Join(s.counts.Close(), s.hot.Close())
	}
	if s.writes != nil && s.writes != s.reads {
		err = s.writes.Close()
	}
	if s.reads != nil {
		err = errors.Join(err, s.reads.Close())
	}
	if s.wires != nil {
		s.wires.cut()
	}
	return err
}

// State is what a node asks for again and again: whether anything that it holds in
// memory has changed.
type State struct {
	Version int64 // of the catalogue; 0 when nothing has been published
	Keys    int64 // rises with every change of an account or a key
}

// State reads the two counters, and nothing else.
func (s *Store) State(ctx context.Context) (State, error) {
	var st State
	err := s.ask(ctx, func() error {
		return s.hot.QueryRowContext(ctx, `
			SELECT (SELECT version FROM catalogue), (SELECT revision FROM account_state)`).Scan(&st.Version, &st.Keys)
	})
	switch {
	case err == nil:
		s.warm(ctx)
	case s.postgres:
		doubt(s.hotDoubted) // whoever asks is patient: it is not only slow
	}
	return st, s.explain(ctx, err)
}

// read runs fn in a transaction that sees the database as it was at one moment,
// whatever is written meanwhile. SQLite gives that to every reader; PostgreSQL
// gives it under REPEATABLE READ.
func (s *Store) read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.reads.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return s.explain(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // there is nothing to lose
	return s.explain(ctx, fn(tx))
}

// The limits of a small write on PostgreSQL: should its node vanish, even with the
// commit under way, the rows that it holds are free again after idleLimit. Whoever
// waits for them outlasts that.
const (
	idleLimit      = 5 * time.Second
	lockLimit      = 8 * time.Second
	statementLimit = 10 * time.Second
)

// write runs fn in a transaction and commits it, or nothing of it. It waits for
// another writer as long as the store's patience lasts.
func (s *Store) write(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.explain(ctx, s.tryWrite(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d",
		min(s.patience, s.locks).Milliseconds(), statementLimit.Milliseconds(), idleLimit.Milliseconds()), fn))
}

// writeMuch is write for what may take its time: a publication compares a whole
// catalogue between two statements, and a migration may rewrite a table. Neither is
// ended for that.
func (s *Store) writeMuch(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.explain(ctx, s.tryWrite(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0",
		s.patience.Milliseconds()), fn))
}

// tryWrite sets limits on PostgreSQL, where it is the row that is waited for, later.
func (s *Store) tryWrite(ctx context.Context, limits string, fn func(*sql.Tx) error) error {
	waiting, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	conn, err := s.writes.Conn(waiting)
	if err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			return s.busy(err)
		}
		return err
	}
	defer conn.Close()
	// The transaction lives under ctx, not under waiting: only getting it is limited.
	tx, err := conn.BeginTx(ctx, nil)
	for isBusy(err) && waiting.Err() == nil {
		tx, err = conn.BeginTx(ctx, nil) // SQLite waited busyTimeout in there
	}
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing left to undo
	if s.postgres {
		if _, err := tx.ExecContext(ctx, limits); err != nil {
			return err
		}
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Moments are stored as text of one width, so that they sort as they happened.
const moment = "2006-01-02T15:04:05.000Z"

// formatTime gives "" for the zero time, which means never.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(moment)
}

func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(moment, s)
}
