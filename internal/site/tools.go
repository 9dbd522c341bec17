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
	Partial bool // no tool has all words of the query
	Formers []former
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
		Category:        f.category(r.edition),
		ScoreMin:        f.number("score_min", "Note min."),
		ObsolescenceMax: f.number("obsolescence_max", "Obsolescence max."),
	}
	// An empty sort is the best order for what is asked: relevance for a search,
	// the score otherwise. Forms without a script send it along with a new search.
	options := []option{{Label: sortLabels[snapshot.ScoreDesc]}}
	if text == "" && f.values.Get("sort") == snapshot.Sorts[snapshot.ScoreDesc] {
		f.values.Del("sort") // the same order by its other name
	}
	if text != "" {
		options[0].Label = "Pertinence"
		options = append(options, option{Value: snapshot.Sorts[snapshot.ScoreDesc], Label: sortLabels[snapshot.ScoreDesc]})
	}
	for sort := snapshot.ScoreAsc; int(sort) < len(sortLabels); sort++ {
		options = append(options, option{Value: snapshot.Sorts[sort], Label: sortLabels[sort]})
	}
	chosen := f.choice("sort", "Trier par", options...)
	for sort, name := range snapshot.Sorts {
		if name == chosen {
			q.Sort = snapshot.Sort(sort)
		}
	}
	at := f.paging()

	v := toolsPage{Filters: f, Query: text, First: (at.Number-1)*int64(at.Limit) + 1}
	var ids []int32
	switch {
	case text == "":
		list := r.snap.Tools(q, at)
		ids, v.Total = list.IDs(), list.Total
	case chosen == "":
		ids, v.Total, v.Partial = r.byRelevance(text, q, at)
	default:
		ids, v.Total, v.Partial = r.matching(text, q, at)
	}
	v.Rows, v.Formers = r.rows(ids), r.formers(text)
	v.Pager = f.pager(at, v.Total)

	title, description := "Tous les outils", "La liste des outils d’IA que nous suivons, avec leur note, leur prix et la date du dernier essai."
	switch {
	case text != "":
		title = "Recherche\u00a0: " + text
	case q.Category != "":
		title = "Outils\u00a0: " + r.label(q.Category)
	}
	v.Page = s.page(r, title, description, "/outils")
	f.describe(&v.Page, v.Pager, r.snap.Catalog)
	v.Page.Linked = r.linkedTools(v.Rows, int(v.First))
	return f.answer(r, "tools", v.Page, v), nil
}

// byRelevance lists the tools that match a text, the best first.
func (e *edition) byRelevance(text string, q snapshot.ToolQuery, at snapshot.Paging) (ids []int32, total int, partial bool) {
	offset := len(e.snap.Catalog.Tools) // past the end
	if at.Number <= int64(offset) {
		offset = int(at.Number-1) * at.Limit
	}
	result := e.index().Search(search.Query{
		Text: text, Offset: offset, Limit: at.Limit,
		Keep: func(i int) bool { return passes(&e.snap.Catalog.Tools[i], q) },
	})
	for _, hit := range result.Hits {
		ids = append(ids, int32(hit.Tool))
	}
	return ids, result.Total, result.Partial
}

// passes tells whether a tool is in the list that a query chooses.
func passes(t *catalog.Tool, q snapshot.ToolQuery) bool {
	return (q.Category == "" || t.Category == q.Category) &&
		(q.ScoreMin == nil || t.Score != nil && *t.Score >= *q.ScoreMin) &&
		(q.ObsolescenceMax == nil || t.Obsolescence != nil && *t.Obsolescence <= *q.ObsolescenceMax)
}

// matching lists the tools that match a text in the order that a query chooses.
func (e *edition) matching(text string, q snapshot.ToolQuery, at snapshot.Paging) (ids []int32, total int, partial bool) {
	found, partial := e.index().Matches(text)
	first := (at.Number - 1) * int64(at.Limit)
	for _, i := range e.snap.Tools(q, whole(len(e.snap.Catalog.Tools))).IDs() {
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
