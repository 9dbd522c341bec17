package accountdb

import (
	"context"
	"database/sql"

	"palmares/internal/sqldb"
)

// checkNewest returns sqldb.ErrChanged when a form was submitted before and created something
// then. The account's row must be locked.
func checkNewest(ctx context.Context, tx *sql.Tx, table, accountID, newest string) error {
	last, err := sqldb.Value[string](ctx, tx, `SELECT coalesce(max(id), '') FROM `+table+` WHERE account_id = $1`, accountID)
	if err == nil && last != newest {
		err = sqldb.Problem(sqldb.ErrChanged, nil, "%[2]q was created after %[1]q: load the form again", newest, last)
	}
	return err
}
