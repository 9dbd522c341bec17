package accountdb

import (
	"context"
	"database/sql"
	"errors"

	"palmares/internal/sqldb"
)

// ErrChanged: what a form was rendered from has changed. It was submitted before, or
// somebody else did the same meanwhile.
var ErrChanged = errors.New("it has changed meanwhile")

// checkNewest returns ErrChanged when a form was submitted before and created something
// then. The account's row must be locked.
func checkNewest(ctx context.Context, tx *sql.Tx, table, accountID, newest string) error {
	last, err := sqldb.Value[string](ctx, tx, `SELECT coalesce(max(id), '') FROM `+table+` WHERE account_id = $1`, accountID)
	if err == nil && last != newest {
		err = sqldb.Problem(ErrChanged, nil, "%[2]q was created after %[1]q: load the form again", newest, last)
	}
	return err
}
