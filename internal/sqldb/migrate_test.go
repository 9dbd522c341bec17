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
		_, err := openTables(t.Context(), dsn)
		if !errors.Is(err, ErrOlder) || !IsPermanent(err) {
			t.Fatalf("Open = %v; want ErrOlder", err)
		}
		for _, part := range []string{"before the first release", "`palmares export` of that program", "publish the exported folder into a new database", "nothing was changed"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: does not say %q", err, part)
			}
		}
		found, ok := Examine(t.Context(), dsn, tables, nil)
		if ok || len(found) == 0 || !found[len(found)-1].Wrong || !strings.Contains(found[len(found)-1].Text, "publish the export into a new database") {
			t.Errorf("it is found to be %+v", found)
		}
		d, err := connect(t.Context(), dsn, Config{}, false)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		var name string
		var versions int
		err = d.reads.QueryRowContext(t.Context(), `SELECT name, (SELECT count(*) FROM palmares_schema) FROM tools`).Scan(&name, &versions)
		if err != nil || name != "Plume" || versions != 2 {
			t.Errorf("%q, %d versions, %v", name, versions, err)
		}
	})
}
