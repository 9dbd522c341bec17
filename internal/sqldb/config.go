// Package sqldb runs SQL on SQLite and PostgreSQL: connection pools, transactions, error
// messages, migrations, copies and backups. It knows no table but the one with the version
// of all others: the packages that keep them give it their migrations.
//
// One SQL text serves both databases: `$1` placeholders, portable column types, ids and
// times made in Go. Text is sorted in Go, or by columns whose order is the same under every
// collation (ids, times, numbers). What the two do differently is in their dialect,
// sqlite.go and postgres.go. One test suite runs on both.
package sqldb

import (
	"context"
	"database/sql"
	"io/fs"
	"time"
)

// A Config is what a database is opened with.
type Config struct {
	// Parts are the tables, in the order in which they are created.
	Parts []Part
	// Counting is the usual statement of DB.Count, which PostgreSQL prepares; "" for none.
	Counting string
	// WriteWait is how long a writer waits for another. Zero is the usual time.
	WriteWait time.Duration
}

// A Part is the tables of one package.
type Part struct {
	// Migrations has files `migrations/0001_what.sql`, which lead from an empty database to
	// the tables of this program. From the first release on they only go forward: a file is
	// never changed, and the next has a higher number than those of all parts. No table
	// refers to one of another part.
	Migrations fs.FS
	// Singletons are tables that have one row from the beginning, and the condition by which
	// it is still the first.
	Singletons map[string]string
	// Created completes a database in the transaction that creates it, and Opened whenever it
	// was opened. They may be nil.
	Created func(ctx context.Context, db *DB, tx *sql.Tx) error
	Opened  func(ctx context.Context, db *DB) error
}

// defaultWriteWait is longer than the publication of a hundred thousand tools takes,
// which is what a writer on SQLite may have to wait for.
const defaultWriteWait = 30 * time.Second

// CountTimeout is for the statement that counts: by then the response has been sent
// without it. It is a variable for tests on machines of any speed.
var CountTimeout = 250 * time.Millisecond
