package accountdb

import (
	"context"
	"database/sql"
	"fmt"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// ErrNoAccount: there is no such account.
var ErrNoAccount = fmt.Errorf("account %w", sqldb.ErrNotFound)

// writeKeys is Write for changes of accounts or keys: it raises the revision by which
// every node notices them. That comes last in the transaction, since on PostgreSQL every
// other change of keys waits for this row.
func writeKeys(ctx context.Context, db *sqldb.DB, fn func(*sql.Tx) error) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return raiseRevision(ctx, db, tx)
	})
}

// raiseRevision announces to every node that accounts or keys have changed.
func raiseRevision(ctx context.Context, db *sqldb.DB, tx *sql.Tx) error {
	if err := sqldb.Exec(ctx, tx, `UPDATE account_state SET revision = revision + 1`); err != nil {
		return err
	}
	return db.Notify(ctx, tx)
}

// lockAccount finds an account and locks its row until the end of the transaction, so
// that two requests cannot both count to one below the limit. An update that changes
// nothing is a lock that both databases know.
func lockAccount(ctx context.Context, tx *sql.Tx, email string) (account.Account, error) {
	normal, err := account.NormalizeEmail(email)
	if err != nil {
		return account.Account{}, noAccount(email)
	}
	if err := sqldb.Exec(ctx, tx, `UPDATE accounts SET plan = plan WHERE email = $1`, normal); err != nil {
		return account.Account{}, err
	}
	return findAccount(ctx, tx, email)
}

func findAccount(ctx context.Context, q sqldb.Queryer, email string) (account.Account, error) {
	normal, err := account.NormalizeEmail(email)
	if err != nil {
		return account.Account{}, noAccount(email)
	}
	a, err := sqldb.Row(ctx, q, `SELECT id, email, plan, created_at FROM accounts WHERE email = $1`,
		sqldb.ScanFields[account.Account], normal)
	return a, sqldb.OrMissing(err, noAccount(email))
}

func findAccountByID(ctx context.Context, q sqldb.Queryer, id string) (account.Account, error) {
	a, err := sqldb.Row(ctx, q, `SELECT id, email, plan, created_at FROM accounts WHERE id = $1 AND id <> $2`,
		sqldb.ScanFields[account.Account], id, deletedID)
	return a, sqldb.OrMissing(err, noAccountID(id))
}

func noAccount(email string) error {
	return sqldb.ProblemWith(email, ErrNoAccount, "%q has no account", email)
}

func noAccountID(id string) error {
	return sqldb.ProblemWith(id, ErrNoAccount, "there is no account %q", id)
}
