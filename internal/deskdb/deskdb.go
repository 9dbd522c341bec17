// Package deskdb keeps the people of the desk, their working copies and the private links to these. They belong to the
// operator: an account that is deleted leaves them.
package deskdb

import (
	"embed"

	"palmares/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Part returns the tables of this package.
func Part() sqldb.Part { return sqldb.Part{Migrations: migrations} }

// A Store is the tables of the desk.
type Store struct {
	Editors *Editors
	Copies  *Copies
	Shares  *Shares
}

// New returns the tables of the desk in a database.
func New(db *sqldb.DB) *Store { return &Store{&Editors{db}, &Copies{db}, &Shares{db}} }
