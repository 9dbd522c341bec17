package snapshot

import (
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/search"
)

// A SearchQuery selects tools by words and by what their records say.
type SearchQuery struct {
	ToolQuery            // a category may have its former slug
	IsSorted      bool   // by ToolQuery.Sort, rather than best first
	Text          string // with conditions in words, such as « gratuit »
	Verbatim      bool   // similar words do not count
	Pricing       catalog.Pricing
	PriceMax      *float64            // euros a month
	Limits        []search.Constraint // beside those in Text
	Offset, Limit int
}

// A Found is what a search finds. Hits are sorted as the query asks.
type Found struct {
	search.Result
	Request search.Request // how Text was read

	snap     *Snapshot
	passages *search.Passages // nil until they are needed
}

// Search returns the tools that match a query: the one way from words to tools for the site, the
// API and assistants.
func (s *Snapshot) Search(q SearchQuery) *Found {
	for i := range s.Catalog.Categories {
		if c := &s.Catalog.Categories[i]; slices.Contains(c.Aliases, q.Category) {
			q.Category = c.Slug
		}
	}
	f := &Found{Request: s.Index.ReadRequest(q.Text), snap: s}
	query := search.Query{
		Text: f.Request.Text, Constraints: slices.Concat(f.Request.Constraints, q.Limits), Verbatim: q.Verbatim,
		Offset: q.Offset, Limit: q.Limit, Keep: func(i int) bool { return s.keeps(&q, i) },
	}
	if !q.IsSorted {
		f.Result = s.Index.Search(query)
		return f
	}
	set, result := s.Index.Matches(query)
	f.Result = result
	place := 0
	for _, i := range s.Tools(q.ToolQuery, Paging{Number: 1, Limit: max(len(s.Catalog.Tools), 1)}).IDs() {
		if set[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		if place >= q.Offset && len(f.Hits) < q.Limit {
			f.Hits = append(f.Hits, search.Hit{Tool: int(i)})
		}
		place++
	}
	return f
}

// keeps reports whether a tool passes the filters of a query.
func (s *Snapshot) keeps(q *SearchQuery, i int) bool {
	t := s.Catalog.Tools[i]
	return (q.Category == "" || t.Category == q.Category) &&
		(q.ScoreMin == nil || t.Score != nil && *t.Score >= *q.ScoreMin) &&
		(q.ObsolescenceMax == nil || t.Obsolescence != nil && *t.Obsolescence <= *q.ObsolescenceMax) &&
		(q.Pricing == "" || t.Pricing == q.Pricing) &&
		(q.PriceMax == nil || s.Index.Meets(i, search.Constraint{PriceMax: *q.PriceMax}))
}

// Passage returns the passage about a tool that fits the query best, and its address.
func (f *Found) Passage(tool int) (best search.Passage, url string) {
	if f.passages == nil {
		f.passages = f.snap.Index.Passages(f.Request.Text)
	}
	t := f.snap.Catalog.Tools[tool]
	best = f.passages.Best(tool)
	if best.Section == "" {
		return best, f.snap.Catalog.CanonicalURLOf(t)
	}
	return best, f.snap.Catalog.ReviewURLOf(t) + "#" + best.Section
}
