package sqldb

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

func TestADatabaseFromBeforeTheFirstReleaseIsRefusedAndLeftUnchanged(t *testing.T) {
	for name, statements := range map[string][]string{
		"of an earlier version": {
			`ALTER TABLE palmares_schema DROP COLUMN digest`, `DELETE FROM palmares_schema`,
			fmt.Sprintf(`INSERT INTO palmares_schema VALUES (1), (%d)`, unreleased),
		},
		"of another text of a migration": {fmt.Sprintf(`UPDATE palmares_schema SET digest = 'x' WHERE version = %d`, newest)},
	} {
		databases.EachDSN(t, func(t *testing.T, dsn string) {
			d := openDSN(t, dsn)
			mustAdd(t, d, 1)
			for _, statement := range statements {
				if err := WriteOnce(t.Context(), d, statement); err != nil {
					t.Fatal(err)
				}
			}
			before := testkit.Dump(t, d.reads)
			_, err := openTables(t.Context(), dsn)
			if !errors.Is(err, ErrOlder) || !IsPermanent(err) {
				t.Fatalf("%s: Open = %v; want ErrOlder", name, err)
			}
			for _, part := range []string{"before the first release", "`palmares export` of that program", "publish the exported folder into a new database", "nothing was changed"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v: does not say %q", err, part)
				}
			}
			found, ok := Examine(t.Context(), dsn, tables, nil)
			if ok || len(found) != 1 || found[0].Verdict != Wrong || found[0].Text != err.Error() {
				t.Errorf("%s: it is found to be %+v", name, found)
			}
			if testkit.Dump(t, d.reads) != before {
				t.Errorf("%s: the database was changed", name)
			}
		})
	}
}
