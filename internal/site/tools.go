package site

import (
	"palmares/internal/catalog"
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
}

var sortLabels = [...]string{
	snapshot.ScoreDesc: "Meilleure note",
	snapshot.ScoreAsc:  "Note croissante",
	snapshot.NameAsc:   "Nom, de A à Z",
	snapshot.NameDesc:  "Nom, de Z à A",
}

func (s *Site) listTools(r *request) (*answer, error) {
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
	var ids []int32
	switch {
	case text == "":
		list := r.snap.Tools(q, at)
		ids, data.Total = list.IDs(), list.Total
	case chosen == "":
		ids, data.Total, data.Partial = r.byRelevance(text, q, at)
	default:
		ids, data.Total, data.Partial = r.matching(text, q, at)
	}
	data.Rows, data.Notices = r.rows(ids), r.notices(text)
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
	return f.answer(r, "tools", data.Page, data), nil
}

// sort reads the order of the list. Empty means relevance for a search and the score
// otherwise; forms without a script also send it with a new search.
func (f *filters) sort(searching bool) string {
	options := []option{{Label: sortLabels[snapshot.ScoreDesc]}}
	if searching {
		options = []option{{Label: "Pertinence"}, {Value: snapshot.Sorts[snapshot.ScoreDesc], Label: sortLabels[snapshot.ScoreDesc]}}
	} else if f.values.Get("sort") == snapshot.Sorts[snapshot.ScoreDesc] {
		f.values.Del("sort") // it is the default
	}
	for sort := snapshot.ScoreAsc; int(sort) < len(sortLabels); sort++ {
		options = append(options, option{Value: snapshot.Sorts[sort], Label: sortLabels[sort]})
	}
	return f.choice("sort", "Trier par", options...)
}

// byRelevance returns the tools that match a text, best first.
func (v *view) byRelevance(text string, q snapshot.ToolQuery, at snapshot.Paging) (ids []int32, total int, partial bool) {
	offset := len(v.snap.Catalog.Tools) // past the end
	if at.Number <= int64(offset) {
		offset = int(at.Number-1) * at.Limit
	}
	result := v.index.Search(search.Query{
		Text: text, Offset: offset, Limit: at.Limit,
		Keep: func(i int) bool { return passes(&v.snap.Catalog.Tools[i], q) },
	})
	for _, hit := range result.Hits {
		ids = append(ids, int32(hit.Tool))
	}
	return ids, result.Total, result.Partial
}

// passes reports whether a tool passes the filters of a query.
func passes(t *catalog.Tool, q snapshot.ToolQuery) bool {
	return (q.Category == "" || t.Category == q.Category) &&
		(q.ScoreMin == nil || t.Score != nil && *t.Score >= *q.ScoreMin) &&
		(q.ObsolescenceMax == nil || t.Obsolescence != nil && *t.Obsolescence <= *q.ObsolescenceMax)
}

// matching returns the tools that match a text, in the order of a query.
func (v *view) matching(text string, q snapshot.ToolQuery, at snapshot.Paging) (ids []int32, total int, partial bool) {
	found, partial := v.index.Matches(text)
	first := (at.Number - 1) * int64(at.Limit)
	for _, i := range v.snap.Tools(q, firstItems(len(v.snap.Catalog.Tools))).IDs() {
		if found[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		if int64(total) >= first && len(ids) < at.Limit {
			ids = append(ids, i)
		}
		total++
	}
	return ids, total, partial && total > 0
}
