package snapshot

import (
	"bytes"
	"cmp"
	"math"
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

	// Orders of searches, which the list of tools does not have; see figureOrders.
	PriceAsc   Sort = iota // what depends on the use, and what is not public, comes last
	TestedDesc             // untested tools come last
	UpdatedDesc
)

// Sorts holds the wire name of each Sort.
var Sorts = [sortCount]string{"score_desc", "score_asc", "name_asc", "name_desc"}

// orderTools computes every order, of all tools and of each category, as indexes in the catalogue.
func orderTools(c *catalog.Catalog, scores []float64) map[string]*[sortCount][]int32 {
	orders := map[string]*[sortCount][]int32{"": {}}
	for i := range c.Categories {
		orders[c.Categories[i].Slug] = &[sortCount][]int32{}
	}
	for sort, ids := range sortTools(c, scores) {
		orders[""][sort] = ids
		for _, i := range ids {
			list := &orders[c.Tools[i].Category][sort]
			*list = append(*list, i)
		}
	}
	return orders
}

func orNaN(figure *float64) float64 {
	if figure == nil {
		return math.NaN()
	}
	return *figure
}

// sortTools returns all tools in every order. Names are compared by the French
// collation, with accents and case last; ties are broken by slug, which is the
// order of the catalogue.
func sortTools(c *catalog.Catalog, scores []float64) (all [sortCount][]int32) {
	keys := nameKeys(len(c.Tools), func(i int) string { return c.Tools[i].Name })
	all[NameAsc] = sortNames(keys, +1)
	all[NameDesc] = sortNames(keys, -1)
	place := make([]int32, len(c.Tools)) // by tool, in the order of names
	for at, i := range all[NameAsc] {
		place[i] = int32(at)
	}
	byScore := func(sign float64) []int32 {
		ids := slices.Clone(all[NameAsc])
		slices.SortFunc(ids, func(a, b int32) int { // NaN, which is less than any other, is last
			return cmp.Or(cmp.Compare(sign*scores[b], sign*scores[a]), cmp.Compare(place[a], place[b]))
		})
		return ids
	}
	all[ScoreDesc], all[ScoreAsc] = byScore(+1), byScore(-1)
	return all
}

// sortFigures returns the orders by figures that only searches have; ties are in the order of
// scores.
func (s *Snapshot) sortFigures() map[Sort][]int32 {
	tools := s.Catalog.Tools
	euros := make([]float64, len(tools))
	for i, t := range tools {
		euros[i] = math.Inf(1)
		if monthly, ok := catalog.Monthly(t.Pricing, t.Price); ok {
			euros[i] = monthly
		}
	}
	by := func(compare func(a, b int32) int) []int32 {
		ids := slices.Clone(s.toolOrders[""][ScoreDesc])
		slices.SortStableFunc(ids, compare)
		return ids
	}
	return map[Sort][]int32{
		PriceAsc:    by(func(a, b int32) int { return cmp.Compare(euros[a], euros[b]) }),
		TestedDesc:  by(func(a, b int32) int { return cmp.Compare(tools[b].TestedAt, tools[a].TestedAt) }),
		UpdatedDesc: by(func(a, b int32) int { return cmp.Compare(tools[b].UpdatedAt, tools[a].UpdatedAt) }),
	}
}

// inOrder returns the tools of a category, or all if it is "", in an order; one of figures has those
// of all categories.
func (s *Snapshot) inOrder(category string, sort Sort) []int32 {
	if sort >= sortCount {
		return s.figureOrders()[sort]
	}
	if orders := s.toolOrders[category]; orders != nil {
		return orders[sort]
	}
	return nil
}

func nameKeys(n int, name func(i int) string) [][]byte {
	french := collate.New(language.French)
	var buf collate.Buffer
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = french.KeyFromString(&buf, name(i))
	}
	return keys
}

// sortNames returns the order of names by their collation keys, descending if direction is
// negative; names that are equal are in the order of their numbers.
func sortNames(keys [][]byte, direction int) []int32 {
	ids := numbers(len(keys))
	slices.SortFunc(ids, func(a, b int32) int {
		return cmp.Or(direction*bytes.Compare(keys[a], keys[b]), cmp.Compare(a, b))
	})
	return ids
}

func numbers(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}

// orderComparisons returns the published comparisons, newest first, by category:
// a comparison is in the categories of both its tools.
func (s *Snapshot) orderComparisons(public []*catalog.Comparison) map[string][]int32 {
	ids := numbers(len(public))
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(public[b].UpdatedAt, public[a].UpdatedAt) })
	orders := map[string][]int32{"": ids}
	for _, i := range ids {
		a, b := s.Catalog.Tool(public[i].ToolA).Category, s.Catalog.Tool(public[i].ToolB).Category
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
	ids := numbers(len(c.Retired))
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(c.Retired[b].RetiredAt, c.Retired[a].RetiredAt) })
	orders := map[retiredKey][]int32{}
	for _, i := range ids {
		r := &c.Retired[i]
		keys := []retiredKey{{}, {category: r.Category}, {reason: r.Reason}, {r.Category, r.Reason}}
		if r.Reason == "" { // of a draft
			keys = keys[:2]
		}
		for _, key := range keys {
			orders[key] = append(orders[key], i)
		}
	}
	return orders
}
