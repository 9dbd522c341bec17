package snapshot

import (
	"cmp"
	"slices"
	"strings"

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
	Request search.Request     // how Text was read
	Typed   string             // the text that Suggestion replaces
	Retired []*catalog.Retired // tools that Text names, the longest names first

	snap     *Snapshot
	passages *search.Passages // nil until they are needed
}

// Search returns the tools that match a query: the one way from words to tools for the site, the
// API and assistants. A misspelt condition, such as « gratiut », is one all the same.
func (s *Snapshot) Search(q SearchQuery) *Found {
	f := s.search(q)
	if meant := s.Index.ReadRequest(f.Suggestion); len(meant.Constraints) == 0 || len(f.Request.Constraints) > 0 {
		return f
	}
	typed := f.Typed
	q.Text, q.Verbatim = f.Suggestion, true
	f = s.search(q)
	f.Suggestion, f.Typed = f.Request.Text, typed
	return f
}

func (s *Snapshot) search(q SearchQuery) *Found {
	for i := range s.Catalog.Categories {
		if c := &s.Catalog.Categories[i]; slices.Contains(c.Aliases, q.Category) {
			q.Category = c.Slug
		}
	}
	f := &Found{Request: s.Index.ReadRequest(q.Text), Retired: s.retiredWithin(q.Text), snap: s}
	var misspelt []string
	if len(f.Retired) == 0 && !q.Verbatim {
		f.Retired, misspelt = s.retiredNear(q.Text)
	}
	query := search.Query{
		Text: f.Request.Text, Constraints: slices.Concat(f.Request.Constraints, q.Limits), Verbatim: q.Verbatim,
		Offset: q.Offset, Limit: q.Limit, Known: misspelt, Keep: func(i int) bool { return s.keeps(&q, i) },
	}
	f.Typed = f.Request.Text
	for _, t := range f.Retired {
		query.Known = append(query.Known, t.Name, t.Slug)
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
		f.passages = f.snap.Index.Passages(cmp.Or(f.Suggestion, f.Request.Text))
	}
	t := f.snap.Catalog.Tools[tool]
	best = f.passages.Best(tool)
	if best.Section == "" {
		return best, f.snap.Catalog.CanonicalURLOf(t)
	}
	return best, f.snap.Catalog.ReviewURLOf(t) + "#" + best.Section
}

// RetiredNamed returns the retired tools that have a text as their slug or name, ignoring case,
// accents and punctuation.
func (s *Snapshot) RetiredNamed(name string) []*catalog.Retired {
	return s.retiredByName[search.Key(name)]
}

// mostRetired is how many retired tools a search shows.
const mostRetired = 3

// retiredNear returns the retired tools whose whole name, with one typo, occurs in a text, and the
// words of the text that are meant. One of these is a word that no tool has: « image » is not a
// misspelt Imagen.
func (s *Snapshot) retiredNear(text string) (list []*catalog.Retired, meant []string) {
	const mostWords, longest = 8, 3 // every sequence of up to three words is looked up
	words := search.Words(text)
	words = words[:min(len(words), mostWords)]
	isUnknown := func(word string) bool { return !s.Index.Knows(word) }
	for n := min(len(words), longest); n > 0; n-- {
		for i := range len(words) - n + 1 {
			part := words[i : i+n]
			if !slices.ContainsFunc(part, isUnknown) {
				continue
			}
			for _, key := range s.retiredNames.Near(strings.Join(part, "")) {
				meant = append(meant, part...)
				for _, t := range s.retiredByName[key] {
					if len(list) < mostRetired && !slices.Contains(list, t) {
						list = append(list, t)
					}
				}
			}
		}
	}
	return list, meant
}

// Near returns the slug of the tool, active or retired, that is written nearly like another text; ""
// for none. Of the active ones, only those that a search finds are compared: there may be very many.
func (s *Snapshot) Near(slug string) (near string) {
	if slug == "" || len(slug) > catalog.MaxSlug {
		return ""
	}
	most := len(slug)/3 + 1
	for _, hit := range s.Index.Search(search.Query{Text: strings.ReplaceAll(slug, "-", " "), Limit: 10}).Hits {
		t := s.Catalog.Tools[hit.Tool]
		if strings.Contains(t.Slug, slug) || strings.Contains(slug, t.Slug) ||
			catalog.EditDistance(slug, t.Slug, most) <= most {
			near = t.Slug
			break
		}
	}
	const maxTypos = 3
	most = min(most, maxTypos, catalog.EditDistance(slug, near, maxTypos+1)-1) // retired ones have to be nearer
	for i := range s.Catalog.Retired {
		other := s.Catalog.Retired[i].Slug
		if d := catalog.EditDistance(slug, other, most); d <= most {
			near, most = other, d-1
		}
	}
	return near
}

// retiredWithin returns the retired tools whose whole name occurs in a text.
func (s *Snapshot) retiredWithin(text string) (list []*catalog.Retired) {
	const mostWords = 16 // every sequence of words is looked up
	words := search.Words(text)
	words = words[:min(len(words), mostWords)]
	for n := len(words); n > 0; n-- {
		for i := range len(words) - n + 1 {
			for _, t := range s.retiredByName[strings.Join(words[i:i+n], "")] {
				if len(list) < mostRetired && !slices.Contains(list, t) {
					list = append(list, t)
				}
			}
		}
	}
	return list
}
