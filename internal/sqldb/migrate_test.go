package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

// unreleasedTables writes what a program from before the first release leaves, as far as
// that says what it is.
func unreleasedTables(ctx context.Context, dsn string, version int) error {
	d, err := connect(ctx, dsn, Config{}, false)
	if err != nil {
		return err
	}
	mark := ""
	if !d.Shared() {
		mark = fmt.Sprintf("PRAGMA application_id = %d;", applicationID)
	}
	_, err = d.writes.ExecContext(ctx, mark+fmt.Sprintf(`
		CREATE TABLE palmares_schema (version INTEGER NOT NULL PRIMARY KEY, compatible_from INTEGER NOT NULL DEFAULT 0);
		CREATE TABLE tools (slug TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL);
		INSERT INTO palmares_schema VALUES (1, 0), (%d, 8);
		INSERT INTO tools VALUES ('plume', 'Plume');`, version))
	return errors.Join(err, d.Close())
}

func TestADatabaseFromBeforeTheFirstReleaseIsRefusedAndLeftUnchanged(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		if err := unreleasedTables(t.Context(), dsn, unreleased); err != nil {
			t.Fatal(err)
		}
		tooOld(t, dsn)
	})
}

func TestADatabaseOfAnotherTextOfAMigrationIsRefusedAndLeftUnchanged(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		d := openDSN(t, dsn)
		if err := WriteOnce(t.Context(), d, `UPDATE palmares_schema SET digest = 'x' WHERE version = $1`, unreleased+1); err != nil {
			t.Fatal(err)
		}
		tooOld(t, dsn)
	})
}

// tooOld checks that a database is refused as too old, also by Examine, and left unchanged.
func tooOld(t *testing.T, dsn string) {
	t.Helper()
	d, err := connect(t.Context(), dsn, Config{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := testkit.Dump(t, d.reads)
	_, err = openTables(t.Context(), dsn)
	if !errors.Is(err, ErrOlder) || !IsPermanent(err) {
		t.Fatalf("Open = %v; want ErrOlder", err)
	}
	found, ok := Examine(t.Context(), dsn, tables, nil)
	if ok || len(found) != 1 || !found[0].Wrong || found[0].Text != err.Error() {
		t.Errorf("it is found to be %+v", found)
	}
	for _, part := range []string{
		"before the first release", "`palmares export` of that program", "publish the exported folder into a new database",
		"nothing was changed",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: does not say %q", err, part)
		}
	}
	if after := testkit.Dump(t, d.reads); after != before {
		t.Errorf("the database was changed from\n%s\nto\n%s", before, after)
	}
}
