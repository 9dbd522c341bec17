// Package catalogdb keeps the published catalogue: its records and pictures, the log of
// publications and events.
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
	"sync/atomic"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// VersionQuery is a query for DB.Poll: the version of the catalogue, 0 if nothing has been
// published.
const VersionQuery = `SELECT version FROM catalogue`

// SiteURL returns the address of the site, "" if nothing has been published.
func SiteURL(ctx context.Context, q sqldb.Queryer) (string, error) {
	return sqldb.Value[string](ctx, q, `SELECT url FROM catalogue`)
}

// LastEntry returns the position of the last entry of the chronicle.
func LastEntry(ctx context.Context, q sqldb.Queryer) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT chronicle FROM catalogue`)
}

// A Store is the tables of the catalogue.
type Store struct {
	Catalogue *Catalogue
	Pictures  *Pictures
	Events    *Events
	Upkeep    *Upkeep
}

// New returns the tables of the catalogue in a database.
func New(db *sqldb.DB, deliver Deliver, stuck TellStuck) *Store {
	return &Store{Catalogue: &Catalogue{db: db, deliver: deliver, tellStuck: stuck}, Pictures: &Pictures{db}, Events: &Events{db}, Upkeep: &Upkeep{db}}
}

// CountTools is a query for the number of published tools.
const CountTools = `SELECT count(*) FROM records WHERE kind = 'outil' AND public AND NOT deleted`

// Catalogue is the published catalogue. Only Publish changes it.
type Catalogue struct {
	db        *sqldb.DB
	deliver   Deliver
	tellStuck TellStuck
	prepared  atomic.Pointer[prepared] // for the next hour; nil for none
}

// Deliver writes the deliveries of the events of a publication, those after a sequence up to
// last, in the transaction of the publication.
type Deliver func(
	ctx context.Context, tx *sql.Tx, after, last int64, now time.Time, progress func(done, total int),
) error

// TellStuck queues a mail to the contact of the catalogue, if that is an address, about a scheduled
// record that cannot be published, in the transaction in which its hour comes.
type TellStuck func(ctx context.Context, tx *sql.Tx, contact string, s *catalog.Scheduled, now time.Time) error

// Pictures are the bytes of the published pictures. Only Catalogue.Publish changes
// them.
type Pictures struct{ db *sqldb.DB }

// Events is the log of events.
type Events struct{ db *sqldb.DB }
