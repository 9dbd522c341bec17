package accountdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// ErrAccountExists: the address has an account already.
var ErrAccountExists = errors.New("the account exists")

// CountAccounts is a query for the number of accounts.
const CountAccounts = `SELECT count(*) FROM accounts`

// Accounts are customers, identified by an address.
type Accounts struct{ db *sqldb.DB }

// Create creates an account. ErrAccountExists: the address has one already;
// ErrInvalid: it is not an address.
func (s *Accounts) Create(
	ctx context.Context, email string, plan account.Plan, now time.Time,
) (account.Account, error) {
	email, err := account.NormalizeEmail(email)
	if err != nil {
		return account.Account{}, sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	a := account.Account{
		ID: account.NewID(account.AccountID, now, rand.Reader), Email: email, Plan: plan,
		CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
	return a, writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		exists := sqldb.ProblemWith(email, ErrAccountExists, "%s has an account already", email)
		return sqldb.ExecSome(ctx, tx, exists,
			`INSERT INTO accounts (id, email, plan, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (email) DO NOTHING`,
			a.ID, a.Email, string(a.Plan), sqldb.FormatTime(a.CreatedAt))
	})
}

// List lists every account, oldest first.
func (s *Accounts) List(ctx context.Context) ([]account.Account, error) {
	return sqldb.List(ctx, s.db, `SELECT id, email, plan, created_at FROM accounts WHERE id <> $1 ORDER BY id`,
		sqldb.ScanFields[account.Account], deletedID)
}

// Find finds the account of an address. ErrNotFound: it has none.
func (s *Accounts) Find(ctx context.Context, email string) (account.Account, error) {
	a, err := findAccount(ctx, s.db.Reads(), email)
	return a, s.db.Explain(ctx, err)
}

// ByID is Find by the account's id.
func (s *Accounts) ByID(ctx context.Context, id string) (account.Account, error) {
	a, err := findAccountByID(ctx, s.db.Reads(), id)
	return a, s.db.Explain(ctx, err)
}

// SetPlan moves an account to a plan on behalf of the operator: Pro that was granted
// here does not end with a subscription. Keys in excess of the new plan work for
// account.KeyGrace (see Keys.SuspendExcess); no more can be created until there are
// fewer. ErrNotFound: no such account.
func (s *Accounts) SetPlan(ctx context.Context, email string, plan account.Plan, now time.Time) error {
	return writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		a, err := lockAccount(ctx, tx, email)
		if err != nil {
			return err
		}
		if err := sqldb.Exec(ctx, tx, `UPDATE subscriptions SET granted = FALSE, version = version + 1
			WHERE account_id = $1`, a.ID); err != nil {
			return err
		}
		due := time.Time{}
		if plan != account.Pro {
			due = now.Add(account.KeyGrace)
		}
		return movePlan(ctx, tx, a.ID, plan, due)
	})
}

// Delete deletes an account and everything that belongs to it. Its webhooks are gone for
// everybody, and Deliveries.Sweep removes their log. Its subscription must have been cancelled
// before. ErrNotFound: no such account.
func (s *Accounts) Delete(ctx context.Context, email string) error {
	return writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		a, err := findAccount(ctx, tx, email)
		if err != nil {
			return err
		}
		return deleteAccount(ctx, tx, a)
	})
}

// deleteAccount leaves nothing of an account. Mails and links belong to its address,
// webhooks may have a long log; everything else is deleted by foreign keys.
func deleteAccount(ctx context.Context, tx *sql.Tx, a account.Account) error {
	if err := buryEndpoints(ctx, tx, `account_id = $1`, a.ID); err != nil {
		return err
	}
	return sqldb.ExecAll(ctx, tx,
		sqldb.Do(`DELETE FROM mails WHERE address = $1`, a.Email),
		sqldb.Do(`DELETE FROM links WHERE email = $1`, a.Email),
		sqldb.Do(`DELETE FROM accounts WHERE id = $1`, a.ID))
}
