package catalogdb

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// editions returns three catalogues that, published one after the other, cause events of
// every type.
func editions() []*catalog.Catalog {
	first := func() *catalog.Catalog {
		a, b, gone := tool("a", "9,90 €/mois"), tool("b", "0 €/mois"), tool("perdu", "1 €/mois")
		a.Score, a.Verifiability, a.Tier, a.Body = ptr(8.5), ptr(7), 1, "Très bon."
		b.Score = ptr(6)
		c := catalogue(a, b, gone)
		c.Retired = []catalog.Retired{retired("revenu")}
		c.Comparisons = []catalog.Comparison{
			{Slug: "a-vs-b", Title: "A ou B <&>", ToolA: "a", ToolB: "b", Winner: "a", WinnerNote: "Net.", Published: true},
			{Slug: "brouillon", Title: "Plus tard", ToolA: "a", ToolB: "b", Winner: "b", WinnerNote: "Serré."},
		}
		c.Articles = []catalog.Article{{Slug: "voix", Title: "La voix <&>", Authors: []string{"Ada"}, Date: "2026-11-01", Tools: []string{"a"}, Body: "Un."}}
		c.Pages = []catalog.Page{{Slug: "methode", Title: "Méthode", Menu: catalog.MenuFooter, Body: "Un."}}
		return c
	}
	second := func() *catalog.Catalog {
		c := first()
		c.Tools[0].Price, c.Tools[0].Tagline, c.Tools[0].Body = "12 €/mois", "Encore « mieux »", "Excellent."
		c.Tools[1].Slug, c.Tools[1].Aliases = "bb", []string{"b"}
		c.Tools = append(c.Tools[:2], tool("revenu", "1 €/mois"))
		c.Retired = []catalog.Retired{retired("perdu")}
		c.Comparisons[0].Winner, c.Comparisons[0].ToolB = "bb", "bb"
		c.Articles[0].Title, c.Articles[0].Authors, c.Articles[0].Sponsored, c.Articles[0].Body = "Les voix", []string{"Ada", "Bo"}, true, "Deux."
		c.Pages[0].Body = "Deux."
		c.Comparisons[1].Published, c.Comparisons[1].ToolB, c.Comparisons[1].Winner = true, "bb", "bb"
		return c
	}
	third := func() *catalog.Catalog { // everything but the renamed tool is gone
		c := second()
		c.Tools, c.Retired, c.Comparisons, c.Articles = c.Tools[1:2], nil, nil, nil
		return c
	}
	return []*catalog.Catalog{first(), second(), third()}
}

// Receivers depend on these bytes. The random part of ids is masked in the file.
func TestEventBodiesAreTheseBytes(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		for i, c := range editions() {
			if _, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(i)), AllowRemovals: true}); err != nil {
				t.Fatal(err)
			}
		}
		mask := regexp.MustCompile(`"id":"evt_[0-9a-z]{26}"`)
		var got bytes.Buffer
		last := ""
		for _, e := range events(t, s) {
			if e.ID <= last {
				t.Errorf("event %d has id %s after %s", e.Sequence, e.ID, last)
			}
			last = e.ID
			if !bytes.Contains(e.Body, []byte(`"id":"`+e.ID+`","type":"`+e.Type+`"`)) || !json.Valid(e.Body) || !e.CreatedAt.Equal(day(int(e.Version-1))) {
				t.Errorf("event %d at %s does not fit its body %s", e.Sequence, e.CreatedAt, e.Body)
			}
			got.Write(mask.ReplaceAll(e.Body, []byte(`"id":"evt_…"`)))
			got.WriteByte('\n')
		}
		const golden = "testdata/events.jsonl"
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
			t.Errorf("bodies (-want +got), refresh with -update if that is meant:\n%s", diff)
		}
	})
}

func TestThePublicationEventLeadsToItsPlaceInTheFeedOfRecords(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		for i, c := range editions() {
			if _, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(i)), AllowRemovals: true}); err != nil {
				t.Fatal(err)
			}
			all, now := events(t, s), loaded(t, s)
			body := string(all[len(all)-1].Body)
			for _, want := range []string{
				fmt.Sprintf(`"position":%d,`, now.Feed.Last), `"state":"` + now.Feed.State + `"`, fmt.Sprintf(`"version":%d}`, now.Version),
			} {
				if !strings.Contains(body, want) {
					t.Errorf("version %d: %s lacks %s", now.Version, body, want)
				}
			}
		}
	})
}

func TestEventsArePagedBySequence(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		p := publish(t, s, large(20, 1, 10), monday)
		some, err := s.Events.List(t.Context(), 5, "", 3)
		if err != nil || len(some.Events) != 3 || some.Events[0].Sequence != 6 || some.Events[2].Sequence != 8 || some.UpTo != 8 || !some.More || some.Oldest != 1 {
			t.Errorf("three after 5: %d events up to %d, more %t, oldest %d, %v", len(some.Events), some.UpTo, some.More, some.Oldest, err)
		}
		if none, err := s.Events.List(t.Context(), p.Sequence, "", 3); err != nil || len(none.Events) != 0 || none.UpTo != p.Sequence || none.More {
			t.Errorf("after the last: %d events up to %d, more %t, %v", len(none.Events), none.UpTo, none.More, err)
		}
	})
}

func TestAPageOfATypeIsFullOrTheLastWhateverIsBetween(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		last := publish(t, s, large(1500, 1, 10), monday).Sequence
		rare, err := s.Events.List(t.Context(), 0, catalog.CatalogUpdated, 50)
		if err != nil || len(rare.Events) != 1 || rare.Events[0].Sequence != last || rare.UpTo != last || rare.More {
			t.Errorf("the only one is the last of %d: %d events up to %d, more %t, %v", last, len(rare.Events), rare.UpTo, rare.More, err)
		}
		none, err := s.Events.List(t.Context(), 7, catalog.ToolRestored, 50)
		if err != nil || len(none.Events) != 0 || none.UpTo != last || none.More {
			t.Errorf("none of the type: %d events up to %d, more %t, %v", len(none.Events), none.UpTo, none.More, err)
		}
		created, after := 0, int64(0)
		for more := true; more; {
			page, err := s.Events.List(t.Context(), after, catalog.ToolCreated, 70)
			if err != nil || page.More && len(page.Events) != 70 {
				t.Fatalf("%d events although there are more, %v", len(page.Events), err)
			}
			created += len(page.Events)
			after, more = page.UpTo, page.More
		}
		if created != 1500 || after != last {
			t.Errorf("%d tools were created, up to %d", created, after)
		}
	})
}

func TestEventsOfATypeAreFoundByAnIndex(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, large(1500, 1, 10), monday)
		explain, access := `EXPLAIN `, "Index Scan using events_type"
		if !s.SQL.Shared() {
			explain, access = `EXPLAIN QUERY PLAN `, "USING INDEX events_type"
		}
		execute(t, s, `ANALYZE`)
		for _, eventType := range []string{catalog.ToolCreated, catalog.CatalogUpdated, catalog.ToolRetired} {
			found, err := s.SQL.Reads().QueryContext(t.Context(), explain+listEventsOfType, 3, 51, eventType)
			if err != nil {
				t.Fatal(err)
			}
			plan := planText(t, found)
			if !strings.Contains(plan, access) || strings.Contains(strings.ToUpper(plan), "SORT") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s:\n%s", eventType, plan)
			}
		}
	})
}

// planText returns the last column of a plan, line by line.
func planText(t *testing.T, found *sql.Rows) string {
	t.Helper()
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for found.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := found.Scan(values...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, *values[len(values)-1].(*any))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
