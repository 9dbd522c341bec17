package readerdb_test

import (
	"os"
	"testing"
	"time"

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

var monday = time.Date(2026, 11, 16, 9, 30, 0, 250_000_000, time.UTC)
