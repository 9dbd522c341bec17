package node

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/accountsite"
	"palmares/internal/catalogdb"
	"palmares/internal/deskdb"
	"palmares/internal/readerdb"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
)

// A Database is everything that Palmarès persists. Open creates it, Close ends it, and any
// number of goroutines may use it in between.
type Database struct {
	SQL *sqldb.DB
	*accounts
	*catalogue
	*desks
	*readers
}

// The names of what a Database embeds.
type (
	accounts  = accountdb.Store
	catalogue = catalogdb.Store
	desks     = deskdb.Store
	readers   = readerdb.Store
)

// tables returns what a database is opened with.
func tables() sqldb.Config {
	return sqldb.Config{Parts: []sqldb.Part{catalogdb.Part(), accountdb.Part(), deskdb.Part(), readerdb.Part()}, Counting: accountdb.CountStatement}
}

// Open opens a database: see sqldb.Open.
func Open(ctx context.Context, dsn string) (*Database, error) {
	return join(sqldb.Open(ctx, dsn, tables()))
}

// OpenOffline opens a database that no server may use meanwhile: see sqldb.OpenOffline.
func OpenOffline(ctx context.Context, dsn string) (*Database, error) {
	return join(sqldb.OpenOffline(ctx, dsn, tables()))
}

// join joins the tables of a database, if it could be opened: a publication writes the deliveries
// of its events in its own transaction.
func join(db *sqldb.DB, err error) (*Database, error) {
	if err != nil {
		return nil, err
	}
	a := accountdb.New(db, accountdb.Rooms{
		Events: catalogdb.SelectEvents, EventsSince: catalogdb.EventsSince, SiteURL: catalogdb.SiteURL,
		IsEditor: deskdb.IsEditor, EndFollows: readerdb.EndFollows,
	})
	return &Database{db, a, catalogdb.New(db, a.Deliveries.Deliver, a.Mails.QueueStuck), deskdb.New(db), readerdb.New(db, a.Links)}, nil
}

// Close waits for running transactions and closes every connection.
func (d *Database) Close() error { return d.SQL.Close() }

// Secrets returns the sealed secrets in the database.
func (d *Database) Secrets() vault.Secrets {
	return append(d.Endpoints.Secrets(), d.Follows.Secrets()...)
}

// State returns the counters by which a node notices that something it keeps in memory has
// changed: the version of the catalogue, 0 if nothing has been published, and a number
// that increases with every change of an account or a key.
func (d *Database) State(ctx context.Context) (version, keys int64, err error) {
	numbers, err := d.SQL.Poll(ctx, catalogdb.VersionQuery, accountdb.RevisionQuery)
	return numbers[0], numbers[1], err
}

// queue is the deliveries as what sends them needs them.
type queue struct {
	*accountdb.Deliveries
	events *catalogdb.Events
}

// Prune deletes old deliveries, then the events that none of them needs any more.
func (q queue) Prune(ctx context.Context, before time.Time) error {
	if err := q.Deliveries.Prune(ctx, before); err != nil {
		return err
	}
	return q.events.Prune(ctx, before, accountdb.SentAgain)
}

// Export writes everything known of an account: see accountsite.Export.
func (d *Database) Export(ctx context.Context, a account.Account, now time.Time, to io.Writer) error {
	known, err := accountsite.NewExport(ctx, d.accounts, d.desks, a, now)
	if err != nil {
		return err
	}
	return known.Write(ctx, to)
}

// Backup writes a copy to a file (see sqldb.Backup), in which every record and picture is what was written, and
// returns the version of its catalogue, 0 if nothing was published.
func (d *Database) Backup(ctx context.Context, file string) (version int64, err error) {
	err = sqldb.Backup(ctx, d.SQL, file, func(q sqldb.Queryer) error {
		err := q.QueryRowContext(ctx, catalogdb.VersionQuery).Scan(&version)
		return errors.Join(err, catalogdb.Verify(ctx, q))
	})
	return version, err
}

// Copied is what Copy has copied.
type Copied struct {
	Rows     int64
	Version  int64 // of the catalogue; 0 if nothing was published
	Tools    int64
	Accounts int64
}

// Copy writes everything that from has to another database: see sqldb.Copy.
func Copy(
	ctx context.Context, from, to *Database, progress func(table string, done, total int64),
) (c Copied, err error) {
	c.Rows, err = sqldb.Copy(ctx, from.SQL, to.SQL, progress)
	if err != nil {
		return c, err
	}
	err = to.SQL.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			SELECT (`+catalogdb.VersionQuery+`), (`+catalogdb.CountTools+`), (`+accountdb.CountAccounts+`)`).
			Scan(&c.Version, &c.Tools, &c.Accounts)
	})
	return c, err
}

// Examine looks at a database without changing it: see sqldb.Examine. It also returns how
// many tools are published.
func Examine(ctx context.Context, dsn string, now time.Time) (all []sqldb.Finding, tools int64, current bool) {
	all, current = sqldb.Examine(ctx, dsn, tables(),
		func(ctx context.Context, q sqldb.Queryer) (found []sqldb.Finding, err error) {
			found, tools, err = catalogdb.Examine(ctx, q, now)
			return found, err
		})
	return all, tools, current
}
