package sqldb

import (
	"context"
	"database/sql"
	"fmt"
)

// Exec runs a statement in a transaction.
func Exec(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	_, err := tx.ExecContext(ctx, statement, args...)
	return err
}

// ExecRows is Exec for callers that need to know how many rows were changed.
func ExecRows(ctx context.Context, tx *sql.Tx, statement string, args ...any) (int64, error) {
	done, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// ExecSome is Exec for a statement that must change a row: otherwise it returns missing.
func ExecSome(ctx context.Context, tx *sql.Tx, missing error, statement string, args ...any) error {
	n, err := ExecRows(ctx, tx, statement, args...)
	if err == nil && n == 0 {
		err = missing
	}
	return err
}

// A Statement is a statement with its arguments.
type Statement func(context.Context, *sql.Tx) error

// Do returns a statement for ExecAll.
func Do(statement string, args ...any) Statement {
	return func(ctx context.Context, tx *sql.Tx) error { return Exec(ctx, tx, statement, args...) }
}

// laterDays is how many days with counts must have followed before old ones are deleted. A clock
// that is a year ahead by mistake has none, and what is deleted is gone.
const laterDays = 7

// DeleteDays returns a statement that deletes the rows of a table of the days before one if laterDays have followed.
func DeleteDays(table, before string) Statement {
	return Do(fmt.Sprintf(`DELETE FROM %[1]s WHERE day < $1 AND $2 <= (
		SELECT count(*) FROM (SELECT DISTINCT day FROM %[1]s WHERE day >= $1 LIMIT $2) AS later)`, table), before, laterDays)
}

// ExecAll runs statements in a transaction, until one fails.
func ExecAll(ctx context.Context, tx *sql.Tx, all ...Statement) error {
	for _, do := range all {
		err := do(ctx, tx)
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteSome is ExecSome in a transaction of its own.
func WriteSome(ctx context.Context, d *DB, missing error, statement string, args ...any) error {
	return d.Write(ctx, func(tx *sql.Tx) error { return ExecSome(ctx, tx, missing, statement, args...) })
}

// WriteOnce runs one statement in a transaction of its own.
func WriteOnce(ctx context.Context, d *DB, statement string, args ...any) error {
	return d.Write(ctx, func(tx *sql.Tx) error { return Exec(ctx, tx, statement, args...) })
}

// Write is DB.Write for a function that returns a value, which is zero if there is an error.
func Write[T any](ctx context.Context, d *DB, fn func(*sql.Tx) (T, error)) (T, error) {
	return valueOf(ctx, d.Write, fn)
}

// Read is DB.Read for a function that returns a value, which is zero if there is an error.
func Read[T any](ctx context.Context, d *DB, fn func(*sql.Tx) (T, error)) (T, error) {
	return valueOf(ctx, d.Read, fn)
}

func valueOf[T any](
	ctx context.Context, run func(context.Context, func(*sql.Tx) error) error, fn func(*sql.Tx) (T, error),
) (T, error) {
	var value, none T
	err := run(ctx, func(tx *sql.Tx) (err error) {
		value, err = fn(tx)
		return err
	})
	if err != nil {
		return none, err
	}
	return value, nil
}
