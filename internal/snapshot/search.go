package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/search"
)

// A SearchQuery selects tools by words and by what their records say. Without words it selects all
// that pass the filters, by score.
type SearchQuery struct {
	ToolQuery            // a category may have its former slug; Sort may be an order of searches
	IsSorted      bool   // by ToolQuery.Sort, rather than best first
	Text          string // with conditions in words, such as « gratuit »
	Verbatim      bool   // similar words do not count
	Offset, Limit int

	Pricing         catalog.Pricing
	PriceMax        *float64 // euros a month
	Usage           string   // slug
	UsageIn         []string // categories that mean the same by it; nil for all
	ICP             catalog.ICP
	TestedSince     string   // YYYY-MM-DD
	Criterion       string   // slug of one that is answered with yes
	CriterionIn     []string // as UsageIn
	ExcludeCategory string
	AlternativesTo  string // slug of a tool, active or retired: others of its category

	Limits []search.Constraint // beside those in Text
}

// A Found is what a search finds. Hits are sorted as the query asks.
type Found struct {
	search.Result
	Request search.Request     // how Text was read
	Typed   string             // the text that Suggestion replaces
	Retired []*catalog.Retired // tools that Text names, the longest names first

	snap     *Snapshot
	query    search.Query // what was asked of the index
	filters  SearchQuery
	passages *search.Passages // nil until they are needed
}

// Search returns the tools that match a query: the one way from words to tools for the site, the
// API and assistants. A misspelt condition, such as « gratiut », is one all the same.
func (s *Snapshot) Search(q SearchQuery) *Found {
	f := s.search(q)
	meant := cmp.Or(f.Suggestion, f.Typed)
	if !q.Verbatim {
		meant = s.Index.CorrectWishes(meant)
	}
	if meant == f.Typed || len(s.readRequest(meant).Constraints) == 0 {
		return f
	}
	typed := f.Typed
	q.Text, q.Verbatim = f.Request.Stated()+" "+meant, true
	f = s.search(q)
	f.Suggestion, f.Typed = f.Request.Text, typed
	return f
}

func (s *Snapshot) readRequest(text string) search.Request {
	return s.Index.ReadRequest(text, func(key string) *catalog.Retired {
		if named := s.retiredByName[key]; len(named) > 0 {
			return named[0]
		}
		return nil
	})
}

func (s *Snapshot) search(q SearchQuery) *Found {
	q.Category, q.ExcludeCategory = s.currentCategory(q.Category), s.currentCategory(q.ExcludeCategory)
	f := &Found{Request: s.readRequest(q.Text), Retired: s.retiredWithin(q.Text), snap: s}
	var misspelt []string
	if len(f.Retired) == 0 && !q.Verbatim {
		f.Retired, misspelt = s.retiredNear(q.Text)
	}
	filters := s.checks(&q)
	keep := func(i int) bool {
		return !slices.ContainsFunc(filters, func(c check) bool { return !c.passes(i, s.Catalog.Tools[i]) })
	}
	query := search.Query{
		Text: f.Request.Text, Constraints: slices.Concat(f.Request.Constraints, q.Limits), Verbatim: q.Verbatim,
		Offset: q.Offset, Limit: q.Limit, Known: misspelt, Keep: keep,
	}
	f.Typed = f.Request.Text
	for _, t := range f.Retired {
		query.Known = append(query.Known, t.Name, t.Slug)
	}
	if wish := f.Request.Sort(); !q.IsSorted && wish != search.ByRelevance {
		q.IsSorted, query.Near = true, true
		q.Sort = map[search.Sort]Sort{search.ByPrice: PriceAsc, search.ByScore: ScoreDesc, search.ByTest: TestedDesc}[wish]
	}
	f.query, f.filters = query, q
	switch {
	case query.Text == "" && len(query.Constraints) == 0:
		s.listFound(f, &q, query.Keep)
	case q.IsSorted:
		var set []uint64
		set, f.Result = s.Index.Matches(query)
		s.listFound(f, &q, func(i int) bool { return set[i/64]&(1<<(i%64)) != 0 })
	default:
		f.Result = s.Index.Search(query)
	}
	return f
}

// Count calls visit for every tool that matches the text of the query and passes all its filters, or
// all but one that is not the category, whose name it is given: what choosing another value of that filter would show.
func (f *Found) Count(visit func(tool int, but string)) {
	s := f.snap
	var set []uint64 // nil for all
	if query := f.query; query.Text != "" || len(query.Constraints) > 0 {
		query.Keep = nil
		if f.Suggestion != "" {
			query.Text, query.Verbatim = f.Suggestion, true
		}
		set, _ = s.Index.Matches(query)
	}
	checks := s.checks(&f.filters)
	for _, id := range s.inOrder(f.filters.Category, ScoreDesc) { // no other category is counted
		i, t := int(id), s.Catalog.Tools[id]
		if set != nil && set[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		failed, but := 0, ""
		for _, c := range checks {
			if !c.passes(i, t) {
				failed++
				but = c.name
			}
		}
		if failed < 2 {
			visit(i, but)
		}
	}
}

// listFound sets the hits and their number: the tools for which has returns true, in the order of a
// query.
func (s *Snapshot) listFound(f *Found, q *SearchQuery, has func(i int) bool) {
	f.Total = 0
	order := s.inOrder(q.Category, q.Sort)
	if r := s.RetiredTool(q.AlternativesTo); r != nil && !q.IsSorted {
		order = s.replacementsFirst(r, order)
	}
	for _, i := range order {
		if !has(int(i)) {
			continue
		}
		if f.Total >= q.Offset && len(f.Hits) < q.Limit {
			f.Hits = append(f.Hits, search.Hit{Tool: int(i)})
		}
		f.Total++
	}
}

// What a search looks at of articles, newest first.
const (
	searchedArticles = 1000
	searchedText     = 32 << 10 // bytes of each
)

// A Text is an article that a search finds.
type Text struct {
	Slug      string `json:"slug"`
	Title     string `json:"title"`
	Date      string `json:"date"`
	Sponsored bool   `json:"sponsored"`
	URL       string `json:"url"`
}

// Articles returns the newest three articles that the words of the search are about: by their titles, descriptions and
// authors, the names of their tools, and what they say.
func (f *Found) Articles() []Text {
	list := []Text{}
	if f.Request.Text == "" {
		return list
	}
	matches := search.Matcher(f.Request.Text)
	for _, a := range f.snap.Newest[:min(len(f.snap.Newest), searchedArticles)] {
		text := a.Title + " " + a.Description + " " + strings.Join(a.Authors, " ")
		for _, slug := range a.Tools {
			if t := f.snap.Catalog.Tool(slug); t != nil {
				text += " " + t.Name
			}
		}
		if len(list) < 3 && matches(search.Roots(text), f.snap.articleRoots[a.Slug]) {
			list = append(list, Text{a.Slug, a.Title, a.Date, a.Sponsored, f.snap.Catalog.ArticleURLOf(a.Slug)})
		}
	}
	return list
}

// currentCategory returns the slug of a category, which may be a former one.
func (s *Snapshot) currentCategory(slug string) string {
	for i := range s.Catalog.Categories {
		if c := &s.Catalog.Categories[i]; slices.Contains(c.Aliases, slug) {
			return c.Slug
		}
	}
	return slug
}

type check struct {
	name   string // of the filter, as in the address of a page
	passes func(i int, t *catalog.Tool) bool
}

func (s *Snapshot) checks(q *SearchQuery) (all []check) {
	add := func(isSet bool, name string, passes func(i int, t *catalog.Tool) bool) {
		if isSet {
			all = append(all, check{name, passes})
		}
	}
	add(q.Category != "", "category", func(_ int, t *catalog.Tool) bool { return t.Category == q.Category })
	add(q.ExcludeCategory != "", "exclude_category", func(_ int, t *catalog.Tool) bool { return t.Category != q.ExcludeCategory })
	add(q.ScoreMin != nil, "score_min", func(_ int, t *catalog.Tool) bool { return t.Score != nil && *t.Score >= *q.ScoreMin })
	add(q.ObsolescenceMax != nil, "obsolescence_max", func(_ int, t *catalog.Tool) bool {
		return t.Obsolescence != nil && *t.Obsolescence <= *q.ObsolescenceMax
	})
	add(q.Pricing != "", "pricing", func(i int, _ *catalog.Tool) bool { return s.Index.Pricing(i) == q.Pricing })
	add(q.PriceMax != nil, "price_max", func(i int, _ *catalog.Tool) bool {
		return s.Index.Meets(i, &search.Constraint{PriceMax: *q.PriceMax})
	})
	add(q.Usage != "", "usage", func(_ int, t *catalog.Tool) bool { return isIn(t, q.UsageIn) && slices.Contains(t.Usages, q.Usage) })
	add(q.ICP != "", "icp", func(_ int, t *catalog.Tool) bool { return t.ICP == q.ICP })
	add(q.TestedSince != "", "tested_since", func(_ int, t *catalog.Tool) bool { return t.TestedAt >= q.TestedSince })
	add(q.Criterion != "", "criterion", func(_ int, t *catalog.Tool) bool { // whose answer is yes
		v, ok := t.Criteria.Of(q.Criterion)
		return isIn(t, q.CriterionIn) && ok && v.IsFlag && v.Number == 1
	})
	if q.AlternativesTo != "" {
		slug := cmp.Or(s.Aliases[catalog.ToolKind][q.AlternativesTo], q.AlternativesTo)
		category := ""
		if t := s.Catalog.Tool(slug); t != nil {
			category = t.Category
		} else if t := s.RetiredTool(slug); t != nil {
			category = t.Category
		}
		add(true, "alternatives_to", func(_ int, t *catalog.Tool) bool { return t.Category == category && t.Slug != slug })
	}
	return all
}

func isIn(t *catalog.Tool, categories []string) bool {
	return categories == nil || slices.Contains(categories, t.Category)
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
