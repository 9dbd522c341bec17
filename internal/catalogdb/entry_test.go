package catalogdb

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
)

// A folder is what editors write, of which each publication reads a new copy.
type folder struct {
	t     *testing.T
	s     *kit
	tools map[string]*catalog.Tool
	rest  catalog.Catalog
}

func newFolder(t *testing.T, s *kit, tools ...*catalog.Tool) *folder {
	f := &folder{t: t, s: s, tools: map[string]*catalog.Tool{}}
	for _, tool := range tools {
		f.tools[tool.Slug] = tool
	}
	return f
}

// publish publishes a copy at a time.
func (f *folder) publish(now time.Time) {
	f.t.Helper()
	var tools []*catalog.Tool
	for _, tool := range f.tools {
		copied := *tool
		copied.Announced = slices.Clone(tool.Announced)
		tools = append(tools, &copied)
	}
	c := catalogue(tools...)
	c.Retired, c.Comparisons = slices.Clone(f.rest.Retired), slices.Clone(f.rest.Comparisons)
	c.Articles, c.Pages = slices.Clone(f.rest.Articles), slices.Clone(f.rest.Pages)
	_, err := f.s.Catalogue.Publish(f.t.Context(), c, PublishOptions{Now: at(now), AllowRemovals: true})
	if err != nil {
		f.t.Fatal(err)
	}
}

// undo takes a version back.
func (f *folder) undo(version int64, now time.Time) {
	f.t.Helper()
	u, err := f.s.Catalogue.Undo(f.t.Context(), version, false)
	if err == nil {
		_, err = f.s.Catalogue.Publish(f.t.Context(), u.Next, PublishOptions{Now: at(now), Undo: u, AllowRemovals: true})
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// rename gives a tool another slug.
func (f *folder) rename(from, to string) {
	t := *f.tools[from]
	t.Slug, t.Aliases = to, slices.DeleteFunc(slices.Sorted(slices.Values(append(slices.Clone(t.Aliases), from))), func(s string) bool { return s == to })
	delete(f.tools, from)
	f.tools[to] = &t
}

// told returns the chronicle, oldest first.
func (f *folder) told() string {
	f.t.Helper()
	var b strings.Builder
	states, last := map[string]int{}, map[string]int64{}
	all := loaded(f.t, f.s).Entries
	for _, e := range slices.Backward(all) {
		states[e.ID()]++
		last[e.ID()] = e.Position
	}
	for _, e := range slices.Backward(all) {
		if e.Position == 0 || e.Position != last[e.ID()] {
			continue
		}
		fmt.Fprintf(&b, "%s: %q → %q", e.ID(), e.Old, e.New)
		if e.Note != "" {
			fmt.Fprintf(&b, " %q", e.Note)
		}
		if states[e.ID()] > 1 {
			b.WriteString(" merged")
		}
		if e.At == "" {
			b.WriteString(" quietly")
		}
		if e.Withdrawn {
			b.WriteString(" withdrawn")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (f *folder) expect(want string) {
	f.t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(f.told())); diff != "" {
		f.t.Errorf("the chronicle (-want +got):\n%s", diff)
	}
}

func score(x float64) *float64 { return &x }

func TestADayIsOneEntryPerField(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		f := newFolder(t, s, tool("a", "26 €/mois"))
		f.publish(monday) // the first publication has a past, and tells nothing
		f.tools["a"].Tagline = "Un outil de plus"
		f.publish(day(1))
		f.expect(``)
		f.tools["a"].Price = "29 €/mois"
		f.publish(day(2))
		f.tools["a"].Price = "31 €/mois"
		f.publish(day(2).Add(time.Hour))
		f.expect(`outil/a/price/2026-11-18: "payant\t26 €/mois" → "payant\t31 €/mois" merged`)
		f.tools["a"].Price = "26 €/mois"
		f.publish(day(2).Add(2 * time.Hour))
		f.expect(`outil/a/price/2026-11-18: "payant\t26 €/mois" → "payant\t31 €/mois" merged withdrawn`)
		f.tools["a"].Price, f.tools["a"].Score, f.tools["a"].ScoreNote = "29 €/mois", score(7.5), "Nouveau moteur."
		f.publish(day(2).Add(3 * time.Hour))
		f.tools["a"].Score, f.tools["a"].ScoreNote = score(8), "Encore mieux."
		f.publish(day(3))
		f.tools["a"].PriceHistory = []catalog.PriceChange{{ChangedAt: "2024-05-01", OldPricing: "payant", OldPrice: "20 €/mois", NewPricing: "payant", NewPrice: "26 €/mois"}}
		f.publish(day(4)) // only a history tells it
		f.expect(`
outil/a/price/2026-11-18: "payant\t26 €/mois" → "payant\t29 €/mois" merged
outil/a/score/2026-11-18: "" → "7.5" "Nouveau moteur."
outil/a/score/2026-11-19: "7.5" → "8" "Encore mieux."
outil/a/price/2024-05-01: "payant\t20 €/mois" → "payant\t26 €/mois" quietly`)
	})
}

func TestComingAndGoingIsTold(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		f := newFolder(t, s, tool("a", "1 €/mois"), tool("b", "1 €/mois"))
		f.publish(monday)
		f.tools["c"], f.tools["d"] = tool("c", "2 €/mois"), tool("d", "2 €/mois")
		f.tools["d"].TestedAt, f.tools["d"].Score = "2026-11-15", score(7)
		f.publish(day(1))
		delete(f.tools, "a")
		f.rest.Retired = []catalog.Retired{retired("a")}
		f.publish(day(2))
		delete(f.tools, "c")
		f.publish(day(3))
		f.tools["a"], f.rest.Retired = tool("a", "1 €/mois"), nil
		f.tools["b"].Name = "Bis"
		f.publish(day(4))
		want := `
outil/c/new/2026-11-17: "" → ""
outil/d/test/2026-11-15: "" → "2026-11-15"
outil/a/retired/2026-11-01: "" → "mort"
outil/c/removed/2026-11-19: "C" → ""
outil/a/restored/2026-11-20: "" → "A"
outil/b/renamed/2026-11-20: "B" → "Bis"`
		f.expect(want)
		// Taken back on their day, they are nothing.
		f.tools["e"] = tool("e", "2 €/mois")
		f.publish(day(5))
		delete(f.tools, "e")
		delete(f.tools, "b")
		f.rest.Retired = []catalog.Retired{retired("b")}
		f.publish(day(5).Add(time.Hour))
		f.tools["b"], f.rest.Retired = tool("b", "1 €/mois"), nil
		f.tools["b"].Name = "Bis"
		f.publish(day(5).Add(2 * time.Hour))
		f.expect(want + `
outil/e/new/2026-11-21: "" → "" merged withdrawn
outil/b/retired/2026-11-01: "" → "mort" merged withdrawn`)
	})
}

func TestIDsStayWhenRecordsAreRenamed(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		f := newFolder(t, s, tool("m", "1 €/mois"))
		f.publish(monday)
		f.tools["m"].Price = "2 €/mois"
		f.publish(day(1))
		f.rename("m", "a")
		f.tools["a"].Price = "3 €/mois"
		f.publish(day(2))
		f.rename("a", "z")
		f.publish(day(3))
		f.tools["z"].Price = "4 €/mois"
		f.publish(day(4))
		f.rename("z", "m")
		f.publish(day(5))
		f.tools["m"].Price = "5 €/mois"
		f.publish(day(6))
		f.expect(`
outil/m/price/2026-11-17: "payant\t1 €/mois" → "payant\t2 €/mois"
outil/m/price/2026-11-18: "payant\t2 €/mois" → "payant\t3 €/mois"
outil/m/price/2026-11-20: "payant\t3 €/mois" → "payant\t4 €/mois"
outil/m/price/2026-11-22: "payant\t4 €/mois" → "payant\t5 €/mois"`)
		var ids []string
		for _, e := range loaded(t, s).Catalog.Tool("m").Entries() {
			ids = append(ids, e.ID())
		}
		if len(ids) != 4 || slices.ContainsFunc(ids, func(id string) bool { return !strings.HasPrefix(id, "outil/m/price/") }) {
			t.Errorf("the record tells %v", ids)
		}
	})
}

func TestAnUndoneVersionIsWithdrawnOnItsDayAndAnsweredLater(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		f := newFolder(t, s, tool("a", "26 €/mois"), tool("b", "1 €/mois"))
		f.publish(monday)
		f.tools["a"].Price = "29 €/mois"
		f.publish(day(1)) // version 2
		f.undo(2, day(1).Add(time.Hour))
		f.expect(`outil/a/price/2026-11-17: "payant\t26 €/mois" → "payant\t29 €/mois" merged withdrawn`)
		f.undo(3, day(1).Add(2*time.Hour))
		f.expect(`outil/a/price/2026-11-17: "payant\t26 €/mois" → "payant\t29 €/mois" merged`)
		f.undo(4, day(3))
		f.expect(`
outil/a/price/2026-11-17: "payant\t26 €/mois" → "payant\t29 €/mois" merged
outil/a/price/2026-11-19: "payant\t29 €/mois" → "payant\t26 €/mois"`)
		f.undo(5, day(3).Add(time.Hour))
		f.expect(`
outil/a/price/2026-11-17: "payant\t26 €/mois" → "payant\t29 €/mois" merged
outil/a/price/2026-11-19: "payant\t29 €/mois" → "payant\t26 €/mois" merged withdrawn`)
		f.rest.Articles = []catalog.Article{{Slug: "x", Title: "X", Authors: []string{"Ada"}, Date: "2026-11-10", Body: "Un."}}
		f.publish(day(4))
		f.rest.Articles[0].Body = "Deux."
		f.publish(day(5))
		f.undo(8, day(5).Add(time.Hour))
		if got := f.told(); !strings.Contains(got, "article/x/text/2026-11-10: ") || !strings.Contains(got, "article/x/text/2026-11-21") ||
			!strings.HasSuffix(strings.TrimSpace(got), "merged withdrawn") {
			t.Error(got)
		}
	})
}

func TestAnnouncementsPlansAndTextsAreTold(t *testing.T) {
	s := open(t, databases.SQLite(t)) // whose hours come by this clock
	f := newFolder(t, s, tool("a", "26 €/mois"), tool("b", "1 €/mois"))
	f.tools["a"].TestedAt, f.tools["a"].Score, f.tools["a"].Body = "2026-11-01", score(7), "Bien."
	f.tools["b"].TestedAt, f.tools["b"].Score = "2026-11-01", score(6)
	f.publish(monday)
	f.tools["a"].Announced = []catalog.Announcement{{From: "2026-11-20", Price: "29 €/mois"}}
	f.tools["a"].Plans = []catalog.PlanRow{{Name: "Équipe", Price: "50 €"}}
	f.publish(day(1))
	f.tools["a"].Announced[0].Price = "30 €/mois"
	f.publish(day(2))
	if _, err := s.Catalogue.Advance(t.Context(), at(day(4))); err != nil {
		t.Fatal(err)
	}
	f.tools["a"].Announced, f.tools["a"].Price, f.tools["a"].Plans = nil, "30 €/mois", nil
	f.tools["a"].Body = "Très bien."
	f.rest.Comparisons = []catalog.Comparison{{
		Slug: "duel", Title: "Duel", ToolA: "a", ToolB: "b", Winner: "a", WinnerNote: "Net.", Published: true, Body: "Texte.",
	}}
	f.rest.Pages = []catalog.Page{{Slug: "methode", Title: "Méthode", Body: "Ainsi."}}
	f.publish(day(5))
	f.rest.Comparisons, f.rest.Pages[0].Menu = nil, "header"
	f.publish(day(6))
	var ids []string
	for line := range strings.Lines(f.told()) {
		id, _, _ := strings.Cut(line, ": ")
		ids = append(ids, id)
	}
	want := []string{
		"outil/a/plan/%C3%89quipe/2026-11-17", "outil/a/announced/2026-11-20/2026-11-17", "outil/a/announced/2026-11-20/2026-11-18",
		"outil/a/price/2026-11-20", "outil/a/text/2026-11-21", "outil/a/plan/%C3%89quipe/2026-11-21",
		"comparatif/duel/text/2026-11-21", "page/methode/text/2026-11-21", "comparatif/duel/removed/2026-11-22",
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, f.told())
	}
}

func TestWhatIsTakenBackIsItsOwnRecordAndWhatReturnsIsTold(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		f := newFolder(t, s, tool("a", "9 €/mois"), tool("b", "1 €/mois"))
		f.publish(monday)
		article := catalog.Article{Slug: "c", Title: "C", Authors: []string{"Ada"}, Date: "2026-11-17", Body: "Un."}
		f.tools["c"], f.rest.Articles = tool("c", "2 €/mois"), []catalog.Article{article}
		f.publish(day(1))
		f.rest.Articles = nil
		f.publish(day(1).Add(time.Hour)) // only the article
		f.rest.Articles = []catalog.Article{article}
		f.publish(day(2))
		f.rest.Articles = nil
		delete(f.tools, "b")
		f.publish(day(3))
		f.rest.Articles = []catalog.Article{article}
		f.tools["b"] = tool("b", "3 €/mois")
		f.publish(day(4)) // both return, at another price
		f.tools["a"].Price = "12 €/mois"
		f.tools["a"].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-11-18", OldPricing: "payant", OldPrice: "9 €/mois", NewPricing: "payant", NewPrice: "12 €/mois"}}
		f.publish(day(5)) // version 7, dated by its editors
		f.undo(7, day(5).Add(time.Hour))
		f.rename("c", "z")
		f.tools["a"].Price, f.tools["a"].PriceHistory = "9 €/mois", nil
		f.publish(day(6))
		f.tools["z"].Aliases, f.tools["z"].Price = nil, "4 €/mois" // whoever followed it still knows its first address
		f.publish(day(7))
		f.expect(`
outil/c/new/2026-11-17: "" → ""
article/c/text/2026-11-17: "" → "c5957f80b63f2011" merged
outil/b/removed/2026-11-19: "B" → ""
article/c/removed/2026-11-19: "C" → ""
outil/b/restored/2026-11-20: "" → "B"
outil/b/price/2026-11-20: "payant\t1 €/mois" → "payant\t3 €/mois"
article/c/text/2026-11-20: "" → "c5957f80b63f2011"
outil/a/price/2026-11-18: "payant\t9 €/mois" → "payant\t12 €/mois" merged withdrawn
outil/c/price/2026-11-23: "payant\t2 €/mois" → "payant\t4 €/mois"`)
	})
}
