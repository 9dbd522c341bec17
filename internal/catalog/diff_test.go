package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneSection stands in for markdown.Sections: the whole review is one section.
func oneSection(body string) []Section { return []Section{{ID: "introduction", Text: body}} }

// publish carries old over into next and returns what it changes, as lines
// "type slug reason fields".
func publish(t *testing.T, old, next *Catalog, day string) []string {
	t.Helper()
	CarryOver(old, next, day)
	again := *next
	again.Tools = append([]*Tool(nil), next.Tools...)
	CarryOver(old, &again, day)
	if diff := cmp.Diff(*next, again); diff != "" {
		t.Errorf("a second CarryOver changed the catalogue:\n%s", diff)
	}
	d := Compare(old, next, oneSection)
	var lines []string
	for _, c := range d.Changes {
		lines = append(lines, strings.Join(strings.Fields(c.Type+" "+c.Slug+" "+c.Reason+" "+strings.Join(c.Changed, ",")), " "))
	}
	if d.Empty() != (len(lines) == 0) {
		t.Errorf("an empty diff has changes %v", lines)
	}
	return lines
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(want) > 0 {
		want = append(want, "catalog.updated")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPublishingTheSameTwiceChangesNothing(t *testing.T) {
	first := with(tool("a"), tool("b"))
	first.Comparisons = []Comparison{{Slug: "a-vs-b", Title: "T", ToolA: "a", ToolB: "b", Winner: "a", Published: true}}
	expect(t, publish(t, &Catalog{}, first, "2026-01-01"), "tool.created a", "tool.created b", "comparatif.published a-vs-b")

	second := with(tool("a"), tool("b"))
	second.Comparisons = []Comparison{{Slug: "a-vs-b", Title: "T", ToolA: "a", ToolB: "b", Winner: "a", Published: true}}
	expect(t, publish(t, first, second, "2026-02-02"))
	if second.Tools[0].UpdatedAt != "2026-01-01" || second.Comparisons[0].UpdatedAt != "2026-01-01" {
		t.Errorf("the dates changed: %s, %s", second.Tools[0].UpdatedAt, second.Comparisons[0].UpdatedAt)
	}
}

func TestARecordIsDatedByTheDayItChanged(t *testing.T) {
	first := with(tool("a"), tool("b", func(t *Tool) { t.UpdatedAt = "2025-05-05" }))
	publish(t, &Catalog{}, first, "2026-01-01")
	second := with(tool("a", func(t *Tool) { t.Body = "Un avis." }), tool("b", func(t *Tool) { t.UpdatedAt = "2025-05-05"; t.Tagline = "Autre" }))
	expect(t, publish(t, first, second, "2026-02-02"), "tool.updated a avis_url,updated_at", "review.updated a words,body", "tool.updated b tagline")
	if second.Tools[0].UpdatedAt != "2026-02-02" || second.Tools[1].UpdatedAt != "2025-05-05" {
		t.Errorf("days %s, %s", second.Tools[0].UpdatedAt, second.Tools[1].UpdatedAt)
	}
}

func price(p string) func(*Tool) { return func(t *Tool) { t.Price = p } }

func prices(c *Catalog, slug string) []string {
	var lines []string
	for _, e := range c.Tool(slug).PriceHistory {
		lines = append(lines, e.ChangedAt+" "+e.OldPrice+" > "+e.NewPrice)
	}
	return lines
}

func TestPriceChangesAreKeptNewestFirst(t *testing.T) {
	now := with(tool("a", price("1 €/mois")))
	publish(t, &Catalog{}, now, "2026-01-01")
	for _, step := range []struct{ day, price string }{
		{"2026-01-02", "2 €/mois"}, {"2026-01-03", "1 €/mois"}, {"2026-01-03", "2 €/mois"}, {"2026-01-03", "1 €/mois"},
	} {
		next := with(tool("a", price(step.price)))
		expect(t, publish(t, now, next, step.day), "tool.updated a "+changedOn(now, step.day), "pricing.updated a price")
		now = next
	}
	want := []string{"2026-01-03 2 €/mois > 1 €/mois", "2026-01-02 1 €/mois > 2 €/mois"}
	if diff := cmp.Diff(want, prices(now, "a")); diff != "" {
		t.Error(diff)
	}
}

func changedOn(c *Catalog, day string) string {
	if c.Tools[0].UpdatedAt == day {
		return "price"
	}
	return "price,updated_at"
}

func entry(day, old, now string) PriceChange {
	return PriceChange{ChangedAt: day, OldPricing: "payant", OldPrice: old, NewPricing: "payant", NewPrice: now}
}

func history(h ...PriceChange) func(*Tool) { return func(t *Tool) { t.PriceHistory = h } }

func TestWrittenHistoryIsMergedIntoTheStoredOne(t *testing.T) {
	first := with(tool("a", price("3 €/mois"), history(entry("2025-02-01", "2 €/mois", "3 €/mois"))))
	publish(t, &Catalog{}, first, "2026-01-01")

	// An older entry is added; the stored one is recognised although the list is
	// written oldest first.
	second := with(tool("a", price("3 €/mois"), history(entry("2025-01-01", "1 €/mois", "2 €/mois"), entry("2025-02-01", "2 €/mois", "3 €/mois"))))
	publish(t, first, second, "2026-01-02")
	want := []string{"2025-02-01 2 €/mois > 3 €/mois", "2025-01-01 1 €/mois > 2 €/mois"}
	if diff := cmp.Diff(want, prices(second, "a")); diff != "" {
		t.Error(diff)
	}

	// None is dropped when the content omits them.
	third := with(tool("a", price("3 €/mois")))
	expect(t, publish(t, second, third, "2026-01-03"))
	if diff := cmp.Diff(want, prices(third, "a")); diff != "" {
		t.Error(diff)
	}
}

func TestEditorsMayDateAPriceChangeThemselves(t *testing.T) {
	first := with(tool("a", price("1 €/mois")))
	publish(t, &Catalog{}, first, "2026-01-01")
	second := with(tool("a", price("2 €/mois"), history(entry("2026-03-10", "1 €/mois", "2 €/mois"))))
	publish(t, first, second, "2026-03-15")
	if diff := cmp.Diff([]string{"2026-03-10 1 €/mois > 2 €/mois"}, prices(second, "a")); diff != "" {
		t.Error(diff)
	}
}

func TestARenamedToolIsNotRemovedAndKeepsItsHistory(t *testing.T) {
	first := with(tool("old", price("1 €/mois"), history(entry("2025-01-01", "9 €/mois", "1 €/mois"))))
	publish(t, &Catalog{}, first, "2026-01-01")
	second := with(tool("new", price("2 €/mois"), func(t *Tool) { t.Aliases = []string{"old"}; t.Name = "OLD"; t.Domain = "old.example" }))
	expect(t, publish(t, first, second, "2026-02-01"),
		"tool.updated new slug,price,canonical_url,alternatives_url,updated_at", "pricing.updated new slug,price")
	if gone := Removals(first, second); len(gone) > 0 {
		t.Errorf("removals %v", gone)
	}
	want := []string{"2026-02-01 1 €/mois > 2 €/mois", "2025-01-01 9 €/mois > 1 €/mois"}
	if diff := cmp.Diff(want, prices(second, "new")); diff != "" {
		t.Error(diff)
	}
	if len(second.Past) != 0 {
		t.Errorf("the history is also kept under the former slug: %v", second.Past)
	}
}

func TestARestoredToolHasItsHistory(t *testing.T) {
	first := with(tool("a", price("1 €/mois"), history(entry("2025-01-01", "9 €/mois", "1 €/mois"))), tool("b"))
	publish(t, &Catalog{}, first, "2026-01-01")

	gone := with(tool("b"))
	gone.Retired = []Retired{{Slug: "a", Name: "A", Category: "code", Reason: "mort", RetiredAt: "2026-02-01", Note: "Fin."}}
	expect(t, publish(t, first, gone, "2026-02-01"), "tool.retired a")
	if got := Removals(first, gone); len(got) > 0 {
		t.Errorf("a retired tool counts as removed: %v", got)
	}

	back := with(tool("a", price("5 €/mois")), tool("b"))
	expect(t, publish(t, gone, back, "2026-03-01"), "tool.restored a")
	want := []string{"2026-03-01 1 €/mois > 5 €/mois", "2025-01-01 9 €/mois > 1 €/mois"}
	if diff := cmp.Diff(want, prices(back, "a")); diff != "" {
		t.Error(diff)
	}
}

func TestRemovalsAreReported(t *testing.T) {
	first := with(tool("a"), tool("b"))
	publish(t, &Catalog{}, first, "2026-01-01")
	next := with(tool("b"))
	if diff := cmp.Diff([]string{"a"}, Removals(first, next)); diff != "" {
		t.Error(diff)
	}
	expect(t, publish(t, first, next, "2026-01-02"), "tool.removed a")
}

func TestComparisonsArePublishedUpdatedAndUnpublished(t *testing.T) {
	versus := func(changes ...func(*Comparison)) *Catalog {
		c := with(tool("a"), tool("b"))
		x := Comparison{Slug: "a-vs-b", Title: "T", ToolA: "a", ToolB: "b", Winner: "a", WinnerNote: "N", Published: true, UpdatedAt: "2026-01-01"}
		for _, change := range changes {
			change(&x)
		}
		c.Comparisons = []Comparison{x}
		return c
	}
	draft := func(x *Comparison) { x.Published = false }
	now := versus(draft)
	publish(t, &Catalog{}, now, "2026-01-01")
	step := func(next *Catalog, want ...string) {
		t.Helper()
		expect(t, publish(t, now, next, "2026-01-01"), want...)
		now = next
	}
	step(versus(), "comparatif.published a-vs-b")
	step(versus(func(x *Comparison) { x.Winner = "b"; x.WinnerNote = "M" }), "comparatif.updated a-vs-b winner,winner_note")
	step(versus(draft), "comparatif.unpublished a-vs-b")
	step(versus(), "comparatif.published a-vs-b")
	step(with(tool("a"), tool("b")), "comparatif.unpublished a-vs-b")
}

func TestAChangedDraftIsADifferenceWithoutAPublicChange(t *testing.T) {
	first, second := with(tool("a"), tool("b")), with(tool("a"), tool("b"))
	first.Comparisons = []Comparison{{Slug: "x", Title: "T", ToolA: "a", ToolB: "b", Winner: "a"}}
	second.Comparisons = []Comparison{{Slug: "x", Title: "U", ToolA: "a", ToolB: "b", Winner: "a"}}
	publish(t, &Catalog{}, first, "2026-01-01")
	if got := publish(t, first, second, "2026-01-02"); len(got) != 1 || got[0] != "catalog.updated" {
		t.Errorf("changes %v", got)
	}
}

func TestEmbeddingsChangeWithTheirTextAndWithTheSet(t *testing.T) {
	top := func(body string) *Tool {
		return tool("a", func(t *Tool) { t.Tier, t.Body, t.UpdatedAt = 1, body, "2026-01-01" })
	}
	now := with(top("Un."))
	expect(t, publish(t, &Catalog{}, now, "2026-01-01"), "tool.created a", "embeddings.updated a entered")
	step := func(next *Catalog, want ...string) {
		t.Helper()
		expect(t, publish(t, now, next, "2026-01-01"), want...)
		now = next
	}
	step(with(top("Deux.")), "review.updated a body", "embeddings.updated a changed hash")
	out := top("Deux.")
	out.Tier = 3
	step(with(out), "embeddings.updated a left")
	step(with(top("Deux.")), "embeddings.updated a entered")
}
