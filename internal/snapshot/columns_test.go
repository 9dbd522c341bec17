package snapshot

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

func TestColumnsFollowTheirTools(t *testing.T) {
	old := synthetic.Catalog(300, 1)
	old.Comparisons = nil // which may be of tools that are removed
	fresh := synthetic.Catalog(40, 2)
	c := *old
	c.Categories = slices.Clone(old.Categories)
	slices.Reverse(c.Categories)
	var slugs []string
	for i, tool := range fresh.Tools { // some replace a tool, some are new
		if i%2 == 0 {
			tool.Slug = old.Tools[7*i].Slug
		}
		slugs = append(slugs, tool.Slug)
	}
	slugs = append(slugs, old.Tools[5].Slug) // is removed
	fresh.Sort()
	var moves catalog.Moves
	c.Tools, moves = catalog.Replace(old.Tools, fresh.Tools, slugs, func(t **catalog.Tool) string { return (*t).Slug })
	before := Build(old, 1, "2026-11-01")
	next := Next(before, &c, &catalog.Step{Tools: moves}, 2, "2026-11-02")
	want := Build(&c, 2, "2026-11-02")
	if diff := cmp.Diff(want.columns, next.columns, cmp.AllowUnexported(columns{}), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("the columns differ from those of a whole build:\n%s", diff)
	}
}

func TestTheLatestToolsAreThoseOfTheLastDays(t *testing.T) {
	figure := func(x float64) *float64 { return &x }
	tools := []*catalog.Tool{
		{Slug: "a", UpdatedAt: "2026-01-02"},
		{Slug: "b", UpdatedAt: "2026-01-01", PriceHistory: []catalog.PriceChange{{ChangedAt: "2026-01-04"}}},
		{Slug: "c", UpdatedAt: "2026-01-01", ScoreHistory: []catalog.ScoreChange{{ChangedAt: "2026-01-05", NewScore: figure(7)}}},
		{Slug: "d", UpdatedAt: "2026-01-01", ScoreHistory: []catalog.ScoreChange{{ChangedAt: "2026-01-06", OldScore: figure(7), NewScore: figure(7)}}},
		{Slug: "e", UpdatedAt: "2026-01-02"},
	}
	for _, tool := range tools {
		tool.Category = "code"
	}
	s := Build(&catalog.Catalog{Tools: tools, Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}, 1, "2026-01-06")
	for n, want := range map[int]string{1: "c", 2: "bc", 3: "abce", 4: "abce", 5: "abcde", 9: "abcde"} {
		got := ""
		for _, tool := range s.LatestTools(n) {
			got += tool.Slug
		}
		if got != want {
			t.Errorf("%d latest tools: %q, want %q", n, got, want)
		}
	}
}
