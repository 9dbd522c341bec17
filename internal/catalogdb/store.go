// Package catalogdb keeps the published catalogue: its records and pictures, the log of
// publications and events, and what a mirror knows of its origin.
//
// The catalogue changes only in Catalogue.Publish, in one transaction; readers see
// one version or the next, never a mix.
//
// A catalogue is the documents of the table records, and they are the feed of its changes.
// The document of a public record is its canonical form, the bytes that its hash names and
// that are given away. What that does not say is in the column private: which entries of
// histories were added by publications, and the bodies of a catalogue that gives none away.
// URLs that are the default are written into documents and dropped when these are read.
// Records that the public does not see have rows that are not public and no position:
// comparisons that are not published, what is kept of tools that are no longer active, and
// what pictures are. Documents are read leniently, as a later release may have written them;
// former_records has those that the last versions replaced.
package catalogdb

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

	"palmares/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Part returns the tables of this package.
func Part() sqldb.Part {
	return sqldb.Part{
		Migrations: migrations,
		Singletons: map[string]string{"catalogue": "version = 0"},
		Created: func(ctx context.Context, db *sqldb.DB, tx *sql.Tx) error {
			if err := writeFirstFeed(ctx, tx); err != nil {
				return err
			}
			return writeView(ctx, db, tx)
		},
		Opened: renewView,
	}
}

// VersionQuery is a query for DB.Poll: the version of the catalogue, 0 if nothing has been
// published.
const VersionQuery = `SELECT version FROM catalogue`

// A Store is the tables of the catalogue.
type Store struct {
	Catalogue *Catalogue
	Pictures  *Pictures
	Events    *Events
	Mirror    *Mirror
}

// New returns the tables of the catalogue in a database.
func New(db *sqldb.DB, deliver Deliver) *Store {
	return &Store{Catalogue: &Catalogue{db, deliver}, Pictures: &Pictures{db}, Events: &Events{db}, Mirror: &Mirror{db}}
}

// CountTools is a query for the number of published tools.
const CountTools = `SELECT count(*) FROM records WHERE kind = 'outil' AND public AND NOT deleted`

// Examine returns what is published, and how many tools.
func Examine(ctx context.Context, q sqldb.Queryer, now time.Time) (all []sqldb.Finding, tools int64, err error) {
	var version int64
	var published time.Time
	err = q.QueryRowContext(ctx, `SELECT version, published_at, (`+CountTools+`) FROM catalogue`).
		Scan(&version, sqldb.Time(&published), &tools)
	if err != nil {
		return nil, 0, err
	}
	if version == 0 {
		return []sqldb.Finding{{Subject: "catalogue", Text: "nothing is published yet"}}, 0, nil
	}
	all = append(all, sqldb.Finding{Subject: "catalogue", Text: fmt.Sprintf("version %d with %d tools, published on %s",
		version, tools, published.Format(time.DateTime))})
	if ahead := published.Sub(now); ahead > sqldb.MaxSkew {
		all = append(all, sqldb.Finding{Subject: "clock", Wrong: true, Text: fmt.Sprintf(
			"the last publication is %s in the future: set the clock of this machine", ahead.Round(time.Second))})
	}
	return all, tools, nil
}
