package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"palmares/internal/wire"
)

// A table is what a batch writes to, column by column.
type table struct {
	name    string
	key     string // the primary key if rows may exist already; "" if they cannot
	adds    bool   // the last column of an existing row is added to; otherwise the row is replaced
	columns []string
}

var (
	eventTable = table{name: "events", columns: []string{"sequence", "version", "id", "type", "slug", "created_at", "body"}}

	usageTable   = table{name: "usage", key: "day, account_id", adds: true, columns: []string{"day", "account_id", "requests"}}
	networkTable = table{name: "network_usage", key: "day, network", adds: true, columns: []string{"day", "network", "requests"}}
)

func (t table) list() string { return strings.Join(t.columns, ", ") }

// insert returns the statement that writes n rows.
func (t table) insert(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES ", t.name, t.list())
	for i := range n * len(t.columns) {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%len(t.columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i+1)
	}
	b.WriteString(")")
	if t.key == "" {
		return b.String()
	}
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO UPDATE SET ", t.key)
	if t.adds {
		sum := t.columns[len(t.columns)-1]
		fmt.Fprintf(&b, "%s = %s.%s + excluded.%s", sum, t.name, sum, sum)
		return b.String()
	}
	sep, key := "", strings.Split(t.key, ", ")
	for _, c := range t.columns {
		if !slices.Contains(key, c) {
			fmt.Fprintf(&b, "%s%s = excluded.%s", sep, c, c)
			sep = ", "
		}
	}
	return b.String()
}

// A batch writes rows to a table, several with one statement.
type batch struct {
	tx    *sql.Tx
	table table
	rows  int       // per statement
	full  *sql.Stmt // the statement for that many rows; nil until it is needed
	args  []any
}

func newBatch(tx *sql.Tx, t table, placeholders int) *batch {
	return &batch{tx: tx, table: t, rows: max(1, placeholders/len(t.columns))}
}

// add adds one row, which is written now or by a later add or flush.
func (b *batch) add(ctx context.Context, row ...any) error {
	b.args = append(b.args, row...)
	if len(b.args) < b.rows*len(b.table.columns) {
		return nil
	}
	if b.full == nil {
		stmt, err := b.tx.PrepareContext(ctx, b.table.insert(b.rows))
		if err != nil {
			return err
		}
		b.full = stmt // closed with the transaction
	}
	_, err := b.full.ExecContext(ctx, b.args...)
	b.args = b.args[:0]
	return err
}

// flush writes the rows that add has not written yet.
func (b *batch) flush(ctx context.Context) error {
	if len(b.args) == 0 {
		return nil
	}
	_, err := b.tx.ExecContext(ctx, b.table.insert(len(b.args)/len(b.table.columns)), b.args...)
	b.args = b.args[:0]
	return err
}

// in returns the right side of IN for values, and the arguments.
func in(values []string) (list string, args []any) {
	args, list = inAfter(nil, values)
	return list, args
}

// joinList and splitList store a list in one column; an empty list is "".
func joinList[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return string(wire.AppendJSON(nil, list))
}

func splitList(s string) (list []string, err error) {
	if s != "" {
		err = json.Unmarshal([]byte(s), &list)
	}
	return list, err
}

type scanner func(dest ...any) error

// rows returns all rows of a query, about capacity of them; nil for none.
func rows[T any](ctx context.Context, q queryer, capacity int, query string, read func(scanner, *T) error, args ...any) ([]T, error) {
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
