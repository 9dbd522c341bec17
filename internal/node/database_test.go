package node

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

// singletons are the tables with one row from the beginning.
var singletons = map[string]bool{"catalogue": true, "account_state": true}

// tableNames returns the name of every table, each after those it refers to.
func tableNames(t testing.TB) (names []string) {
	t.Helper()
	for _, part := range tables().Parts {
		names = append(names, matches(t, part, `CREATE TABLE (\w+)`)...)
	}
	return names
}

// matches returns the first group of every match in the migrations of a part.
func matches(t testing.TB, part sqldb.Part, expression string) (found []string) {
	t.Helper()
	files, err := fs.Glob(part.Migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(part.Migrations, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(expression).FindAllSubmatch(text, -1) {
			found = append(found, string(match[1]))
		}
	}
	return found
}

func TestTablesReferOnlyToTablesOfTheirPackage(t *testing.T) {
	for _, part := range tables().Parts {
		own := matches(t, part, `CREATE TABLE (\w+)`)
		for _, name := range matches(t, part, `REFERENCES (\w+)`) {
			if !slices.Contains(own, name) {
				t.Errorf("a table refers to %s, which is not among %v", name, own)
			}
		}
	}
}

// fillRows is how many rows fill writes to most tables.
const fillRows = 120

var (
	copyAccounts   = flag.Int("copy-accounts", fillRows, "accounts of TestACopyHasTheSameRowsThereAndBack")
	copyDeliveries = flag.Int("copy-deliveries", fillRows, "deliveries of TestACopyHasTheSameRowsThereAndBack")
)

// references are columns whose value is that of a row of another table.
var references = map[string]string{"account_id": "accounts.id", "endpoint_id": "endpoints.id", "delivery_id": "deliveries.id", "copy_id": "working_copies.id", "version": "publications.version"}

// fill writes rows to every table of an empty database, with a value in every column that
// differs from row to row.
func fill(t *testing.T, s *Database) {
	t.Helper()
	err := s.SQL.WriteLarge(t.Context(), func(tx *sql.Tx) error {
		for _, name := range tableNames(t) {
			if singletons[name] {
				if _, err := tx.ExecContext(t.Context(), "DELETE FROM "+name); err != nil {
					return err
				}
			}
			columns, err := sqldb.Rows(t.Context(), tx, `SELECT name FROM pragma_table_info($1)`, sqldb.ScanText, name)
			if err != nil {
				return err
			}
			rows := fillRows
			switch name {
			case "accounts":
				rows = *copyAccounts
			case "deliveries":
				rows = *copyDeliveries
			}
			if singletons[name] {
				rows = 1 // CHECK (id = 1)
			}
			b := sqldb.NewBatch(tx, sqldb.Table{Name: name, Columns: columns}, s.SQL.Placeholders())
			for i := 1; i <= rows; i++ {
				row := make([]any, len(columns))
				for j, column := range columns {
					if row[j], err = sample(t.Context(), tx, name, column, rows, i); err != nil {
						return err
					}
				}
				if err := b.Add(t.Context(), row...); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			if err := b.Flush(t.Context()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sample returns a value for a column of row i.
func sample(ctx context.Context, tx *sql.Tx, name, column string, rows, i int) (any, error) {
	var declared string
	if err := tx.QueryRowContext(ctx, `SELECT type FROM pragma_table_info($1) WHERE name = $2`, name, column).Scan(&declared); err != nil {
		return nil, err
	}
	_, refers := references[column]
	switch {
	case rows == 1 && (column == "id" || column == "version"):
		return int64(1), nil
	case refers && declared == "TEXT":
		return fmt.Sprintf("%s.id %d é", strings.TrimSuffix(references[column], ".id"), (i-1)%fillRows+1), nil
	case declared == "TEXT":
		return fmt.Sprintf("%s.%s %d é", name, column, i), nil
	case declared == "BOOLEAN":
		return i%2 == 0, nil
	case declared == "DOUBLE PRECISION" && i%3 == 0:
		return nil, nil
	case declared == "DOUBLE PRECISION":
		return float64(i) + 0.1, nil
	case declared == "BYTEA":
		return []byte{0, byte(i), 0xff}, nil
	case declared == "BIGINT" && !refers && column != "sequence" && column != "position":
		return int64(1)<<53 + int64(i), nil
	default:
		return int64(i), nil
	}
}

// sameRows compares all rows of two databases, in whatever order each returns them.
func sameRows(t *testing.T, got, want string) {
	t.Helper()
	booleans := strings.NewReplacer("%!q(bool=true)", `'\x01'`, "%!q(bool=false)", `'\x00'`) // SQLite has none
	g, w := strings.Split(booleans.Replace(got), "\n"), strings.Split(booleans.Replace(want), "\n")
	slices.Sort(g)
	slices.Sort(w)
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%d rows and %d; the first that differs:\n%.300q\n%.300q", len(g), len(w), g[min(i, len(g)):min(i+1, len(g))], w[min(i, len(w)):min(i+1, len(w))])
		}
	}
}

func openOffline(t *testing.T, dsn string) *Database {
	t.Helper()
	s, err := OpenOffline(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func ignore(string, int64, int64) {}

func TestACopyHasTheSameRowsThereAndBack(t *testing.T) {
	lite := openOffline(t, testkit.SQLite(t))
	fill(t, lite)
	want := testkit.Dump(t, lite.SQL.Reads())
	postgres := openOffline(t, testkit.Postgres(t))
	var reported int64
	done, err := Copy(t.Context(), lite, postgres, func(_ string, done, total int64) {
		if done >= total {
			t.Errorf("%d of %d rows were said to be done while there are more", done, total)
		}
		reported++
	})
	if err != nil {
		t.Fatal(err)
	}
	if done.Rows != reported || done.Accounts != int64(*copyAccounts) || done.Version != 1 {
		t.Errorf("copied %+v, of which %d rows were reported", done, reported)
	}
	sameRows(t, testkit.Dump(t, postgres.SQL.Reads()), want)

	back := openOffline(t, testkit.SQLite(t))
	if _, err := Copy(t.Context(), postgres, back, ignore); err != nil {
		t.Fatal(err)
	}
	sameRows(t, testkit.Dump(t, back.SQL.Reads()), want)
}

func TestOnlyAnEmptyDatabaseIsCopiedTo(t *testing.T) {
	source := openOffline(t, testkit.SQLite(t))
	fill(t, source)
	testkit.Each(t, func(t *testing.T, dsn string) {
		target := openOffline(t, dsn)
		err := target.SQL.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `INSERT INTO pseudonym_keys VALUES ('usage', '2026-11-16', 'ab')`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		before := testkit.Dump(t, target.SQL.Reads())
		_, err = Copy(t.Context(), source, target, ignore)
		if !errors.Is(err, sqldb.ErrNotEmpty) || !strings.Contains(err.Error(), "pseudonym_keys") {
			t.Errorf("copied onto a database with a row: %v", err)
		}
		sameRows(t, testkit.Dump(t, target.SQL.Reads()), before)
	})
}

func TestACopyThatEndsEarlyLeavesAnEmptyDatabase(t *testing.T) {
	source := openOffline(t, testkit.SQLite(t))
	fill(t, source)
	testkit.Each(t, func(t *testing.T, dsn string) {
		target := openOffline(t, dsn)
		before := testkit.Dump(t, target.SQL.Reads())
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Copy(ctx, source, target, func(table string, _, _ int64) {
			if table == "deliveries" {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a copy that was cancelled ended with %v", err)
		}
		sameRows(t, testkit.Dump(t, target.SQL.Reads()), before)
		if _, err := Copy(t.Context(), source, target, ignore); err != nil {
			t.Errorf("the next copy failed: %v", err)
		}
	})
}

func TestADatabaseInUseIsNotOpenedOffline(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		server, err := Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.SQL.Claim(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := server.State(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s, err := OpenOffline(t.Context(), dsn); !errors.Is(err, sqldb.ErrServed) {
			t.Errorf("opened: %v, %v", s, err)
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
		testkit.Until(t, "the end of the server's sessions", func() bool {
			s, err := OpenOffline(t.Context(), dsn)
			if err != nil {
				return false
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return true
		})
	})
}
