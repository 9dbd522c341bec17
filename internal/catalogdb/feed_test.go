package catalogdb

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/record"
)

// told lists changes as "position version kind slug", with what became of the record.
func told(changes []record.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%d %d %s %s", c.Position, c.Version, c.Kind, c.Slug)
		if c.Deleted {
			fmt.Fprintf(&b, " deleted %s", c.RenamedTo)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// duel compares a and b.
func duel(slug string, isPublished bool) catalog.Comparison {
	return catalog.Comparison{Slug: slug, Title: "Duel", ToolA: "a", ToolB: "b", Winner: "a", WinnerNote: "Net.", Published: isPublished}
}

func TestTheFeedHasTheLastChangeOfEveryRecord(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		step := 0
		next := func(want string, change func(*catalog.Catalog)) {
			t.Helper()
			before := loaded(t, s).Feed.Last
			c := catalogue(tool("a", "1 €/mois"), tool("b", "2 €/mois"))
			c.Tools[0].Score, c.Tools[1].Score = ptr(7), ptr(8)
			c.Comparisons = []catalog.Comparison{duel("duel", true), duel("secret", false)}
			c.Pages = []catalog.Page{{Slug: "methode", Title: "Méthode", Menu: "footer"}}
			if change != nil {
				change(c)
			}
			c.Sort()
			if _, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(step)), AllowRemovals: true}); err != nil {
				t.Fatal(err)
			}
			step++
			if diff := cmp.Diff(strings.ReplaceAll(want, "\t", ""), told(loaded(t, s).Feed.From(before))); diff != "" {
				t.Errorf("publication %d: %s", step, diff)
			}
		}
		next("1 1 outil a\n2 1 outil b\n3 1 comparatif duel\n4 1 page methode\n5 1 catalogue catalogue\n", nil)
		next("", nil)
		next("6 2 comparatif duel deleted \n", func(c *catalog.Catalog) { c.Comparisons[0].Published = false })
		next("7 3 comparatif duel\n", nil)
		next("8 4 outil c\n9 4 comparatif duel deleted \n10 4 outil b deleted c\n", func(c *catalog.Catalog) { // a rename
			c.Tools[1].Slug, c.Tools[1].Aliases, c.Comparisons = "c", []string{"b"}, nil
		})
		next("11 5 outil d\n12 5 outil b deleted d\n13 5 outil c deleted d\n", func(c *catalog.Catalog) { // and another
			c.Tools[1].Slug, c.Tools[1].Aliases, c.Comparisons = "d", []string{"b", "c"}, nil
		})
		next("14 6 outil a\n15 6 outil b deleted \n16 6 outil c deleted \n17 6 outil d deleted a\n", func(c *catalog.Catalog) { // two are one
			c.Tools, c.Comparisons = c.Tools[:1], nil
			c.Tools[0].Aliases = []string{"d"}
		})
		next("18 7 outil a\n19 7 outil b\n20 7 comparatif duel\n21 7 outil d deleted \n", nil)
		next("22 8 cimetiere b\n23 8 comparatif duel deleted \n24 8 outil b deleted \n", func(c *catalog.Catalog) {
			c.Tools, c.Comparisons, c.Retired = c.Tools[:1], nil, []catalog.Retired{retired("b")}
		})
		next("25 9 outil b\n26 9 comparatif duel\n27 9 cimetiere b deleted \n", nil) // restored
		next("28 10 catalogue catalogue\n", func(c *catalog.Catalog) { c.Settings.Headline = "Bonjour" })
		next("29 11 comparatif grand-duel\n30 11 catalogue catalogue\n31 11 comparatif duel deleted grand-duel\n", func(c *catalog.Catalog) {
			c.Comparisons[0].Slug, c.Comparisons[0].Aliases = "grand-duel", []string{"duel"}
		})
		got := map[string]string{}
		for _, c := range loaded(t, s).Feed.Changes {
			got[c.Kind.Name+" "+c.Slug] = fmt.Sprintf("%d %.10s", c.FirstPosition, c.FirstAt)
		}
		want := map[string]string{
			"outil a": "1 2026-11-16", "outil b": "2 2026-11-16", "comparatif grand-duel": "3 2026-11-16", "page methode": "4 2026-11-16", "catalogue catalogue": "5 2026-11-16",
			"outil c": "2 2026-11-16", "outil d": "2 2026-11-16", "cimetiere b": "22 2026-11-24", "comparatif duel": "3 2026-11-16",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("when records became public: %s", diff)
		}
	})
}

func TestTheStateIsStoredAndTheHashesAreThoseOfTheRecords(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		empty := loaded(t, s).Feed
		if empty.State != record.State(nil) || empty.ID == "" || empty.Format != record.Format || empty.Last != 0 || len(empty.Changes) > 0 {
			t.Errorf("before the first publication: %+v", empty)
		}
		publish(t, s, large(50, 1, 100), monday)
		p := loaded(t, s)
		if p.Feed.ID != empty.ID || p.Feed.State != expectedState(t, p.Catalog) || p.Feed.State != record.State(p.Feed.Changes) {
			t.Errorf("state %s of %s", p.Feed.State, p.Feed.ID)
		}
		for _, c := range p.Feed.Changes {
			if c.At != "2026-11-16T09:30:00.250Z" || c.Version != 1 || !regexp.MustCompile(`^sha256-[0-9a-f]{64}$`).MatchString(c.Hash) {
				t.Errorf("%+v", c)
			}
		}
		// Everything is named anew in bulk: the URLs of tools follow the site, comparisons have none.
		moved := large(50, 1, 100)
		moved.URL = "https://ailleurs.example"
		publish(t, s, moved, day(1))
		next := loaded(t, s)
		if n := len(next.Feed.From(p.Feed.Last)); n != 50+1 || next.Feed.State != expectedState(t, next.Catalog) {
			t.Errorf("%d changes", n)
		}
		heads := large(50, 1, 100)
		heads.URL, heads.Settings.Dataset = moved.URL, catalog.DatasetHead
		publish(t, s, heads, day(2))
		last := loaded(t, s)
		if n := len(last.Feed.From(next.Feed.Last)); n != 50+5+1 || last.Feed.State != expectedState(t, last.Catalog) {
			t.Errorf("%d changes without bodies", n)
		}
	})
}

// expectedState computes the state of a catalogue from all its records.
func expectedState(t failer, c *catalog.Catalog) string {
	t.Helper()
	var all []record.Change
	add := func(kind *catalog.Kind, slug string) {
		if r, found := record.Find(c, kind, slug); found {
			all = append(all, record.Change{Kind: kind, Slug: slug, Hash: record.Hash(r.Append(nil, r.Images(c)))})
		}
	}
	for _, kind := range catalog.Kinds {
		for i := range kind.Len(c) {
			add(kind, kind.Slug(kind.At(c, i)))
		}
	}
	return record.State(all)
}

func TestRecordsOfAnotherFormAreHashedAnewByTheNextPublication(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, catalogue(tool("a", "1 €/mois"), tool("b", "1 €/mois")), monday)
		want := loaded(t, s).Feed
		for _, statement := range []string{`UPDATE catalogue SET feed_format = 0`, `UPDATE records SET hash = 'sha256-0' WHERE slug = 'a'`} {
			execute(t, s, statement)
		}
		publish(t, s, catalogue(tool("a", "1 €/mois"), tool("b", "2 €/mois")), day(1))
		got := loaded(t, s).Feed
		if told(got.From(want.Last)) != "4 2 outil a\n5 2 outil b\n" || got.Format != record.Format || got.From(want.Last)[0].Hash != want.Changes[0].Hash {
			t.Errorf("%+v", got)
		}
	})
}
