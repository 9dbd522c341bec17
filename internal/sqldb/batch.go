package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// A Table is what a Batch writes to, column by column.
type Table struct {
	Name    string
	Key     string // the primary key if rows may exist already; "" if they cannot
	Adds    bool   // the last column of an existing row is added to; otherwise the row is replaced
	Columns []string
}

// List returns the columns as a SELECT names them.
func (t Table) List() string { return strings.Join(t.Columns, ", ") }

// Insert returns the statement that writes n rows.
func (t Table) Insert(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES ", t.Name, t.List())
	for i := range n * len(t.Columns) {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%len(t.Columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i+1)
	}
	b.WriteString(")")
	if t.Key == "" {
		return b.String()
	}
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO UPDATE SET ", t.Key)
	if t.Adds {
		sum := t.Columns[len(t.Columns)-1]
		fmt.Fprintf(&b, "%s = %s.%s + excluded.%s", sum, t.Name, sum, sum)
		return b.String()
	}
	sep, key := "", strings.Split(t.Key, ", ")
	for _, c := range t.Columns {
		if !slices.Contains(key, c) {
			fmt.Fprintf(&b, "%s%s = excluded.%s", sep, c, c)
			sep = ", "
		}
	}
	return b.String()
}

// A Batch writes rows to a table, several with one statement.
type Batch struct {
	tx    *sql.Tx
	table Table
	rows  int // per statement
	args  []any
	full  *sql.Stmt // writes so many rows; it ends with the transaction
}

// NewBatch returns a Batch whose statements have at most so many placeholders.
func NewBatch(tx *sql.Tx, t Table, placeholders int) *Batch {
	return &Batch{tx: tx, table: t, rows: max(1, placeholders/len(t.Columns))}
}

// Add adds one row, which is written now or by a later Add or Flush.
func (b *Batch) Add(ctx context.Context, row ...any) error {
	b.args = append(b.args, row...)
	if len(b.args) < b.rows*len(b.table.Columns) {
		return nil
	}
	return b.Flush(ctx)
}

// Flush writes the rows that Add has not written yet.
func (b *Batch) Flush(ctx context.Context) error {
	if len(b.args) == 0 {
		return nil
	}
	rows := len(b.args) / len(b.table.Columns)
	args := b.args
	b.args = b.args[:0]
	if rows < b.rows {
		return Exec(ctx, b.tx, b.table.Insert(rows), args...)
	}
	if b.full == nil {
		var err error
		b.full, err = b.tx.PrepareContext(ctx, b.table.Insert(rows))
		if err != nil {
			return err
		}
	}
	_, err := b.full.ExecContext(ctx, args...)
	return err
}
