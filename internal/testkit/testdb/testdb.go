// Package testdb opens databases with all tables for tests, as package node does for servers.
package testdb

import (
	"context"

	"palmares/internal/accountdb"
	"palmares/internal/catalogdb"
	"palmares/internal/deskdb"
	"palmares/internal/readerdb"
	"palmares/internal/sqldb"
)

// A DB is an open database.
type DB struct {
	SQL *sqldb.DB
	*AccountDB
	*CatalogDB
	*DeskDB
	*ReaderDB
}

// The names of what a DB embeds.
type (
	AccountDB = accountdb.Store
	CatalogDB = catalogdb.Store
	DeskDB    = deskdb.Store
	ReaderDB  = readerdb.Store
)

func init() { sqldb.Patience = 20 } // on a machine of any speed

// Open opens a database and creates its tables.
func Open(ctx context.Context, dsn string) (*DB, error) {
	db, err := sqldb.Open(ctx, dsn, sqldb.Config{
		Parts: []sqldb.Part{catalogdb.Part(), accountdb.Part(), deskdb.Part(), readerdb.Part()}, Counting: accountdb.CountStatement,
	})
	if err != nil {
		return nil, err
	}
	a := accountdb.New(db, accountdb.Rooms{
		Events: catalogdb.SelectEvents, EventsSince: catalogdb.EventsSince, SiteURL: catalogdb.SiteURL,
		IsEditor: deskdb.IsEditor, EndFollows: readerdb.EndFollows,
	})
	return &DB{db, a, catalogdb.New(db, a.Deliveries.Deliver, a.Mails.QueueStuck), deskdb.New(db), readerdb.New(db, a.Links)}, nil
}

// Close closes the database.
func (d *DB) Close() error { return d.SQL.Close() }

// State returns the version of the catalogue and the revision of accounts and keys.
func (d *DB) State(ctx context.Context) (version, keys int64, err error) {
	numbers, err := d.SQL.Poll(ctx, catalogdb.VersionQuery, accountdb.RevisionQuery)
	return numbers[0], numbers[1], err
}
