package deskdb_test

import (
	"os"
	"testing"
	"time"

	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

type kit = testdb.DB

// databases have the current tables.
var databases = testkit.Migrated[*kit]{Open: testdb.Open}

// each runs a test on a database of both kinds.
func each(t *testing.T, test func(t *testing.T, s *kit)) {
	t.Helper()
	databases.Each(t, test)
}

// count returns how many rows a table has.
func count(t *testing.T, s *kit, table string) int {
	t.Helper()
	n, err := sqldb.Get[int](t.Context(), s.SQL, `SELECT count(*) FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var monday = time.Date(2026, 11, 16, 9, 30, 0, 250_000_000, time.UTC)

func day(n int) time.Time { return monday.AddDate(0, 0, n) }
