package catalogdb

import (
	"bufio"
	"database/sql"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// killed returns version v of a catalogue: each changes prices, reviews and comparisons,
// retires a tool and restores the one before.
func killed(v int) *catalog.Catalog {
	c := large(40, uint64(v), 400)
	gone := v % 20
	c.Retired = append(c.Retired, retired(c.Tools[39-gone].Slug))
	c.Tools = append(c.Tools[:39-gone], c.Tools[40-gone:]...)
	c.Sort()
	return c
}

// killAfter runs a child that publishes, kills it after n lines, and returns the last one.
func killAfter(t *testing.T, dsn string, n int) string {
	t.Helper()
	cmd := childCommand("publish", dsn)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, at := bufio.NewScanner(stdout), ""
	for range n {
		if !lines.Scan() {
			t.Fatalf("the child ended by itself: %s", &stderr)
		}
		at = lines.Text()
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return at
}

// make chaos has many more.
var kills = flag.Int("store-kills", 1, "how many processes that publish are killed")

func TestAKilledPublisherLeavesTheOldVersionOrTheNewOne(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		expected := []*catalog.Catalog{{}}
		counts := []int{0} // of events
		for i := range *kills {
			// A publication prints some twenty lines: the kill comes at another step of
			// the second, the third or the first each time.
			at := killAfter(t, dsn, 1+(i*11+30)%60)
			// PostgreSQL may still be running the child's last statement.
			err := s.SQL.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.ExecContext(t.Context(), `UPDATE catalogue SET version = version`)
				return errors.Join(err, errRollback)
			})
			if !errors.Is(err, errRollback) {
				t.Fatal(err)
			}

			p := loaded(t, s)
			for v := len(expected); v <= int(p.Version); v++ {
				next := killed(v)
				catalog.CarryOver(expected[v-1], next, catalog.Day(day(v)))
				diff := catalog.Compare(expected[v-1], next, markdown.Sections)
				expected, counts = append(expected, next), append(counts, len(diff.Changes))
			}
			if p.Version > 0 && p.ChangedOn != catalog.Day(day(int(p.Version))) {
				t.Errorf("killed after %q: version %d is of %s", at, p.Version, p.ChangedOn)
			}
			if diff := cmp.Diff(expected[p.Version], p.Catalog, cmpEmpty); diff != "" {
				t.Fatalf("killed after %q: version %d is not what was published (-want +got):\n%s", at, p.Version, diff)
			}
			got := make([]int, len(counts))
			for _, e := range events(t, s) {
				if int(e.Version) >= len(got) {
					t.Fatalf("killed after %q: version %d is published and event %d is of version %d", at, p.Version, e.Sequence, e.Version)
				}
				got[e.Version]++
			}
			if diff := cmp.Diff(counts, got); diff != "" {
				t.Fatalf("killed after %q: events by version (-want +got):\n%s", at, diff)
			}
			if !s.SQL.Shared() {
				var ok string
				if err := s.SQL.Reads().QueryRow("PRAGMA integrity_check").Scan(&ok); err != nil || ok != "ok" {
					t.Fatalf("killed after %q: %s, %v", at, ok, err)
				}
			}
		}
		if n := len(expected) - 1; n < *kills*2/3 {
			t.Errorf("only %d versions were published between %d kills", n, *kills)
		}
	})
}
