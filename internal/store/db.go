package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// db is what all nouns share: the pools, transactions and error messages.
type db struct {
	name    string // for error messages: the path or the server, never a password
	dialect dialect
	reads   *sql.DB
	lookups *sql.DB // for State and keys, which requests wait for; on SQLite it is reads
	writes  *sql.DB // on SQLite a single connection: it has one writer at a time
	sends   pools   // for webhooks and mails, which pages must not hold up

	alone         bool // no server may use it meanwhile: see OpenOffline
	faults        *faults
	unwritableFor time.Duration // see the constant

	writeWait time.Duration // how long a writer waits for another
	lockWait  time.Duration // on PostgreSQL how long it waits for a row, if that is less
	countWait time.Duration // on PostgreSQL how long the statement that counts may take
}

// pools are where a db reads and writes.
type pools struct{ reads, writes *sql.DB }

// sending returns a db for what sends webhooks and mails. It has its own connections, but
// for the only writer of SQLite.
func (s *db) sending() *db {
	d := *s
	d.reads, d.writes = s.sends.reads, s.sends.writes
	return &d
}

// defaultWriteWait is longer than the publication of a hundred thousand tools takes,
// which is what a writer on SQLite may have to wait for.
const defaultWriteWait = 30 * time.Second

// retryWait is for writes that are tried again soon anyway. It ends before the ten
// seconds that quota gives a save, so that the log says that the database is busy and
// not that time ran out.
const retryWait = 5 * time.Second

// withWait returns a db whose writes wait at most wait for another writer.
func (s *db) withWait(wait time.Duration) *db {
	d := *s
	d.writeWait = min(s.writeWait, wait)
	return &d
}

func (s *db) close() error {
	var err error
	if s.writes != nil && s.writes != s.reads {
		err = s.writes.Close()
	}
	for _, pool := range []*sql.DB{s.reads, s.sends.reads} {
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	if s.dialect != nil {
		err = errors.Join(err, s.dialect.close())
	}
	return err
}

// read runs fn in a transaction that sees one state of the database, whatever is
// written meanwhile. SQLite gives that to every reader; PostgreSQL under REPEATABLE
// READ.
func (s *db) read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.reads.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return s.explain(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	return s.explain(ctx, fn(tx))
}

// The limits of a small write on PostgreSQL: if its node vanishes, even during the
// commit, the rows that it locked are free again after idleLimit. Whoever waits for
// them waits longer than that.
const (
	idleLimit      = 5 * time.Second
	lockLimit      = 8 * time.Second
	statementLimit = 10 * time.Second
)

// writeLimits end a transaction on PostgreSQL. Zero is no limit.
type writeLimits struct {
	lock, statement, idle time.Duration
}

// write runs fn in a transaction and commits it, or nothing of it. It waits for
// another writer for writeWait.
func (s *db) write(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.explain(ctx, s.tryWrite(ctx, writeLimits{min(s.writeWait, s.lockWait), statementLimit, idleLimit}, fn))
}

// writeLarge is write for publications and migrations, which may take minutes: a
// publication compares a whole catalogue between two statements, and a migration may
// rewrite a table.
func (s *db) writeLarge(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.explain(ctx, s.tryWrite(ctx, writeLimits{lock: s.writeWait}, fn))
}

func (s *db) tryWrite(ctx context.Context, limits writeLimits, fn func(*sql.Tx) error) error {
	if err := s.dialect.present(); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, s.writeWait)
	defer cancel()
	conn, err := s.writes.Conn(waiting)
	if err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			return busy(s.name, err)
		}
		return err
	}
	defer conn.Close()
	// The transaction lives under ctx, not under waiting: only getting it is limited.
	tx, err := conn.BeginTx(ctx, nil)
	for isBusy(err) && waiting.Err() == nil {
		tx, err = conn.BeginTx(ctx, nil) // which on SQLite waits up to busyTimeout
	}
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing left to undo
	if err := s.dialect.limitWrite(ctx, tx, limits); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// writeKeys is write for changes of accounts or keys: it raises the revision by which
// every node notices them.
func (s *db) writeKeys(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return s.raiseRevision(ctx, tx)
	})
}

// raiseRevision announces to every node that accounts or keys have changed. It comes
// last in its transaction, since on PostgreSQL every other change of keys waits for
// this row.
func (s *db) raiseRevision(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `UPDATE account_state SET revision = revision + 1`); err != nil {
		return err
	}
	return s.dialect.notify(ctx, tx)
}

// inBatches runs step, each time in its own transaction, until one deletes fewer than
// size rows.
func (s *db) inBatches(ctx context.Context, size int64, step func(*sql.Tx) (int64, error)) error {
	for {
		var deleted int64
		err := s.withWait(retryWait).write(ctx, func(tx *sql.Tx) (err error) {
			deleted, err = step(tx)
			return err
		})
		if err != nil || deleted < size {
			return err
		}
	}
}

// pruneRows is how many rows deleteRows deletes in one transaction: a day may have counts
// of a million networks, and other writers must not wait for all of them.
const pruneRows = 5000

// deleteRows runs a DELETE of the rows before $1, at most $2 of them, until none is left.
func (s *db) deleteRows(ctx context.Context, query, before string) error {
	return s.inBatches(ctx, pruneRows, func(tx *sql.Tx) (int64, error) {
		done, err := tx.ExecContext(ctx, query, before, pruneRows)
		if err != nil {
			return 0, err
		}
		return done.RowsAffected()
	})
}

// untilFree repeats fn while another process has the SQLite file to itself: one that
// creates it, changes its mode (which fails for others at once, without the busy
// timeout) or is the last to close it. On a busy machine that takes longer than the
// busy timeout.
func (s *db) untilFree(ctx context.Context, fn func() error) error {
	waiting, cancel := context.WithTimeout(ctx, s.writeWait)
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
