package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"palmares/internal/testkit"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv("PALMARES_SQLDB_CHILD"); dsn != "" {
		openChild(dsn) // this process is a child of a test
		return
	}
	CountTimeout = 3 * time.Minute // on a machine of any speed
	os.Exit(testkit.Run(m))
}

// tables are those of the tests, of two packages.
var tables = Config{
	Parts: []Part{
		{
			Migrations: fstest.MapFS{"migrations/0001_state.sql": {Data: []byte(`
CREATE TABLE state (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), number BIGINT NOT NULL, name TEXT NOT NULL);
INSERT INTO state VALUES (1, 0, '');`)}},
			Singletons: map[string]string{"state": "number = 0"},
			Created: func(ctx context.Context, _ *DB, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE state SET name = 'new'`)
				return err
			},
		},
		{Migrations: fstest.MapFS{
			"migrations/0001_tools.sql": {Data: []byte(`CREATE TABLE tools (slug TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL);`)},
			"migrations/0002_tools.sql": {Data: []byte(`ALTER TABLE tools ADD COLUMN size BIGINT NOT NULL DEFAULT 0;`)},
		}},
	},
	Counting: countState,
}

const (
	countState  = `SELECT number FROM state`
	numberQuery = `SELECT number FROM state`
	newest      = unreleased + 3
)

// databases have the current tables; those of testkit.Each and testkit.Postgres are empty.
var databases = testkit.Migrated[*DB]{Open: openTables}

func openTables(ctx context.Context, dsn string) (*DB, error) { return Open(ctx, dsn, tables) }

// each runs a test on a database of both kinds.
func each(t *testing.T, test func(t *testing.T, d *DB)) {
	t.Helper()
	databases.Each(t, test)
}

func openDSN(t testing.TB, dsn string) *DB {
	t.Helper()
	return databases.OpenDSN(t, dsn)
}

// add writes rows to tools.
func add(ctx context.Context, d *DB, n int) error {
	return d.WriteLarge(ctx, func(tx *sql.Tx) error {
		b := NewBatch(tx, Table{Name: "tools", Key: "slug", Columns: []string{"slug", "body"}}, d.Placeholders())
		for i := range n {
			if err := b.Add(ctx, fmt.Sprintf("t%05d", i), fmt.Sprintf("%02000d", i)); err != nil {
				return err
			}
		}
		if err := b.Flush(ctx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE state SET number = number + 1`)
		return errors.Join(err, d.Notify(ctx, tx))
	})
}

func mustAdd(t testing.TB, d *DB, n int) {
	t.Helper()
	if err := add(t.Context(), d, n); err != nil {
		t.Fatal(err)
	}
}

// number returns how often add was called.
func number(t testing.TB, d *DB) int64 {
	t.Helper()
	numbers, err := d.Poll(t.Context(), numberQuery)
	if err != nil {
		t.Fatal(err)
	}
	return numbers[0]
}

// onPostgres returns the dialect of a database on PostgreSQL.
func onPostgres(d *DB) *postgresDialect { return d.dialect.(*postgresDialect) }

// noneLeft waits until every goroutine has ended that was not there before.
func noneLeft(t *testing.T, before goleak.Option) {
	t.Helper()
	var left error
	defer func() {
		if left != nil {
			t.Error(left)
		}
	}()
	testkit.Until(t, "the end of all goroutines", func() bool {
		left = goleak.Find(before)
		return left == nil
	})
}

// closedAddress refuses connections: nothing listens on port 1, and the system never
// assigns it.
const closedAddress = "127.0.0.1:1"

// childCommand returns a command that opens a database in a process of its own.
func childCommand(dsn string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PALMARES_SQLDB_CHILD="+dsn)
	return cmd
}

func openChild(dsn string) {
	d, err := openTables(context.Background(), dsn)
	if err == nil {
		err = d.Close()
	}
	if errors.Is(err, ErrReadOnly) {
		fmt.Print("read-only: ")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
