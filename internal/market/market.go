// Package market compares the scores and the prices of a whole catalogue: which tools are worth
// their price. Everything follows from the records of one version, so that every node has the same figures.
package market

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
)

// Maps are the maps of one version of a catalogue. They never change.
type Maps struct {
	byCategory map[string]*Map // "" for all
}

// A Point is a tool with a score and a price per month.
type Point struct {
	Tool     *catalog.Tool
	Score    float64
	Euros    float64 // per month, as catalog.Monthly returns it; 0 is free
	Frontier bool    // no tool of the map beats it
}

// A Map is what a choice of tools offers for which price.
type Map struct {
	// Points are the tools that can be compared: the cheapest first, then the best score,
	// then by slug.
	Points []Point
	// Apart are tools with a score whose price is not one per month or not public, the best score first;
	// Unscored are those without a score, by slug.
	Apart, Unscored []*catalog.Tool
}

// NewMaps returns the maps of a catalogue, which must be sorted.
func NewMaps(c *catalog.Catalog) *Maps {
	all := newMap(c)
	m := &Maps{map[string]*Map{"": all}}
	for _, t := range c.Tools {
		if m.byCategory[t.Category] == nil {
			m.byCategory[t.Category] = all.of(func(other *catalog.Tool) bool { return other.Category == t.Category })
		}
	}
	return m
}

func newMap(c *catalog.Catalog) *Map {
	m := &Map{}
	for i := range c.Tools {
		t := c.Tools[i]
		euros, ok := catalog.Monthly(t.Pricing, t.Price)
		switch {
		case t.Score == nil:
			m.Unscored = append(m.Unscored, t)
		case !ok:
			m.Apart = append(m.Apart, t)
		default:
			m.Points = append(m.Points, Point{Tool: t, Score: *t.Score, Euros: euros})
		}
	}
	slices.SortFunc(m.Points, func(a, b Point) int {
		switch {
		case a.Euros != b.Euros:
			return cmp.Compare(a.Euros, b.Euros)
		case a.Score != b.Score:
			return cmp.Compare(b.Score, a.Score)
		}
		return cmp.Compare(a.Tool.Slug, b.Tool.Slug) // read only where it is needed
	})
	slices.SortFunc(m.Apart, func(a, b *catalog.Tool) int {
		return cmp.Or(cmp.Compare(*b.Score, *a.Score), cmp.Compare(a.Slug, b.Slug))
	})
	markFrontier(m.Points)
	return m
}

// Of returns the map of a category, "" for all, and of a model, "" for all. An unknown
// category has an empty one. The caller must not change it.
func (m *Maps) Of(category string, pricing catalog.Pricing) *Map {
	all := m.byCategory[category]
	if all == nil {
		return &Map{}
	}
	if pricing == "" {
		return all
	}
	return all.of(func(t *catalog.Tool) bool { return t.Pricing == pricing })
}

// of returns the map of some of the tools. What is taken in order stays in order.
func (m *Map) of(isWanted func(*catalog.Tool) bool) *Map {
	points := only(m.Points, func(p Point) bool { return isWanted(p.Tool) })
	markFrontier(points)
	return &Map{points, only(m.Apart, isWanted), only(m.Unscored, isWanted)}
}

func only[T any](list []T, isWanted func(T) bool) (some []T) {
	for _, one := range list {
		if isWanted(one) {
			some = append(some, one)
		}
	}
	return some
}

// Len returns the number of tools, on the map or beside it.
func (m *Map) Len() int { return len(m.Points) + len(m.Apart) + len(m.Unscored) }

// markFrontier marks the points that no other beats. One beats another if it has at least
// its score for at most its price, and is better in one of the two: tools with the same
// score and the same price do not beat each other. The points must be sorted.
func markFrontier(points []Point) {
	best := -1.0 // score of what is cheaper
	for i := 0; i < len(points); {
		top := points[i].Score
		same := i
		for ; same < len(points) && points[same].Euros == points[i].Euros; same++ {
			points[same].Frontier = points[same].Score == top && top > best
		}
		best = max(best, top)
		i = same
	}
}

// Frontier returns the points that no other beats, the cheapest first.
func (m *Map) Frontier() []Point { return only(m.Points, func(p Point) bool { return p.Frontier }) }

// BestScore returns the tool with the highest score, and the next one; nil where there is
// none. Of equal scores the lower price comes first, then the slug. Equal is how many other
// tools have the highest score.
func (m *Map) BestScore() (best, next *catalog.Tool, equal int) {
	better := func(t *catalog.Tool) {
		switch {
		case best == nil || *t.Score > *best.Score:
			best, next, equal = t, best, 0
			return
		case *t.Score == *best.Score:
			equal++
		}
		if next == nil || *t.Score > *next.Score {
			next = t
		}
	}
	for i := range m.Points {
		better(m.Points[i].Tool)
	}
	for _, t := range m.Apart { // dearer than any that can be compared
		better(t)
	}
	return best, next, equal
}

// valueMargin is how far below the best score the best value may be.
const valueMargin = 1

// BestValue returns the tool of the frontier that is worth more than the best score on the
// map costs: the cheapest at most valueMargin below it. It is nil if there is none. The tool
// with the best score of all is never its own alternative; if it is not on the map, the best
// on the map may be.
func (m *Map) BestValue() *Point {
	top := m.Top()
	if top == nil {
		return nil
	}
	best, _, _ := m.BestScore()
	for i := range m.Points { // the frontier rises with the price
		p := &m.Points[i]
		isNear := top.Score-p.Score <= valueMargin+1e-9 // scores are decimal fractions
		if p.Frontier && isNear && (best != top.Tool || p.Score < top.Score) {
			return p
		}
	}
	return nil
}

// Top returns the best score on the map, the cheapest of equal ones; nil for none.
func (m *Map) Top() (top *Point) {
	for i := range m.Points {
		if top == nil || m.Points[i].Score > top.Score {
			top = &m.Points[i]
		}
	}
	return top
}

// BestFree returns the tool with the highest score among those that cost nothing, or nil.
func (m *Map) BestFree() *Point {
	if len(m.Points) == 0 || m.Points[0].Euros > 0 {
		return nil
	}
	return &m.Points[0]
}
