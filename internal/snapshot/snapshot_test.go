package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// random draws a catalogue in which names, scores and categories often coincide.
func random(t *rapid.T) *catalog.Catalog {
	c := &catalog.Catalog{Name: "N", URL: "https://n.example", Categories: []catalog.Category{{Slug: "a", Label: "A"}, {Slug: "b", Label: "B"}}}
	names := []string{"cote", "coté", "côte", "côté", "Cote", "zoé", "Zoe", "été", "éte"}
	distinct := rapid.SampledFrom([]int{3, 100, 5000}).Draw(t, "distinct")
	figure := func(label string) *float64 {
		if n := rapid.IntRange(-1, distinct).Draw(t, label); n >= 0 {
			x := 10 * float64(n) / float64(distinct)
			return &x
		}
		return nil
	}
	for i := range rapid.SampledFrom([]int{0, 1, 63, 64, 65, 400}).Draw(t, "tools") {
		c.Tools = append(c.Tools, &catalog.Tool{
			Slug: fmt.Sprintf("t%03d", i), Name: rapid.SampledFrom(names).Draw(t, "name"),
			Category: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "category"),
			Score:    figure("score"), Obsolescence: figure("obsolescence"), Tier: 3, UpdatedAt: "2026-01-01",
		})
	}
	return c
}

// naiveQuery answers a query by filtering and sorting all tools.
func naiveQuery(c *catalog.Catalog, q ToolQuery) []string {
	var left []*catalog.Tool
	for _, t := range c.Tools {
		if q.Category != "" && t.Category != q.Category ||
			q.ScoreMin != nil && (t.Score == nil || *t.Score < *q.ScoreMin) ||
			q.ObsolescenceMax != nil && (t.Obsolescence == nil || *t.Obsolescence > *q.ObsolescenceMax) {
			continue
		}
		left = append(left, t)
	}
	french := collate.New(language.French)
	byScore := func(a, b *catalog.Tool, direction int) int {
		if a.Score == nil || b.Score == nil {
			untested := func(t *catalog.Tool) int { return map[bool]int{true: 1}[t.Score == nil] }
			return cmp.Compare(untested(a), untested(b))
		}
		return direction * cmp.Compare(*a.Score, *b.Score)
	}
	slices.SortFunc(left, func(a, b *catalog.Tool) int {
		name := french.CompareString(a.Name, b.Name)
		switch q.Sort {
		case ScoreDesc:
			return cmp.Or(byScore(a, b, -1), name, cmp.Compare(a.Slug, b.Slug))
		case ScoreAsc:
			return cmp.Or(byScore(a, b, 1), name, cmp.Compare(a.Slug, b.Slug))
		case NameDesc:
			return cmp.Or(-name, cmp.Compare(a.Slug, b.Slug))
		}
		return cmp.Or(name, cmp.Compare(a.Slug, b.Slug))
	})
	var slugs []string
	for _, t := range left {
		slugs = append(slugs, t.Slug)
	}
	return slugs
}

func TestPagesAgreeWithANaiveQuery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := random(t)
		s := Build(c, 1, "2026-01-01")
		threshold := func(label string) *float64 {
			if rapid.Bool().Draw(t, label+" given") {
				x := rapid.Float64Range(-1, 11).Draw(t, label)
				return &x
			}
			return nil
		}
		q := ToolQuery{
			Category: rapid.SampledFrom([]string{"", "a", "b", "none"}).Draw(t, "filter"),
			Sort:     Sort(rapid.IntRange(0, int(sortCount)-1).Draw(t, "sort")),
			ScoreMin: threshold("score_min"), ObsolescenceMax: threshold("obsolescence_max"),
		}
		want := naiveQuery(c, q)
		at := Paging{Number: rapid.Int64Range(1, 10).Draw(t, "page"), Limit: rapid.IntRange(1, 200).Draw(t, "limit")}
		page := s.Tools(q, at)
		if page.Total != len(want) {
			t.Fatalf("total %d, not %d", page.Total, len(want))
		}
		start := min(int(at.Number-1)*at.Limit, len(want))
		want = want[start:min(start+at.Limit, len(want))]
		var body struct{ Data []struct{ Slug string } }
		if err := json.Unmarshal(page.Body().Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range body.Data {
			got = append(got, d.Slug)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v lists %v, not %v", q, got, want)
		}
	})
}

func TestEqualDigestsMeanEqualBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Build(random(t), 1, "2026-01-01")
		seen := map[wire.Digest]string{}
		for range 30 {
			at := Paging{Number: rapid.Int64Range(1, 5).Draw(t, "page"), Limit: rapid.IntRange(1, 70).Draw(t, "limit")}
			bodies := []wire.Body{s.Prices("", at).Body(), s.Tools(ToolQuery{Sort: NameDesc}, at).Body(), s.Retired("", "", at).Body(), s.Categories().Body(), s.Stats()}
			for _, b := range bodies {
				text := string(b.Bytes())
				if text != string(b.Bytes()) {
					t.Fatal("Append and Bytes differ")
				}
				if before, ok := seen[b.Digest()]; ok && before != text {
					t.Fatalf("one digest for\n%s\nand\n%s", before, text)
				}
				seen[b.Digest()] = text
			}
		}
	})
}

func TestOnlyTheTopSetHasEmbeddings(t *testing.T) {
	c := &catalog.Catalog{URL: "https://n.example", Categories: []catalog.Category{{Slug: "a", Label: "A"}}}
	nine := 9.0
	for i := range 350 {
		c.Tools = append(c.Tools, &catalog.Tool{
			Slug: fmt.Sprintf("t%03d", i), Name: "N", Category: "a", Score: &nine, Verifiability: &nine, Tier: 3, Body: "Avis.", UpdatedAt: "2026-01-01",
		})
	}
	s := Build(c, 1, "2026-01-01")
	for i, tool := range c.Tools {
		if _, ok := s.Embeddings(tool.Slug); ok != (i < catalog.TopSetSize) {
			t.Errorf("%s: %v", tool.Slug, ok)
		}
	}
}

func TestNewestUpdateIsThatOfTheNewestRecord(t *testing.T) {
	c := &catalog.Catalog{
		Tools:       []*catalog.Tool{{UpdatedAt: "2026-01-05"}, {UpdatedAt: "2026-03-05"}},
		Comparisons: []catalog.Comparison{{UpdatedAt: "2026-02-05"}},
	}
	if got := NewestUpdate(c); got != "2026-03-05" {
		t.Error(got)
	}
	if got := NewestUpdate(&catalog.Catalog{}); got != NeverUpdated {
		t.Error(got)
	}
}

func TestAliasesAndRetiredToolsAreFound(t *testing.T) {
	c := &catalog.Catalog{
		Categories: []catalog.Category{{Slug: "a", Label: "A"}},
		Tools:      []*catalog.Tool{{Slug: "new", Category: "a", Aliases: []string{"old"}}},
		Retired:    []catalog.Retired{{Slug: "gone", Category: "a", Reason: "mort"}},
	}
	s := Build(c, 1, "2026-01-01")
	if now, ok := s.Aliases[catalog.ToolKind]["old"]; !ok || now != "new" {
		t.Errorf("old leads to %q", now)
	}
	if r := s.RetiredTool("gone"); r == nil || r.Slug != "gone" {
		t.Errorf("gone is %v", r)
	}
	for _, slug := range []string{"", "new", strings.Repeat("x", 300)} {
		if _, ok := s.Aliases[catalog.ToolKind][slug]; ok || s.RetiredTool(slug) != nil {
			t.Errorf("%q is found", slug)
		}
	}
}

func TestAnIndexThatCouldNotBeBuiltIsNotUsed(t *testing.T) {
	s := Build(&catalog.Catalog{Tools: []*catalog.Tool{{Slug: "a", Name: "A"}}, Categories: []catalog.Category{{}}}, 1, "2026-01-01")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.BuildIndex(ended); !errors.Is(err, context.Canceled) || s.Index != nil {
		t.Errorf("BuildIndex returns %v and sets %v", err, s.Index)
	}
	if err := s.BuildIndex(t.Context()); err != nil || s.Index == nil {
		t.Errorf("BuildIndex returns %v and sets %v", err, s.Index)
	}
}

func TestAPageBeyondTheEndHasTheOffsetOfTheEnd(t *testing.T) {
	for at, want := range map[Paging]int{{1, 50}: 0, {2, 3}: 3, {4, 3}: 9, {5, 3}: 10, {1, 200}: 0, {1<<53 - 1, 200}: 10} {
		if got := at.Offset(10); got != want {
			t.Errorf("page %d of %d begins at %d; want %d", at.Number, at.Limit, got, want)
		}
	}
	if got := (Paging{Number: 1, Limit: 50}).Offset(0); got != 0 {
		t.Error(got)
	}
}
