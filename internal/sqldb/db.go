package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// A DB is an open database: the pools, transactions and error messages. Open creates it,
// Close ends it, and any number of goroutines may use it in between.
type DB struct {
	name    string // for error messages: the path or the server, never a password
	dialect dialect
	reads   *sql.DB
	lookups *sql.DB // for what requests wait for; on SQLite it is reads
	writes  *sql.DB // on SQLite a single connection: it has one writer at a time
	sends   pools   // see Sending
	counts  *sql.DB // for Count; nil on SQLite
	parts   []Part

	shared       bool // see Shared
	placeholders int  // see Placeholders

	alone         bool // no server may use it meanwhile: see OpenOffline
	faults        *faults
	unwritableFor time.Duration // see the constant

	writeWait time.Duration // how long a writer waits for another
	lockWait  time.Duration // on PostgreSQL how long it waits for a row, if that is less
}

type pools struct{ reads, writes *sql.DB }

// faults are failures that the next query may not show: a full disk stops writes and not
// reads, and damage shows only where it is.
type faults struct {
	unwritable atomic.Pointer[fault] // no space, or a disk that fails; nil for none
	damaged    atomic.Pointer[fault] // only another file ends it, and that needs a restart
}

type fault struct {
	err error
	at  time.Time
}

// note remembers an error if it is a fault.
func (f *faults) note(err error) {
	switch {
	case errors.Is(err, ErrFull), errors.Is(err, ErrDisk):
		f.unwritable.Store(&fault{err, time.Now()})
	case errors.Is(err, ErrDamaged):
		f.damaged.Store(&fault{err, time.Now()})
	}
}

// Name returns the path or the server, for error messages. It has no password.
func (d *DB) Name() string { return d.name }

// Shared reports whether several nodes may use the database at once, as on PostgreSQL: then
// they must Listen, and Count.
func (d *DB) Shared() bool { return d.shared }

// Sending returns a DB for what sends webhooks and mails, which pages must not hold up. It
// has its own connections, but for the only writer of SQLite.
func (d *DB) Sending() *DB {
	s := *d
	s.reads, s.writes = d.sends.reads, d.sends.writes
	return &s
}

// retryWait is for writes that are tried again soon anyway. It ends before the ten seconds
// that quota gives a save, so that the log says that the database is busy and not that time
// ran out.
const retryWait = 5 * time.Second

// Retried returns a DB for such writes.
func (d *DB) Retried() *DB { return d.waiting(retryWait) }

// Hasty returns a DB for writes that are not worth the time of whoever waits for a page.
func (d *DB) Hasty() *DB { return d.waiting(300 * time.Millisecond) }

func (d *DB) waiting(wait time.Duration) *DB {
	s := *d
	s.writeWait = min(d.writeWait, wait)
	return &s
}

// WithLockWait returns a DB whose writes wait at most wait for a row on PostgreSQL.
func WithLockWait(d *DB, wait time.Duration) *DB {
	s := *d
	s.lockWait = min(d.lockWait, wait)
	return &s
}

// Close waits for running transactions and closes every connection.
func (d *DB) Close() error {
	var err error
	for _, pool := range []*sql.DB{d.writes, d.reads, d.lookups, d.sends.reads, d.counts} { // some are the same
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	if d.dialect != nil {
		err = errors.Join(err, d.dialect.close())
	}
	return err
}

// Reads returns the pool for queries that need no transaction. Their errors go through
// Explain.
func (d *DB) Reads() *sql.DB { return d.reads }

// Read runs fn in a transaction that sees one state of the database, whatever is
// written meanwhile. SQLite gives that to every reader; PostgreSQL under REPEATABLE
// READ.
func (d *DB) Read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := d.reads.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return d.Explain(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	return d.Explain(ctx, fn(tx))
}

// Write runs fn in a transaction and commits it, or nothing of it. It waits a while for
// another writer, and then returns ErrBusy.
func (d *DB) Write(ctx context.Context, fn func(*sql.Tx) error) error {
	limits := writeLimits{min(d.writeWait, d.lockWait), Patience * statementLimit, Patience * idleLimit}
	return d.Explain(ctx, d.tryWrite(ctx, limits, fn))
}

// WriteLarge is Write for publications and migrations, which may take minutes: a
// publication compares a whole catalogue between two statements, and a migration may
// rewrite a table.
func (d *DB) WriteLarge(ctx context.Context, fn func(*sql.Tx) error) error {
	return d.Explain(ctx, d.tryWrite(ctx, writeLimits{lock: d.writeWait}, fn))
}

func (d *DB) tryWrite(ctx context.Context, limits writeLimits, fn func(*sql.Tx) error) error {
	if err := d.dialect.present(); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, d.writeWait)
	defer cancel()
	conn, err := d.writes.Conn(waiting)
	if err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			return busy(d.name, err)
		}
		return err
	}
	defer conn.Close()
	// The transaction lives under ctx, not under waiting: only getting it is limited.
	tx, err := conn.BeginTx(ctx, nil)
	for d.dialect.isBusy(err) && waiting.Err() == nil {
		tx, err = conn.BeginTx(ctx, nil) // which on SQLite waits up to busyTimeout
	}
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing left to undo
	if err := d.dialect.limitWrite(ctx, tx, limits); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Notify wakes every node that listens, when the transaction commits.
func (d *DB) Notify(ctx context.Context, tx *sql.Tx) error { return d.dialect.notify(ctx, tx) }

// Listen calls wake whenever a transaction notified, and each time that it has begun to
// listen, as it may have missed something. It blocks until ctx ends and then returns nil; a
// connection that breaks or goes silent is replaced. wake must be quick. On SQLite Listen
// only waits for the end.
func (d *DB) Listen(ctx context.Context, wake func()) error { return d.dialect.listen(ctx, wake) }

// Lookup runs a query that a request waits for. On PostgreSQL it has connections of its own,
// and runs again if its connection turns out to be broken. Reaching its deadline, which may
// be short, says nothing about the server.
func (d *DB) Lookup(ctx context.Context, query func(*sql.DB) error) error {
	err := d.dialect.lookup(ctx, func() error { return query(d.lookups) })
	return d.translate(ctx, err)
}

// Poll returns the numbers that queries return, which are read together and often: by them a
// node notices that something it keeps in memory has changed.
func (d *DB) Poll(ctx context.Context, queries ...string) ([]int64, error) {
	numbers, places := make([]int64, len(queries)), make([]any, len(queries))
	for i := range numbers {
		places[i] = &numbers[i]
	}
	query := "SELECT (" + strings.Join(queries, "), (") + ")"
	err := d.dialect.lookup(ctx, func() error {
		return d.lookups.QueryRowContext(ctx, query).Scan(places...)
	})
	d.dialect.polled(ctx, err)
	return numbers, d.Explain(ctx, err)
}

// Count runs a query on the connection that counts requests, which nothing else holds up. It
// must only be called if the database is Shared.
func (d *DB) Count(ctx context.Context, query func(*sql.DB) error) error {
	if d.counts == nil {
		return errors.New("SQLite has one node, which counts requests in memory")
	}
	err := query(d.counts)
	d.dialect.counted(err)
	return d.translate(ctx, err)
}

// Placeholders returns how many placeholders one statement should have at most when rows
// are written or looked up in batches.
func (d *DB) Placeholders() int { return d.placeholders }

// LockClause returns clause, the end of a SELECT that locks rows, or "" where a writer has
// the whole database to itself.
func (d *DB) LockClause(clause string) string {
	if !d.shared {
		return ""
	}
	return " " + clause
}

// LockRows runs a SELECT that ends with the clause, if rows need to be locked.
func LockRows(ctx context.Context, d *DB, tx *sql.Tx, query, clause string, args ...any) error {
	if !d.shared {
		return nil
	}
	return Exec(ctx, tx, query+" "+clause, args...)
}

// InTurn has transactions that call it run one after the other, so that what they count is exact.
func (d *DB) InTurn(ctx context.Context, tx *sql.Tx) error {
	return LockRows(ctx, d, tx, `SELECT version FROM palmares_schema`, "FOR UPDATE")
}

// AtMost returns ErrTooMany if a transaction leaves more than so many rows.
func AtMost(ctx context.Context, tx *sql.Tx, most int, what, from string, args ...any) error {
	n, err := Value[int](ctx, tx, `SELECT count(*) FROM `+from, args...)
	if err == nil && n > most {
		err = Problem(ErrTooMany, nil, "there are %d %s", most, what)
	}
	return err
}

// Claim makes this process the only server of a database that is not Shared, until Close
// or the end of the process. Other commands may use it meanwhile. ErrServed: another
// process is its server. On PostgreSQL it does nothing.
func (d *DB) Claim() error { return d.dialect.claim() }

// Purge removes from the disk what was deleted, as far as that is possible: not on
// PostgreSQL.
func (d *DB) Purge(ctx context.Context) error { return d.Explain(ctx, d.dialect.purge(ctx)) }

// Explain turns an error of the driver into a message for whoever runs the program.
// Errors that have a message already pass through. When the server hung or was
// unreachable, its idle connections are not used again.
func (d *DB) Explain(ctx context.Context, err error) error {
	err = d.translate(ctx, err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
		if d.dialect != nil { // Open may fail before there is one
			d.dialect.discardIdle()
		}
	}
	return err
}

// translate is Explain for callers with a timeout so short that reaching it says
// nothing about the server.
func (d *DB) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err() // the drivers name it in many ways
	}
	var message *Error
	if errors.As(err, &message) || d.dialect == nil {
		return err
	}
	err = d.dialect.explain(err)
	d.faults.note(err)
	return err
}

// pruneRows is how many rows DeleteRows deletes in one transaction: a day may have counts
// of a million networks, and other writers must not wait for all of them.
const pruneRows = 5000

// DeleteExpired deletes the rows of a table that ended before a time, but for those in use, which it leaves for the
// next call.
func DeleteExpired(ctx context.Context, d *DB, table, key string, before time.Time) error {
	return DeleteRows(ctx, d, fmt.Sprintf(`DELETE FROM %[1]s WHERE %[2]s IN (SELECT %[2]s FROM %[1]s
		WHERE expires_at <= $1 LIMIT $2%[3]s)`, table, key, d.LockClause("FOR UPDATE SKIP LOCKED")), FormatTime(before))
}

// DeleteRows runs a DELETE of the rows before $1, at most $2 of them, until none is left.
func DeleteRows(ctx context.Context, d *DB, query, before string) error {
	return InBatches(ctx, d, pruneRows, func(tx *sql.Tx) (int64, error) {
		return ExecRows(ctx, tx, query, before, pruneRows)
	})
}

// InBatches runs step, each time in its own transaction, until one deletes fewer than
// size rows.
func InBatches(ctx context.Context, d *DB, size int64, step func(*sql.Tx) (int64, error)) error {
	for {
		deleted, err := Write(ctx, d.Retried(), step)
		if err != nil || deleted < size {
			return err
		}
	}
}
