package catalogdb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// cmpEmpty treats an empty map of past tools as nil; empty lists must be nil.
var cmpEmpty = cmpopts.AcyclicTransformer("past", func(c catalog.Catalog) catalog.Catalog {
	if len(c.Past) == 0 {
		c.Past = nil
	}
	return c
})

func same(t failer, want, got *catalog.Catalog) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpEmpty); diff != "" {
		t.Fatalf("the catalogue (-want +got):\n%s", diff)
	}
}

func TestNothingPublishedIsVersion0(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		p := loaded(t, s)
		if p.Version != 0 || p.ChangedOn != "" {
			t.Errorf("version %d of %q; want 0", p.Version, p.ChangedOn)
		}
		same(t, &catalog.Catalog{}, p.Catalog)
		if v, err := version(t.Context(), s); err != nil || v != 0 {
			t.Errorf("VersionQuery: %d, %v", v, err)
		}
	})
}

func TestWhatIsPublishedIsLoaded(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		next := large(250, 1, 300)
		next.Tools[3].Score, next.Tools[3].Verifiability, next.Tools[3].Obsolescence = nil, ptr(0), ptr(10.0/3)
		next.Tools[4].Aliases, next.Tools[4].Sources, next.Tools[4].PriceHistory = nil, nil, nil
		next.Tools[5].Body = "Un paragraphe\r\n\twith \"quotes\", 'others', \\ and \x1f\x7f \U0001F980\n"
		next.Tools[6].Sources = []string{`https://x.example/?a="b"&c=\d`, "", `","`}
		next.Tools[7].CanonicalURL, next.Tools[7].ReviewURL, next.Tools[7].AlternativesURL = "https://a.example/1", "https://a.example/2", "https://a.example/3"
		next.Tools[8].Price = "1\u202f200,50 €/utilisateur/an"
		// Bytewise order, whatever the database's collation says of dashes and digits.
		for _, slug := range []string{"zz", "z-z", "z0", "z-0-z", "zz-a"} {
			next.Tools = append(next.Tools, tool(slug, "1 €/mois"))
		}
		p := publish(t, s, next, monday)
		got := loaded(t, s)
		if p.Version != 1 || got.Version != 1 || got.ChangedOn != "2026-11-16" {
			t.Errorf("published version %d, loaded %d of %s", p.Version, got.Version, got.ChangedOn)
		}
		if !slices.IsSortedFunc(got.Catalog.Tools, func(a, b *catalog.Tool) int { return strings.Compare(a.Slug, b.Slug) }) {
			t.Error("the tools are not in the order of their slugs")
		}
		same(t, next, got.Catalog)
	})
}

func TestPublishingTheSameAgainWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		first := publish(t, s, large(50, 1, 300), monday)
		before := dump(t, s)
		// Changes with every commit, even one that writes a row without changing it.
		trace := `PRAGMA data_version`
		if s.SQL.Shared() {
			trace = `SELECT CAST(xmin AS TEXT) FROM catalogue`
		}
		conn, err := s.SQL.Reads().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		traced := func() (at string) {
			if err := conn.QueryRowContext(t.Context(), trace).Scan(&at); err != nil {
				t.Fatal(err)
			}
			return at
		}
		untouched := traced()
		again := publish(t, s, large(50, 1, 300), day(3))
		if at := traced(); at != untouched {
			t.Errorf("something was committed: %s, then %s", untouched, at)
		}
		if again.Version != first.Version || again.Sequence != first.Sequence || !again.Diff.Empty() {
			t.Errorf("published again: %+v; want version %d and nothing changed", again, first.Version)
		}
		if after := dump(t, s); after != before {
			t.Errorf("something was written:\n%s", cmp.Diff(before, after))
		}
	})
}

func TestOnlyWhatChangedIsWritten(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, catalogue(tool("a", "1 €/mois"), tool("b", "1 €/mois")), monday)
		next := catalogue(tool("a", "2 €/mois"), tool("b", "1 €/mois"))
		p := publish(t, s, next, day(1))
		if diff := cmp.Diff(catalog.RecordChanges{Changed: []string{"a"}}, p.Diff.Of(catalog.ToolKind)); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		written, err := sqldb.Rows(t.Context(), s.SQL.Reads(), `SELECT slug FROM records WHERE written = 2`, sqldb.ScanText)
		if err != nil || !slices.Equal(written, []string{"a"}) {
			t.Errorf("version 2 wrote %v, %v", written, err)
		}
	})
}

func TestADraftOrAReviewCountsAsAChange(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		c := func(body string) *catalog.Catalog {
			c := catalogue(tool("a", "1 €/mois"))
			c.Tools[0].Body, c.Tools[0].UpdatedAt = body, "2026-01-01"
			return c
		}
		publish(t, s, c("Bien."), monday)
		if p := publish(t, s, c("Mieux."), day(1)); p.Version != 2 {
			t.Errorf("version %d; want 2", p.Version)
		}
		same(t, c("Mieux."), loaded(t, s).Catalog)
		if got := types(events(t, s), 2); got != "review.updated a\ncatalog.updated" {
			t.Errorf("events of a review outside the top set:\n%s", got)
		}
	})
}

func TestToolsThatDisappearStopThePublication(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, catalogue(tool("a", "1 €/mois"), tool("b", "1 €/mois"), tool("c", "1 €/mois"), tool("d", "1 €/mois")), monday)
		before := dump(t, s)
		next := func() *catalog.Catalog {
			renamed := tool("dd", "1 €/mois")
			renamed.Aliases = []string{"d"}
			c := catalogue(renamed)
			c.Retired = []catalog.Retired{retired("c")}
			return c
		}
		_, err := s.Catalogue.Publish(t.Context(), next(), PublishOptions{Now: at(day(1))})
		var removals *RemovalsError
		if !errors.As(err, &removals) || !slices.Equal(removals.Slugs, []string{"a", "b"}) {
			t.Fatalf("Publish = %v; want a RemovalsError with a and b", err)
		}
		if text := err.Error(); !strings.Contains(text, "a, b") {
			t.Errorf("the message does not say which: %s", text)
		}
		if dump(t, s) != before {
			t.Error("the refused publication changed the database")
		}
		if _, err := s.Catalogue.Publish(t.Context(), next(), PublishOptions{Now: at(day(1)), AllowRemovals: true}); err != nil {
			t.Fatal(err)
		}
		if got := types(events(t, s), 2); !strings.Contains(got, "tool.removed a\ntool.removed b\ntool.retired c\n") {
			t.Errorf("events:\n%s", got)
		}
	})
}

func TestADryRunReportsAllAndChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, large(30, 1, 300), monday)
		before := dump(t, s)
		next := large(30, 2, 300)
		dry, err := s.Catalogue.Publish(t.Context(), next, PublishOptions{Now: at(day(1)), DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if dump(t, s) != before {
			t.Error("the dry run changed the database")
		}
		if real := publish(t, s, large(30, 2, 300), day(1)); cmp.Diff(real, dry) != "" || real.Diff.Empty() {
			t.Errorf("the dry run announced something else (-done +announced):\n%s", cmp.Diff(real, dry))
		}
	})
}

func TestAPublicationThatIsCancelledAtAnyStepChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, killed(1), day(1))
		before := dump(t, s)
		for step := 1; ; step++ {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			_, err := s.Catalogue.Publish(ctx, killed(2), PublishOptions{Now: at(day(2)), Progress: func(Progress) {
				if calls++; calls == step {
					cancel()
				}
			}})
			cancel()
			if err == nil {
				if calls >= step || step < 8 {
					t.Errorf("published with %d steps though cancelled at step %d", calls, step)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled at step %d: %v", step, err)
			}
			if dump(t, s) != before {
				t.Fatalf("cancelled at step %d, it left something behind", step)
			}
		}
		if v := loaded(t, s).Version; v != 2 {
			t.Errorf("version %d at last; want 2", v)
		}
	})
}

func TestReadersSeeTheOldVersionUntilTheNewOneIsWhole(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, killed(1), day(1))
		old := loaded(t, s)
		next := killed(2)
		_, err := s.Catalogue.Publish(t.Context(), next, PublishOptions{Now: at(day(2)), Progress: func(Progress) {
			p := loaded(t, s)
			if p.Version != 1 {
				t.Errorf("version %d in the middle of publication 2", p.Version)
			}
			same(t, old.Catalog, p.Catalog)
		}})
		if err != nil {
			t.Fatal(err)
		}
		same(t, next, loaded(t, s).Catalog)
	})
}

func TestReadersNeverSeeAMix(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		version := func(v int) *catalog.Catalog {
			c := large(60, 0, 200)
			c.Name = strings.Repeat("I", v)
			for i := range c.Tools {
				c.Tools[i].Tagline = c.Name
				c.Tools[i].PriceHistory[0].NewPrice = c.Tools[i].Price
			}
			for i := range c.Comparisons {
				c.Comparisons[i].Title = c.Name
			}
			for i := range c.Retired {
				c.Retired[i].Body, c.Retired[i].Note = c.Name, c.Name
			}
			return c
		}
		publish(t, s, version(1), day(1))
		ctx, done := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for ctx.Err() == nil {
					p, err := s.Catalogue.Load(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					mixed := len(p.Catalog.Name) != int(p.Version)
					for _, x := range p.Catalog.Tools {
						mixed = mixed || x.Tagline != p.Catalog.Name
					}
					for _, x := range p.Catalog.Comparisons {
						mixed = mixed || x.Title != p.Catalog.Name
					}
					for _, x := range p.Catalog.Retired {
						mixed = mixed || x.Note != p.Catalog.Name
					}
					if mixed {
						t.Errorf("version %d is mixed with another", p.Version)
						return
					}
				}
			})
		}
		for v := 2; v <= 12; v++ {
			publish(t, s, version(v), day(v))
		}
		done()
		readers.Wait()
	})
}

func TestOfTwoPublishersAtOnceEachIsWhole(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		a, b := open(t, dsn), open(t, dsn)
		publish(t, a, killed(1), day(1))
		for round := range 5 {
			var both sync.WaitGroup
			results := make([]Publication, 2)
			nexts := []*catalog.Catalog{killed(2*round + 2), killed(2*round + 3)}
			for i, s := range []*kit{a, b} {
				both.Go(func() {
					var err error
					if results[i], err = s.Catalogue.Publish(t.Context(), nexts[i], PublishOptions{Now: at(day(round + 2)), AllowRemovals: true}); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			last := 0
			if results[1].Version > results[0].Version {
				last = 1
			}
			if v := loaded(t, a); results[1-last].Version != v.Version-1 || results[last].Version != v.Version {
				t.Fatalf("versions %d and %d; %d is published", results[0].Version, results[1].Version, v.Version)
			}
			same(t, nexts[last], loaded(t, b).Catalog)
			if n := len(events(t, a)); int64(n) != results[last].Sequence {
				t.Errorf("%d events; the last publication ended at %d", n, results[last].Sequence)
			}
		}
	})
}

func TestAPublisherThatWaitsTooLongGetsErrBusy(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s, other := open(t, dsn), open(t, dsn)
		impatient, err := openWith(t.Context(), dsn, sqldb.Config{WriteWait: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer impatient.Close()
		refused := 0
		_, err = s.Catalogue.Publish(t.Context(), killed(1), PublishOptions{Now: at(day(1)), Progress: func(p Progress) {
			if p.Stage != "records" {
				return
			}
			_, err := impatient.Catalogue.Publish(t.Context(), killed(2), PublishOptions{Now: func() time.Time {
				t.Error("a publication that waits has a time")
				return day(2)
			}})
			if !errors.Is(err, sqldb.ErrBusy) || !strings.Contains(err.Error(), "try again") {
				t.Errorf("a second publisher: %v; want ErrBusy and what to do", err)
			}
			refused++
			client := other
			if !other.SQL.Shared() {
				client = impatient
			}
			// PostgreSQL locks a row, SQLite the file.
			_, err = client.Accounts.Create(t.Context(), "ada@example.org", account.Pro, monday)
			if s.SQL.Shared() && err != nil && !errors.Is(err, accountdb.ErrAccountExists) || !s.SQL.Shared() && !errors.Is(err, sqldb.ErrBusy) {
				t.Errorf("an account during a publication: %v", err)
			}
		}})
		if err != nil || refused == 0 {
			t.Errorf("the first publisher: %v, %d refused meanwhile", err, refused)
		}
		if v := loaded(t, other).Version; v != 1 {
			t.Errorf("version %d; want 1", v)
		}
	})
}

func TestAFullDiskLosesNothing(t *testing.T) {
	s := open(t, "sqlite:"+t.TempDir()+"/palmares.db")
	publish(t, s, catalogue(tool("a", "1 €/mois")), monday)
	before := dump(t, s)
	limit := func(pages string) {
		execute(t, s, "PRAGMA max_page_count = "+pages)
	}
	limit("100")
	next := func() *catalog.Catalog {
		c := large(300, 1, 2000)
		c.Tools = append(c.Tools, tool("a", "1 €/mois"))
		return c
	}
	_, err := s.Catalogue.Publish(t.Context(), next(), PublishOptions{Now: at(day(1))})
	if !errors.Is(err, sqldb.ErrFull) || !strings.Contains(err.Error(), "no space left") {
		t.Fatalf("Publish = %v; want sqldb.ErrFull", err)
	}
	if dump(t, s) != before {
		t.Error("the database changed")
	}
	limit("1000000")
	if p := publish(t, s, next(), day(1)); p.Version != 2 {
		t.Errorf("version %d once there is space; want 2", p.Version)
	}
}

func TestProgressCountsEveryRecordOnce(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		total := map[string]int{}
		last := Progress{}
		_, err := s.Catalogue.Publish(t.Context(), large(2500, 1, 10), PublishOptions{Now: at(monday), Progress: func(p Progress) {
			if p.Stage == last.Stage && p.Done < last.Done || p.Done > p.Total {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
			if p.Done == p.Total {
				total[p.Stage] = p.Total
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if total["records"] != 2500+250+250+1 || total["events"] < 2500 {
			t.Errorf("records by stage: %v", total)
		}
	})
}
