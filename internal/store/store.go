// Package store keeps everything that Palmarès persists: the published catalogue and
// its events, accounts and their keys, usage, webhooks, mails, subscriptions, sign-in
// links, sessions and publish tokens. It is the only package with SQL, but for the file that
// package dataset exports.
//
// A Store has one field per noun (Keys, Deliveries, …), each a small type in files of
// its name. They share a db: the connection pools, transactions and error messages.
//
// One SQL text serves SQLite and PostgreSQL: `$1` placeholders, portable column
// types, ids and times made in Go. Text is sorted in Go, or by columns whose order is
// the same under every collation (ids, times, numbers). What the two do differently
// is in their dialect, sqlite.go and postgres.go. One test suite runs on both.
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
package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Store is an open database. Open creates it, Close ends it, and any number of
// goroutines may use it in between.
type Store struct {
	*db

	Catalogue     *Catalogue
	Pictures      *Pictures
	Events        *Events
	Accounts      *Accounts
	Keys          *Keys
	Usage         *Usage
	Endpoints     *Endpoints
	Deliveries    *Deliveries
	Mails         *Mails
	Subscriptions *Subscriptions
	Links         *Links
	Sessions      *Sessions
	Tokens        *Tokens
	Mirror        *Mirror
}

// Open opens the database that dsn names, `sqlite:PATH` or `postgres://…`, creates it
// if it is a SQLite file that does not exist yet, and brings its tables up to date.
func Open(ctx context.Context, dsn string) (*Store, error) {
	return openDB(ctx, dsn, newDB())
}

// newDB returns a db with the usual limits, which is not connected yet.
func newDB() *db {
	return &db{writeWait: defaultWriteWait, lockWait: lockLimit, countWait: CountTimeout}
}

// openDB opens what Open opens, with the limits of d.
func openDB(ctx context.Context, dsn string, d *db) (*Store, error) {
	err := d.connect(ctx, dsn)
	if err == nil {
		err = d.migrate(ctx, migrations)
	}
	if err != nil {
		return nil, errors.Join(d.explain(ctx, err), d.close())
	}
	return newStore(d), nil
}

// connect opens what Open opens, whatever its tables are.
func (s *db) connect(ctx context.Context, dsn string) error {
	s.faults, s.unwritableFor = &faults{}, unwritableFor
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		return s.openSQLite(ctx, path)
	}
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return s.openPostgres(dsn)
	}
	// The text is not repeated: it may be an address with a password and a typo.
	return errors.New("the database is neither sqlite:PATH nor postgres://USER@HOST/NAME: give one of the two")
}

// newStore returns a Store that works on d.
func newStore(d *db) *Store {
	return &Store{
		db:            d,
		Catalogue:     &Catalogue{d},
		Pictures:      &Pictures{d},
		Events:        &Events{d},
		Accounts:      &Accounts{d},
		Keys:          &Keys{d},
		Usage:         &Usage{d},
		Endpoints:     &Endpoints{d},
		Deliveries:    &Deliveries{d.sending(), sweepStep},
		Mails:         &Mails{d.sending()},
		Subscriptions: &Subscriptions{d},
		Links:         newLinks(d),
		Sessions:      &Sessions{d},
		Tokens:        &Tokens{d},
		Mirror:        &Mirror{d},
	}
}

// Close waits for running transactions and closes every connection.
func (s *Store) Close() error { return s.close() }

// Claim makes this process the only server of a database that is not Shared, until Close
// or the end of the process. Other commands may use it meanwhile. ErrServed: another
// process is its server. On PostgreSQL it does nothing.
func (s *Store) Claim() error { return s.dialect.claim() }

// Shared reports whether several nodes may use the database at once, as on
// PostgreSQL: then they must Listen, and count with Usage.Count.
func (s *Store) Shared() bool { return s.dialect.shared() }

// Listen calls wake whenever something was published or a key or an account changed,
// and each time that it has begun to listen, as it may have missed something. It
// blocks until ctx ends and then returns nil; a connection that breaks or goes silent
// is replaced. wake must be quick. On SQLite Listen only waits for the end.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	return s.dialect.listen(ctx, wake)
}

// State returns the counters by which a node notices that something it keeps in memory has
// changed: the version of the catalogue, 0 if nothing has been published, and a number
// that increases with every change of an account or a key.
func (s *Store) State(ctx context.Context) (version, keys int64, err error) {
	err = s.dialect.lookup(ctx, func() error {
		return s.lookups.QueryRowContext(ctx, `
			SELECT (SELECT version FROM catalogue), (SELECT revision FROM account_state)`).Scan(&version, &keys)
	})
	s.dialect.stateRead(ctx, err)
	return version, keys, s.explain(ctx, err)
}

// timeFormat has one width, so that stored times sort in the order they happened.
const timeFormat = "2006-01-02T15:04:05.000Z"

// formatTime returns "" for the zero time, which means never.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeFormat)
}

func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(timeFormat, s)
}

// decodeHex decodes a column that holds exactly the bytes of to. It returns an error for
// one that was changed by hand, where hex.Decode would panic or leave a part unset.
func decodeHex(to, text []byte) error {
	if hex.DecodedLen(len(text)) != len(to) || len(text)%2 != 0 {
		return fmt.Errorf("a column has %d characters where %d hexadecimal digits belong", len(text), hex.EncodedLen(len(to)))
	}
	_, err := hex.Decode(to, text)
	return err
}
