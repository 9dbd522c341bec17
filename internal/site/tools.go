package site

import (
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/search"
	"palmares/internal/snapshot"
)

type toolsPage struct {
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
	Versus     *versus     // the two tools that Query names; nil for none
	Groups     []group     // what else the search finds
}

// A condition is a filter that a search states in words, such as « gratuit ».
type condition struct {
	Label string
	Href  string // of the search without it
}

// sorts are the orders of the list, by their names in addresses.
var sorts = []struct {
	name, label string
	sort        snapshot.Sort
}{
	{snapshot.Sorts[snapshot.ScoreDesc], "Meilleure note", snapshot.ScoreDesc},
	{snapshot.Sorts[snapshot.ScoreAsc], "Note croissante", snapshot.ScoreAsc},
	{"price_asc", "Prix croissant", snapshot.PriceAsc},
	{"tested_desc", "Test le plus récent", snapshot.TestedDesc},
	{"updated_desc", "Dernière modification", snapshot.UpdatedDesc},
	{snapshot.Sorts[snapshot.NameAsc], "Nom, de A à Z", snapshot.NameAsc},
	{snapshot.Sorts[snapshot.NameDesc], "Nom, de Z à A", snapshot.NameDesc},
}

func (s *Site) listTools(r *request) (*response, error) {
	f := readFilters(r)
	text := f.search()
	q := snapshot.SearchQuery{Text: text, Verbatim: f.value("exact") != ""}
	q.Category = f.category(r.view)
	f.readFacets(r.view, &q)
	q.ScoreMin, q.ObsolescenceMax = f.number("score_min", "Note min."), f.number("obsolescence_max", r.words.figures["obsolescence"]+" max.")
	chosen := f.sort(text != "")
	q.IsSorted = text == "" || chosen != ""
	for _, one := range sorts {
		if one.name == chosen {
			q.Sort = one.sort
		}
	}
	at := f.paging()
	q.Offset, q.Limit = at.Offset(len(r.snap.Catalog.Tools)), at.Limit

	data := toolsPage{Filters: f, Query: text, First: (at.Number-1)*int64(at.Limit) + 1}
	found := r.snap.Search(q)
	data.show(r, found)
	f.addFacets(r.view, found, &q)
	data.Pager = f.pager(at, data.Total)
	if text != "" && at.Number == 1 {
		data.showOthers(r, found)
	}
	if text != "" && data.Total+len(data.Notices) == 0 && len(f.given) == 1 && !r.markdown && s.CountsReaders() {
		s.cfg.Readers.Missed(r.Request, text)
	}

	title, description := "Tous les outils", "Tous les outils du catalogue, avec leur note et leur prix."
	switch {
	case text != "":
		title = "Recherche\u00a0: " + text
	case q.Category != "":
		title = "Outils\u00a0: " + r.Label(q.Category)
	}
	p := s.page(r, title, description, "/outils")
	f.describe(&p, data.Pager, r.snap.Catalog)
	p.JSONLD = r.jsonldTools(data.Rows, int(data.First))
	return f.response(r, "tools", p, data), nil
}

// sort reads the order of the list. Empty means relevance for a search and the score
// otherwise; forms without a script also send it with a new search.
func (f *filters) sort(searching bool) string {
	var options []option
	for _, one := range sorts {
		options = append(options, option{Value: one.name, Label: one.label})
	}
	if searching {
		options = slices.Insert(options, 0, option{Label: "Pertinence"})
	} else {
		if f.values.Get("sort") == options[0].Value {
			f.values.Del("sort") // it is the default
		}
		options[0].Value = ""
	}
	return f.choice("sort", "Trier par", options...)
}

// show sets the rows of the tools that were found, and what the page says about them.
func (p *toolsPage) show(r *request, found *snapshot.Found) {
	p.Total, p.Partial = found.Total, found.Partial && len(found.Request.Versus) == 0
	if p.Query == "" {
		for _, hit := range found.Hits {
			p.Rows = append(p.Rows, r.row(r.snap.Catalog.Tools[hit.Tool]))
		}
		return
	}
	if slug, ok := r.snap.Aliases[catalog.ToolKind][normalize(p.Query)]; ok {
		p.Notices = append(p.Notices, notice{Name: r.snap.Catalog.Tool(slug).Name, Href: "/outils/" + slug})
	}
	for _, t := range found.Retired {
		p.Notices = append(p.Notices, notice{Name: t.Name, Href: catalog.RetiredKind.Address + t.Slug, Retired: true})
	}
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
	case c.Instead != "" && c.PriceMax > 0:
		return "Alternatives moins chères que " + c.Instead
	case c.Instead != "" && c.Pricing != "":
		return "Alternatives à " + c.Instead + " avec une formule gratuite"
	case c.Instead != "":
		return "Alternatives à " + c.Instead
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
	case c.Sort != search.ByRelevance:
		return orderLabels[c.Sort]
	case c.Without != "" || c.TestedFrom != "" || c.TestedTo != "":
		return french.Capital(r.Words(i))
	default:
		return french.Euros(c.PriceMax) + " par mois au plus"
	}
}
