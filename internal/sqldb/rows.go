package sqldb

import (
	"context"
	"database/sql"
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

// Rows returns all rows of a query, about capacity of them; nil for none.
func Rows[T any](
	ctx context.Context, q Queryer, capacity int, query string, read func(Scanner, *T) error, args ...any,
) ([]T, error) {
	found, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var all []T
	if capacity > 0 {
		all = make([]T, 0, capacity)
	}
	for found.Next() {
		all = append(all, *new(T))
		if err := read(found.Scan, &all[len(all)-1]); err != nil {
			return nil, err
		}
	}
	return all, found.Err()
}

// ScanText reads a row of one text.
func ScanText(scan Scanner, s *string) error { return scan(s) }

// In returns the right side of IN for values, and the arguments.
func In(values []string) (list string, args []any) {
	args, list = InAfter(nil, values)
	return list, args
}

// InAfter is In for a statement that has args already.
func InAfter[T any](args []any, values []T) (all []any, list string) {
	places := make([]string, len(values))
	for i, v := range values {
		args = append(args, v)
		places[i] = fmt.Sprintf("$%d", len(args))
	}
	return args, "(" + strings.Join(places, ", ") + ")"
}
