package store

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"palmares/internal/account"
	"palmares/internal/quota"
	"palmares/internal/testkit"
)

// nextRelease returns the migrations of this program and one more, which only adds.
func nextRelease(t *testing.T) fs.FS {
	t.Helper()
	next := fstest.MapFS{}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		next[name] = &fstest.MapFile{Data: text}
	}
	next[fmt.Sprintf("migrations/%04d_next.sql", len(files)+1)] = &fstest.MapFile{Data: []byte(`
		CREATE TABLE next_release (id TEXT NOT NULL PRIMARY KEY);
		ALTER TABLE accounts ADD COLUMN nickname TEXT NOT NULL DEFAULT '';
		ALTER TABLE tools ADD COLUMN colour TEXT NOT NULL DEFAULT '';`)}
	return next
}

func TestOldAndNewReleasesRunSideBySide(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		running := open(t, dsn)
		publish(t, running, catalogue(tool("a", "1 €/mois")), monday)
		newer := open(t, dsn)
		if err := newer.migrate(t.Context(), nextRelease(t)); err != nil {
			t.Fatal(err)
		}
		restarted := open(t, dsn) // an old node that starts again while others are new already
		for i, s := range []*Store{running, newer, restarted} {
			version := publish(t, s, catalogue(tool("a", fmt.Sprintf("%d €/mois", i+2))), day(i+1)).Version
			a := create(t, s, fmt.Sprintf("%d@example.org", i), account.Developer)
			if _, _, err := s.Keys.Create(t.Context(), a.Email, "x", monday); err != nil {
				t.Error(err)
			}
			save(t, s, "2026-11-16", quota.Usage{Accounts: []quota.AccountCount{{Account: a.ID, Requests: 1}}})
			for _, other := range []*Store{running, newer, restarted} {
				if v := loaded(t, other).Version; v != version {
					t.Errorf("after version %d a store has %d", version, v)
				}
				if keys, err := other.Keys.List(t.Context(), a.Email); err != nil || len(keys) != 1 {
					t.Errorf("%d keys, %v", len(keys), err)
				}
			}
		}
		var taken int
		if err := running.reads.QueryRow(`SELECT count(*) FROM palmares_schema`).Scan(&taken); err != nil || taken != steps(t)+1 {
			t.Errorf("%d steps were taken, %v", taken, err)
		}
	})
}

func TestAReleaseThatDoesMoreThanAddRefusesOlderPrograms(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		if err := s.migrate(t.Context(), nextRelease(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.writes.Exec(`UPDATE palmares_schema SET compatible_from = $1 WHERE version = $1`, steps(t)+1); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), dsn); !errors.Is(err, ErrNewer) {
			t.Errorf("Open = %v; want ErrNewer", err)
		}
	})
}
