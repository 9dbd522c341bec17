package sqldb

import (
	"context"
	"database/sql"
	"time"
)

// A dialect is what SQLite and PostgreSQL do differently. Everything else runs the same
// statements on both.
type dialect interface {
	// limitWrite sets limits for the rest of a transaction.
	limitWrite(ctx context.Context, tx *sql.Tx, limits writeLimits) error

	// lookup runs a query on the lookup pool. When its connection turns out to be broken,
	// the query runs again on a new one.
	lookup(ctx context.Context, query func() error) error
	// polled is called with the outcome of each Poll, to keep the lookup pool ready.
	polled(ctx context.Context, err error)
	// counted is called with the outcome of each DB.Count.
	counted(err error)
	// discardIdle has every idle connection replaced before its next use. It is called
	// when one hung or broke.
	discardIdle()

	// notify wakes every node that listens, when the transaction commits.
	notify(ctx context.Context, tx *sql.Tx) error
	// listen is DB.Listen.
	listen(ctx context.Context, wake func()) error

	// schemaContext limits how long the version of the tables may take to read.
	schemaContext(ctx context.Context) (context.Context, context.CancelFunc)
	// hasTables reports whether our tables exist. ErrNotOurs: the database belongs to
	// another program.
	hasTables(ctx context.Context, q Queryer) (bool, error)
	// lockSchema lets one process at a time migrate, until the end of the transaction.
	lockSchema(ctx context.Context, tx *sql.Tx) error
	// markOurs marks a database without tables as ours.
	markOurs(ctx context.Context, tx *sql.Tx) error

	// lockTables lets nobody else write to tables until the end of the transaction.
	lockTables(ctx context.Context, tx *sql.Tx, tables []string) error

	// claim is DB.Claim.
	claim() error
	// offline returns ErrServed if a server uses the database.
	offline(ctx context.Context) error
	// present returns an error if what was opened is no longer where its name leads, so
	// that what is written would be lost.
	present() error
	// inspect is present, and reads what a connection may have in its cache from the disk.
	inspect(ctx context.Context) error

	// isBusy reports whether another writer is in the way.
	isBusy(err error) bool
	// explain turns an error of the driver into a message for whoever runs the program.
	// It returns other errors as they are.
	explain(err error) error
	// backup writes a verified copy to a file: see Backup.
	backup(ctx context.Context, file string, verify func(Queryer) error) error
	// purge is DB.Purge.
	purge(ctx context.Context) error
	// close closes what only this dialect has, after the pools of DB.
	close() error
}

// The limits of a small write on PostgreSQL: if its node vanishes, even during the
// commit, the rows that it locked are free again after idleLimit. Whoever waits for
// them waits longer than that.
const (
	idleLimit      = 5 * time.Second
	lockLimit      = 8 * time.Second
	statementLimit = 10 * time.Second
)

// Patience multiplies the time that PostgreSQL has to connect, for a statement and for an idle transaction. Only tests
// change it, which must pass on a machine of any speed.
var Patience time.Duration = 1

// writeLimits end a transaction on PostgreSQL. Zero is no limit.
type writeLimits struct {
	lock, statement, idle time.Duration
}
