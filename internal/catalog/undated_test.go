package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARecordThatChangedAndKeptItsDateIsUndated(t *testing.T) {
	dated := func(day, tagline string) func(*Tool) {
		return func(t *Tool) { t.UpdatedAt, t.Tagline = day, tagline }
	}
	duel := func(title string, published bool) []Comparison {
		return []Comparison{{Slug: "a-vs-b", Title: title, ToolA: "a", ToolB: "b", Winner: "a", Published: published, UpdatedAt: "2026-01-01"}}
	}
	old := with(
		tool("a", dated("2026-01-01", "x")), tool("b", dated("2026-01-01", "x")), tool("c", dated("2026-01-01", "x")),
		tool("d"), tool("former", dated("2026-01-01", "x")))
	old.Comparisons = duel("T", true)
	publish(t, &Catalog{}, old, "2026-02-01")

	const today = "2026-02-01" // d, which gives no date, changes on the day on which it was added
	next := with(
		tool("a", dated("2026-01-01", "changed")), tool("b", dated("2026-01-01", "x")), tool("c", dated("2026-01-15", "changed")),
		tool("d", func(t *Tool) { t.Tagline = "changed" }),
		tool("renamed", dated("2026-01-01", "x"), func(t *Tool) { t.Aliases = []string{"former"} }))
	next.Comparisons = duel("Changed", true)
	CarryOver(old, next, today)
	d := Compare(old, next, oneSection)
	tools, comparisons := d.Undated(old, next, today)
	if diff := cmp.Diff([]string{"renamed", "a"}, tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a-vs-b"}, comparisons); diff != "" {
		t.Error(diff)
	}

	next.Comparisons = duel("Changed", false)
	d = Compare(old, next, oneSection)
	if _, drafts := d.Undated(old, next, today); len(drafts) > 0 {
		t.Errorf("%v became drafts, and need no date", drafts)
	}
}
