package store

import (
	"context"
	"database/sql"

	"palmares/internal/quota"
)

// A dialect is what SQLite and PostgreSQL do differently. Everything else in this
// package runs the same statements on both.
type dialect interface {
	// shared reports whether several nodes may use the database at once.
	shared() bool
	// placeholders returns how many placeholders one statement should have at most when
	// rows are written or looked up in batches.
	placeholders() int

	// lockClause returns clause, the end of a SELECT that locks rows, or "" where a
	// writer has the whole database to itself.
	lockClause(clause string) string
	// lockRows runs a SELECT that locks rows, if rows need to be locked.
	lockRows(ctx context.Context, tx *sql.Tx, query string, args ...any) error
	// limitWrite sets limits for the rest of a transaction.
	limitWrite(ctx context.Context, tx *sql.Tx, limits writeLimits) error

	// lookup runs a query on the lookup pool. When its connection turns out to be broken,
	// the query runs again on a new one.
	lookup(ctx context.Context, query func() error) error
	// stateRead is called with the outcome of each State, to keep the lookup pool ready.
	stateRead(ctx context.Context, err error)
	// discardIdle has every idle connection replaced before its next use. It is called
	// when one hung or broke.
	discardIdle()

	// notify wakes every node that listens, when the transaction commits.
	notify(ctx context.Context, tx *sql.Tx) error
	// listen is Store.Listen.
	listen(ctx context.Context, wake func()) error
	// count is Usage.Count.
	count(ctx context.Context, day string, asked quota.Usage) (quota.Tally, error)

	// schemaContext limits how long the version of the tables may take to read.
	schemaContext(ctx context.Context) (context.Context, context.CancelFunc)
	// hasTables reports whether our tables exist. ErrNotOurs: the database belongs to
	// another program.
	hasTables(ctx context.Context, q queryer) (bool, error)
	// lockSchema lets one process at a time migrate, until the end of the transaction.
	lockSchema(ctx context.Context, tx *sql.Tx) error
	// markOurs marks a database without tables as ours.
	markOurs(ctx context.Context, tx *sql.Tx) error

	// lockTables lets nobody else write to tables until the end of the transaction.
	lockTables(ctx context.Context, tx *sql.Tx, tables []string) error

	// claim is Store.Claim.
	claim() error
	// offline returns ErrServed if a server uses the database.
	offline(ctx context.Context) error
	// present returns an error if what was opened is no longer where its name leads, so
	// that what is written would be lost.
	present() error
	// inspect is present, and reads what a connection may have in its cache from the disk.
	inspect(ctx context.Context) error

	// examine adds what Examine finds in this kind of database.
	examine(ctx context.Context, e *examination) error

	// explain turns an error of the driver into a message for whoever runs the program.
	// It returns other errors as they are.
	explain(err error) error
	// purge removes from the disk what was deleted, as far as that is possible.
	purge(ctx context.Context) error
	// close closes what only this dialect has, after the pools of db.
	close() error
}
