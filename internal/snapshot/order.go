package snapshot

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"palmares/internal/catalog"
)

// A Sort is an order of the list of tools.
type Sort int

// The orders of the list of tools, the default first.
const (
	ScoreDesc Sort = iota
	ScoreAsc
	NameAsc
	NameDesc
	sortCount
)

// Sorts holds the wire name of each Sort.
var Sorts = [sortCount]string{"score_desc", "score_asc", "name_asc", "name_desc"}

// An order is a sorted list of tools (indexes in the catalogue), with the data to
// filter it.
type order struct {
	ids          []int32
	score        levels // at least
	obsolescence levels // at most: the figures are negated
}

// orderTools computes every order, of all tools and of each category.
func orderTools(c *catalog.Catalog) map[string]*[sortCount]order {
	orders := map[string]*[sortCount]order{"": {}}
	for _, cat := range c.Categories {
		orders[cat.Slug] = &[sortCount]order{}
	}
	for sort, ids := range sortTools(c) {
		orders[""][sort].ids = ids
		for _, i := range ids {
			o := &orders[c.Tools[i].Category][sort]
			o.ids = append(o.ids, i)
		}
	}
	for _, sorts := range orders {
		for sort := range sorts {
			o := &sorts[sort]
			o.ids = slices.Clip(o.ids)
			o.score = newLevels(o.ids, func(i int32) (float64, bool) { return figure(c.Tools[i].Score) })
			o.obsolescence = newLevels(o.ids, func(i int32) (float64, bool) {
				x, ok := figure(c.Tools[i].Obsolescence)
				return -x, ok
			})
		}
	}
	return orders
}

// sortTools returns all tools in every order. Names are compared by the French
// collation, with accents and case last; ties are broken by slug, which is the
// order of the catalogue.
func sortTools(c *catalog.Catalog) (all [sortCount][]int32) {
	rank := nameRanks(len(c.Tools), func(i int) string { return c.Tools[i].Name })
	bySlug := make([]int32, len(c.Tools))
	for i := range bySlug {
		bySlug[i] = int32(i)
	}
	sorted := func(from []int32, compare func(a, b int32) int) []int32 {
		ids := slices.Clone(from)
		slices.SortStableFunc(ids, compare)
		return ids
	}
	byName := func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) }
	byScore := func(direction int) func(a, b int32) int {
		return func(a, b int32) int {
			x, y := c.Tools[a].Score, c.Tools[b].Score
			switch {
			case x == nil && y == nil:
				return 0
			case x == nil:
				return 1 // untested tools come last, whatever the direction
			case y == nil:
				return -1
			}
			return direction * cmp.Compare(*x, *y)
		}
	}

	all[NameAsc] = sorted(bySlug, byName)
	all[NameDesc] = sorted(bySlug, func(a, b int32) int { return byName(b, a) })
	all[ScoreDesc] = sorted(all[NameAsc], byScore(-1))
	all[ScoreAsc] = sorted(all[NameAsc], byScore(+1))
	return all
}

func figure(p *float64) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return *p, true
}

// nameRanks returns the rank of each of n names; equal names have equal ranks.
func nameRanks(n int, name func(i int) string) []int32 {
	french := collate.New(language.French)
	var buf collate.Buffer
	keys := make([][]byte, n)
	ids := make([]int32, n)
	for i := range n {
		keys[i] = slices.Clone(french.KeyFromString(&buf, name(i)))
		ids[i] = int32(i)
		buf.Reset()
	}
	slices.SortFunc(ids, func(a, b int32) int { return bytes.Compare(keys[a], keys[b]) })
	ranks := make([]int32, n)
	for pos, i := range ids {
		ranks[i] = int32(pos)
		if pos > 0 && bytes.Equal(keys[i], keys[ids[pos-1]]) {
			ranks[i] = ranks[ids[pos-1]]
		}
	}
	return ranks
}

// orderComparisons returns the published comparisons, newest first, by category:
// a comparison is in the categories of both its tools.
func orderComparisons(c *catalog.Catalog, public []*catalog.Comparison) map[string][]int32 {
	ids := make([]int32, len(public))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(public[b].UpdatedAt, public[a].UpdatedAt) })
	orders := map[string][]int32{"": ids}
	for _, i := range ids {
		a, b := c.Tool(public[i].ToolA).Category, c.Tool(public[i].ToolB).Category
		orders[a] = append(orders[a], i)
		if a != b {
			orders[b] = append(orders[b], i)
		}
	}
	return orders
}

// A retiredKey is one combination of filters over the retired tools, "" for none.
type retiredKey struct {
	category string
	reason   catalog.Reason
}

func orderRetired(c *catalog.Catalog) map[retiredKey][]int32 {
	ids := make([]int32, len(c.Retired))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(c.Retired[b].RetiredAt, c.Retired[a].RetiredAt) })
	orders := map[retiredKey][]int32{}
	for _, i := range ids {
		r := &c.Retired[i]
		for _, key := range []retiredKey{{}, {category: r.Category}, {reason: r.Reason}, {r.Category, r.Reason}} {
			orders[key] = append(orders[key], i)
		}
	}
	return orders
}

func orderCategories(c *catalog.Catalog) []int32 {
	rank := nameRanks(len(c.Categories), func(i int) string { return c.Categories[i].Label })
	ids := make([]int32, len(c.Categories))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
	return ids
}
