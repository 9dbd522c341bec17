package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/quota"
	"palmares/internal/testkit"
)

// nextRelease returns the migrations of this program and one more, which only adds.
func nextRelease(t *testing.T) fs.FS {
	t.Helper()
	next := releasesUntil(t, steps(t))
	next[fmt.Sprintf("migrations/%04d_next.sql", steps(t)+1)] = &fstest.MapFile{Data: []byte(`
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

// A database of the release before pages and pictures: its catalogue is served
// unchanged, and publishing the same folder again changes nothing.
func TestACatalogueOfThePreviousReleaseIsKept(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		old := &db{writeWait: defaultWriteWait, lockWait: lockLimit}
		var err error
		if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
			err = old.openSQLite(t.Context(), path)
		} else {
			err = old.openPostgres(dsn)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := old.migrate(t.Context(), releasesUntil(t, 8)); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			`INSERT INTO categories VALUES ('code', 'Code'), ('audio', 'Audio')`,
			`INSERT INTO tools VALUES ('a', 'A', 'a.example', 'code', 'mixte', 'payant', '2 €/mois', 'Un outil', 7, NULL, NULL, 3, FALSE,
				'2026-01-01', 'https://essai.example/outils/a', '', 'https://essai.example/alternatives/a', '', '', '', '', '')`, // as by default
			`INSERT INTO price_history VALUES ('a', 0, '2026-01-01', 'payant', '1 €/mois', 'payant', '2 €/mois'),
				('gone', 0, '2025-01-01', 'payant', '8 €/mois', 'payant', '9 €/mois')`,
			`UPDATE catalogue SET name = 'Essai', url = 'https://essai.example', version = 4, changed_on = '2026-01-01'`,
		} {
			if _, err := old.writes.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := old.close(); err != nil {
			t.Fatal(err)
		}

		s := open(t, dsn)
		folder := func() *catalog.Catalog {
			score := 7.0
			return &catalog.Catalog{
				Name: "Essai", URL: "https://essai.example",
				Categories: []catalog.Category{{Slug: "audio", Label: "Audio", Position: 0}, {Slug: "code", Label: "Code", Position: 1}},
				Tools: []*catalog.Tool{{
					Slug: "a", Name: "A", Domain: "a.example", Category: "code", ICP: "mixte", Pricing: "payant",
					Price: "2 €/mois", Tagline: "Un outil", Score: &score, Tier: 3,
				}},
			}
		}
		if p := publish(t, s, folder(), day(0)); !p.Diff.Empty() || p.Version != 4 {
			t.Errorf("the same folder is version %d: %+v", p.Version, p.Diff)
		}
		back := folder()
		again := tool("gone", "10 €/mois")
		again.Category = "code"
		back.Tools = append(back.Tools, again)
		publish(t, s, back, day(1))
		history(t, s, "a", change("2026-01-01", "1", "2"))
		history(t, s, "gone", change("2026-11-17", "9", "10"), change("2025-01-01", "8", "9"))
		if scores := loaded(t, s).Catalog.Tool("gone").ScoreHistory; len(scores) > 0 {
			t.Errorf("a score history that nobody knows: %v", scores)
		}
	})
}

// releasesUntil returns the first migrations of this program.
func releasesUntil(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	some := fstest.MapFS{}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files[:n] {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: text}
	}
	return some
}
