// Package testdb opens databases with all tables for tests, as package node does for servers.
package testdb

import (
	"context"

	"palmares/internal/accountdb"
	"palmares/internal/catalogdb"
	"palmares/internal/sqldb"
)

// A DB is an open database.
type DB struct {
	SQL *sqldb.DB
	*AccountDB
	*CatalogDB
}

// The names of what a DB embeds.
type (
	AccountDB = accountdb.Store
	CatalogDB = catalogdb.Store
)

func init() { sqldb.Patience = 20 } // on a machine of any speed

// Open opens a database and creates its tables.
func Open(ctx context.Context, dsn string) (*DB, error) {
	db, err := sqldb.Open(ctx, dsn, sqldb.Config{
		Parts: []sqldb.Part{catalogdb.Part(), accountdb.Part()}, Counting: accountdb.CountStatement,
	})
	if err != nil {
		return nil, err
	}
	a := accountdb.New(db)
	return &DB{db, a, catalogdb.New(db, a.Deliveries.Deliver, a.Mails.QueueStuck)}, nil
}

// Close closes the database.
func (d *DB) Close() error { return d.SQL.Close() }

// State returns the version of the catalogue and the revision of accounts and keys.
func (d *DB) State(ctx context.Context) (version, keys int64, err error) {
	numbers, err := d.SQL.Poll(ctx, catalogdb.VersionQuery, accountdb.RevisionQuery)
	return numbers[0], numbers[1], err
}
