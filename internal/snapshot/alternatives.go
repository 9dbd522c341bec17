package snapshot

import (
	"cmp"
	"math"
	"slices"

	"palmares/internal/catalog"
)

// Alternatives returns the other tools of the category of a tool by score, limit at most, and
// reports whether there are more.
func (s *Snapshot) Alternatives(t *catalog.Tool, limit int) (list []*catalog.Tool, more bool) {
	page := s.Tools(ToolQuery{Category: t.Category}, Paging{Number: 1, Limit: limit + 1})
	for _, i := range page.IDs() {
		if other := s.Catalog.Tools[i]; other != t && len(list) < limit {
			list = append(list, other)
		}
	}
	return list, page.Total-1 > len(list)
}

// Replacements returns the tools that can take the place of a retired one, limit at most: its
// successor, then those of the same category that share most of its usages. Among these, a point of
// the score weighs as much as a price that is twice or half of what the retired tool cost. Only the
// best of the category are looked at: there may be very many.
func (s *Snapshot) Replacements(r *catalog.Retired, limit int) []*catalog.Tool {
	type candidate struct {
		*catalog.Tool
		shared int
		points float64
	}
	var list []candidate
	successor := s.Catalog.Tool(r.Successor)
	if successor != nil {
		list = append(list, candidate{Tool: successor, shared: math.MaxInt})
	}
	for _, i := range s.Tools(ToolQuery{Category: r.Category}, Paging{Number: 1, Limit: mostReplacements}).IDs() {
		if t := s.Catalog.Tools[i]; t != successor {
			list = append(list, candidate{t, sharedUsages(t, r), points(t, r)})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), cmp.Compare(b.points, a.points))
	})
	tools := make([]*catalog.Tool, min(limit, len(list)))
	for i := range tools {
		tools[i] = list[i].Tool
	}
	return tools
}

// mostReplacements is how many tools of a category are looked at.
const mostReplacements = 200

// replacementsFirst returns an order of all tools with the replacements of a retired one first.
func (s *Snapshot) replacementsFirst(r *catalog.Retired, order []int32) []int32 {
	var first []int32
	for _, t := range s.Replacements(r, mostReplacements) {
		i, _ := s.Catalog.IndexOf(t.Slug)
		first = append(first, int32(i))
	}
	rest := slices.DeleteFunc(slices.Clone(order), func(i int32) bool { return slices.Contains(first, i) })
	return append(first, rest...)
}

func sharedUsages(t *catalog.Tool, r *catalog.Retired) (n int) {
	for _, u := range t.Usages {
		if slices.Contains(r.Usages, u) {
			n++
		}
	}
	return n
}

// points returns the score of a tool less the distance of its price, in doublings, from that of a
// retired one, if both are known.
func points(t *catalog.Tool, r *catalog.Retired) (points float64) {
	if t.Score != nil {
		points = *t.Score
	}
	before, known := catalog.Monthly("", r.LastPrice)
	now, ok := catalog.Monthly(t.Pricing, t.Price)
	if known && ok {
		points -= math.Abs(math.Log2((now + 1) / (before + 1)))
	}
	return points
}
