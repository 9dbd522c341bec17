package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A table is what a batch writes to, column by column.
type table struct {
	name    string
	key     string // the primary key if rows may exist already; "" if they cannot
	adds    bool   // the last column of an existing row is added to; otherwise the row is replaced
	columns []string
}

var (
	categoryTable   = table{name: "categories", columns: columnNames(categoryColumns)}
	toolTable       = table{name: "tools", key: "slug", columns: columnNames(toolColumns)}
	comparisonTable = table{name: "comparisons", key: "slug", columns: columnNames(comparisonColumns)}
	retiredTable    = table{name: "retired", key: "slug", columns: columnNames(retiredColumns)}
	priceTable      = table{name: "price_history", columns: columnNames(priceColumns)}
	scoreTable      = table{name: "score_history", columns: columnNames(scoreColumns)}
	pastTable       = table{name: "past_tools", columns: columnNames(pastColumns)}
	pageTable       = table{name: "pages", key: "slug", columns: columnNames(pageColumns)}
	pictureTable    = table{name: "pictures", columns: columnNames(pictureColumns)}
	settingTable    = table{name: "catalogue", columns: columnNames(settingColumns)} // has one row
	changeTable     = table{name: "record_changes", key: "kind, slug", columns: columnNames(changeColumns)}
	eventTable      = table{name: "events", columns: []string{"sequence", "version", "id", "type", "slug", "created_at", "body"}}

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
	for i, v := range row {
		text, ok := v.(string)
		if !ok {
			continue
		}
		// PostgreSQL refuses NUL and invalid UTF-8, SQLite would accept them: neither may.
		column := b.table.columns[i]
		if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) || !isLong(column) && strings.Contains(text, separator) {
			return problem(ErrInvalid, nil, "the %s of %v in %s is not UTF-8 or holds a control character that cannot be stored: correct it; nothing was changed",
				column, row[0], b.table.name)
		}
	}
	return b.put(ctx, row)
}

// put is add for a row that was stored before.
func (b *batch) put(ctx context.Context, row []any) error {
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

// remove deletes the rows of the given slugs.
func (p *publication) remove(ctx context.Context, t table, slugs []string) error {
	for some := range slices.Chunk(slugs, p.dialect.placeholders()) {
		list, args := in(some)
		if _, err := p.tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE slug IN %s", t.name, list), args...); err != nil {
			return err
		}
	}
	return nil
}

// in returns the right side of IN for values, and the arguments.
func in(values []string) (list string, args []any) {
	places := make([]string, len(values))
	for i, v := range values {
		args = append(args, v)
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	return "(" + strings.Join(places, ", ") + ")", args
}
