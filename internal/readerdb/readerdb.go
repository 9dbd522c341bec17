// Package readerdb keeps what readers report and follow, and how often pages are read.
package readerdb

import (
	"embed"

	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Part returns the tables of this package.
func Part() sqldb.Part { return sqldb.Part{Migrations: migrations} }

// A Store is the tables of readers.
type Store struct {
	Reports    *Reports
	Readership *Readership
	Follows    *Follows
}

// New returns the tables of readers in a database. Their requests are counted, and their links kept, by links.
func New(db *sqldb.DB, links *accountdb.Links) *Store {
	return &Store{&Reports{db: db, links: links}, &Readership{db}, &Follows{db: db, links: links}}
}
