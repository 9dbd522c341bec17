// Package accountdb keeps accounts and what belongs to them: keys, usage, webhook endpoints
// and their deliveries, mails, subscriptions, sign-in links and sessions; the tokens for
// publishing; the site's certificates; the people of the desk with their working copies;
// and what readers report and follow.
//
// A Store has one field per noun (Keys, Deliveries, …), each a small type in files of its name.
//
// Deliveries send events, which package catalogdb keeps: statements join its table events,
// and read from publications and catalogue how far the sequence of events is.
package accountdb

import (
	"embed"

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
	Editors       *Editors
	Copies        *Copies
	Shares        *Shares
	Reports       *Reports
	Readership    *Readership
	Follows       *Follows
	Addresses     *Addresses
}

// New returns the tables of accounts in a database.
func New(db *sqldb.DB) *Store {
	links := &Links{db: db, mailing: db.Sending(), ceiling: account.TotalLimit()}
	return &Store{
		Accounts:      &Accounts{db},
		Keys:          &Keys{db},
		Usage:         &Usage{db},
		Endpoints:     &Endpoints{db},
		Deliveries:    &Deliveries{db.Sending(), sweepStep},
		Mails:         &Mails{db.Sending()},
		Subscriptions: &Subscriptions{db},
		Links:         links,
		Sessions:      &Sessions{db},
		Tokens:        &Tokens{db},
		Certificates:  &Certificates{db: db},
		Editors:       &Editors{db},
		Copies:        &Copies{db},
		Shares:        &Shares{db},
		Reports:       &Reports{db: db, links: links},
		Readership:    &Readership{db},
		Follows:       &Follows{db: db},
		Addresses:     &Addresses{db},
	}
}
