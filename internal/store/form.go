package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// ErrChanged: what a form was made from is no longer so. It was sent before, or
// somebody else did the same meanwhile.
var ErrChanged = errors.New("it has changed meanwhile")

// checkNewest tells a form that is sent again, whose first sending made something,
// from one that is sent for the first time: the caller holds the account's row.
func checkNewest(ctx context.Context, tx *sql.Tx, table, accountID, newest string) error {
	ids, err := rows(ctx, tx, 0, `SELECT id FROM `+table+` WHERE account_id = $1`, scanText, accountID)
	if err != nil {
		return err
	}
	// Compared here: databases have their own ideas of the order of letters.
	if last := slices.Max(append(ids, "")); last != newest {
		return problem(ErrChanged, nil, "something was made since %q, namely %q: look again", newest, last)
	}
	return nil
}
