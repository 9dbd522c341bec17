// Package accountdb keeps accounts and what belongs to them: keys, usage, webhook endpoints
// and their deliveries, mails, subscriptions, sign-in links and sessions; the tokens for
// publishing; and the site's certificates.
//
// A Store has one field per noun (Keys, Deliveries, …), each a small type in files of its name.
package accountdb

import (
	"context"
	"database/sql"
	"embed"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Part returns the tables of this package.
func Part() sqldb.Part {
	return sqldb.Part{Migrations: migrations, Singletons: map[string]string{"account_state": "revision = 0"}}
}

// RevisionQuery is a query for DB.Poll: its number increases with every change of an account or a
// key.
const RevisionQuery = `SELECT revision FROM account_state`

// A Store is the tables of accounts.
type Store struct {
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
	Certificates  *Certificates
}

// Rooms are functions of the packages whose tables the transactions of this one need.
type Rooms struct {
	Events      string // selects the events that deliveries send: sequence, id, type, created_at, body
	EventsSince func(ctx context.Context, q sqldb.Queryer, since time.Time) (before, last int64, err error)
	SiteURL     func(ctx context.Context, q sqldb.Queryer) (string, error)
	IsEditor    func(ctx context.Context, q sqldb.Queryer, email string) (bool, error)
	// EndFollows ends all that the reader of a follow follows.
	EndFollows func(ctx context.Context, tx *sql.Tx, id string) error
}

// New returns the tables of accounts in a database.
func New(db *sqldb.DB, rooms Rooms) *Store {
	return &Store{
		Accounts:      &Accounts{db},
		Keys:          &Keys{db},
		Usage:         &Usage{db},
		Endpoints:     &Endpoints{db},
		Deliveries:    &Deliveries{db.Sending(), rooms, sweepStep},
		Mails:         &Mails{db.Sending(), rooms},
		Subscriptions: &Subscriptions{db},
		Links:         &Links{db: db, mailing: db.Sending(), ceiling: account.TotalLimit(), rooms: rooms},
		Sessions:      &Sessions{db},
		Tokens:        &Tokens{db},
		Certificates:  &Certificates{db: db},
	}
}
