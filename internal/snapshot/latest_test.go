package snapshot

import (
	"testing"

	"palmares/internal/catalog"
)

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
