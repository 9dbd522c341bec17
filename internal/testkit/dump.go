package testkit

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Dump returns every row of some tables, or of all, to check what was written.
func Dump(t testing.TB, db *sql.DB, tables ...string) string {
	t.Helper()
	if len(tables) == 0 {
		query := `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`
		if !strings.Contains(fmt.Sprintf("%T", db.Driver()), "sqlite") {
			query = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`
		}
		for _, row := range dumpRows(t, db, query) {
			tables = append(tables, row[0].(string))
		}
	}
	var all []string
	for _, name := range tables {
		for _, row := range dumpRows(t, db, "SELECT * FROM "+name) {
			all = append(all, fmt.Sprintf("%s %q\n", name, row))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func dumpRows(t testing.TB, db *sql.DB, query string) (all [][]any) {
	t.Helper()
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		row, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := found.Scan(places...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
