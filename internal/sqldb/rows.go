package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// A Queryer is a pool or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Scanner reads the columns of a row.
type Scanner func(dest ...any) error

// Rows returns all rows of a query; nil for none.
func Rows[T any](
	ctx context.Context, q Queryer, query string, read func(Scanner, *T) error, args ...any,
) ([]T, error) {
	found, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var all []T
	for found.Next() {
		all = append(all, *new(T))
		if err := read(found.Scan, &all[len(all)-1]); err != nil {
			return nil, err
		}
	}
	return all, found.Err()
}

// List is Rows for a query that needs no transaction.
func List[T any](ctx context.Context, d *DB, query string, read func(Scanner, *T) error, args ...any) ([]T, error) {
	all, err := Rows(ctx, d.reads, query, read, args...)
	return all, d.Explain(ctx, err)
}

// Row returns the only row of a query. sql.ErrNoRows: there is none.
func Row[T any](
	ctx context.Context, q Queryer, query string, read func(Scanner, *T) error, args ...any,
) (row T, err error) {
	err = read(q.QueryRowContext(ctx, query, args...).Scan, &row)
	return row, err
}

// Value is Row for a query of one column.
func Value[T any](ctx context.Context, q Queryer, query string, args ...any) (value T, err error) {
	err = q.QueryRowContext(ctx, query, args...).Scan(column(&value))
	return value, err
}

// Get is Value for a query that needs no transaction.
func Get[T any](ctx context.Context, d *DB, query string, args ...any) (T, error) {
	value, err := Value[T](ctx, d.reads, query, args...)
	return value, d.Explain(ctx, err)
}

// OrMissing returns missing, which may be nil, instead of the error of a row that is not there.
func OrMissing(err, missing error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// ScanText reads a row of one text.
func ScanText(scan Scanner, s *string) error { return scan(s) }

// ScanValue reads a row of one column.
func ScanValue[T any](scan Scanner, to *T) error { return scan(column(to)) }

// InAfter returns the arguments of a statement with values after those that it has, and the right side of IN for them.
func InAfter[T any](args []any, values []T) (all []any, list string) {
	places := make([]string, len(values))
	for i, v := range values {
		args = append(args, v)
		places[i] = fmt.Sprintf("$%d", len(args))
	}
	return args, "(" + strings.Join(places, ", ") + ")"
}
