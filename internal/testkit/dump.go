package testkit

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Dump returns every row of some tables, or of all, to check what was written.
func Dump(t testing.TB, db *sql.DB, tables ...string) string {
	t.Helper()
	if len(tables) == 0 {
		query := `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`
		if !isSQLite(db) {
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

// AtRest returns every byte that a database stores: on SQLite those of its files, deleted ones included, on PostgreSQL
// those of all rows.
func AtRest(t testing.TB, db *sql.DB) (all []byte) {
	t.Helper()
	if !isSQLite(db) {
		return []byte(Dump(t, db))
	}
	file := dumpRows(t, db, `SELECT file FROM pragma_database_list WHERE name = 'main'`)[0][0].(string)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		b, err := os.ReadFile(file + suffix)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func isSQLite(db *sql.DB) bool { return strings.Contains(fmt.Sprintf("%T", db.Driver()), "sqlite") }

// Fails checks that an error is of a kind, and what it says.
func Fails(t testing.TB, err, kind error, says ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v; want %v", err, kind)
		return
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}
