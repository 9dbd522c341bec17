package site

import (
	"palmares/internal/french"
	"palmares/internal/search"
	"palmares/internal/snapshot"
)

// toolsPage is the list of tools.
type toolsPage struct {
	Page    page
	Filters *filters
	Query   string
	Rows    []toolRow
	First   int64 // rank of the first row
	Total   int
	Partial bool // no tool matches all words of Query
	Notices []notice
	Pager   pager

	Conditions []condition // read from Query
	Understood string      // what was searched for instead of Query, or ""
	Typed      string      // what Understood replaces
	Verbatim   string      // address of the search for Query as it is typed
}

// A condition is a filter that a search states in words, such as « gratuit ».
type condition struct {
	Label string
	Href  string // of the search without it
}

var sortLabels = [...]string{
	snapshot.ScoreDesc: "Meilleure note",
	snapshot.ScoreAsc:  "Note croissante",
	snapshot.NameAsc:   "Nom, de A à Z",
	snapshot.NameDesc:  "Nom, de Z à A",
}

func (s *Site) listTools(r *request) (*response, error) {
	f := readFilters(r)
	text := f.search()
	q := snapshot.ToolQuery{
		Category:        f.category(r.view),
		ScoreMin:        f.number("score_min", "Note min."),
		ObsolescenceMax: f.number("obsolescence_max", "Obsolescence max."),
	}
	chosen := f.sort(text != "")
	for sort, name := range snapshot.Sorts {
		if name == chosen {
			q.Sort = snapshot.Sort(sort)
		}
	}
	at := f.paging()

	data := toolsPage{Filters: f, Query: text, First: (at.Number-1)*int64(at.Limit) + 1}
	if text == "" {
		list := r.snap.Tools(q, at)
		data.Rows, data.Total = r.rows(list.IDs()), list.Total
	} else {
		data.search(r, q, at, chosen == "")
	}
	data.Pager = f.pager(at, data.Total)

	title, description := "Tous les outils", "Tous les outils du catalogue, avec leur note et leur prix."
	switch {
	case text != "":
		title = "Recherche\u00a0: " + text
	case q.Category != "":
		title = "Outils\u00a0: " + r.label(q.Category)
	}
	data.Page = s.page(r, title, description, "/outils")
	f.describe(&data.Page, data.Pager, r.snap.Catalog)
	data.Page.JSONLD = r.jsonldTools(data.Rows, int(data.First))
	return f.response(r, "tools", data.Page, data), nil
}

// sort reads the order of the list. Empty means relevance for a search and the score
// otherwise; forms without a script also send it with a new search.
func (f *filters) sort(searching bool) string {
	options := []option{{Label: sortLabels[snapshot.ScoreDesc]}}
	if searching {
		options = []option{
			{Label: "Pertinence"}, {Value: snapshot.Sorts[snapshot.ScoreDesc], Label: sortLabels[snapshot.ScoreDesc]},
		}
	} else if f.values.Get("sort") == snapshot.Sorts[snapshot.ScoreDesc] {
		f.values.Del("sort") // it is the default
	}
	for sort := snapshot.ScoreAsc; int(sort) < len(sortLabels); sort++ {
		options = append(options, option{Value: snapshot.Sorts[sort], Label: sortLabels[sort]})
	}
	return f.choice("sort", "Trier par", options...)
}

// search sets the rows of the tools that match the query of the page, best first or in the order of
// q, and what the page says about them.
func (p *toolsPage) search(r *request, q snapshot.ToolQuery, at snapshot.Paging, byRelevance bool) {
	found := r.snap.Search(snapshot.SearchQuery{
		Text: p.Query, ToolQuery: q, IsSorted: !byRelevance, Verbatim: p.Filters.value("exact") != "",
		Offset: at.Offset(len(r.snap.Catalog.Tools)), Limit: at.Limit,
	})
	p.Total, p.Partial, p.Notices = found.Total, found.Partial, r.notices(p.Query, found.Retired)
	for i := range found.Request.Constraints {
		p.Conditions = append(p.Conditions, condition{conditionLabel(&found.Request, i), p.Filters.with("q", found.Request.Without(i))})
	}
	if found.Suggestion != "" {
		p.Understood, p.Typed, p.Verbatim = found.Suggestion, found.Typed, p.Filters.with("exact", "1")
	}
	for _, hit := range found.Hits {
		row := r.row(r.snap.Catalog.Tools[hit.Tool])
		if best, _ := found.Passage(hit.Tool); best.Section != "" {
			row.Passage = &passage{best.Section, best.Heading, best.Snippet}
		}
		p.Rows = append(p.Rows, row)
	}
}

// orderLabels are what a search says of the order that it asks for.
var orderLabels = map[search.Sort]string{
	search.ByPrice: "Les moins chers d’abord", search.ByScore: "Les mieux notés d’abord", search.ByTest: "Les derniers tests d’abord",
}

// conditionLabel returns the i-th condition of a search as visitors read it. What is best said in
// their own words is quoted.
func conditionLabel(r *search.Request, i int) string {
	switch c := r.Constraints[i]; {
	case c.Pricing == "gratuit":
		return "Gratuit ou avec une formule gratuite"
	case c.Pricing != "":
		return french.Capital(string(c.Pricing))
	case c.ScoreMin > 0:
		return "Note d’au moins " + french.Figure(c.ScoreMin)
	case c.PriceMin > 0 && c.PriceMax > 0:
		return "De " + french.Euros(c.PriceMin) + " à " + french.Euros(c.PriceMax) + " par mois"
	case c.PriceMin > 0:
		return french.Euros(c.PriceMin) + " par mois au moins"
	case c.Instead != "":
		return "Alternatives à " + c.Instead
	case c.Sort != search.ByRelevance:
		return orderLabels[c.Sort]
	case c.Without != "" || c.TestedFrom != "" || c.TestedTo != "":
		return french.Capital(r.Words(i))
	default:
		return french.Euros(c.PriceMax) + " par mois au plus"
	}
}
