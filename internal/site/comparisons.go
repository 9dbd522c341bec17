package site

import (
	"palmares/internal/catalog"
)

// comparisonsPage is the list of comparisons.
type comparisonsPage struct {
	page
	Filters *filters
	Matches []match
	Total   int
	Pager   pager
}

// A match is a comparison with its two tools.
type match struct {
	*catalog.Comparison
	A, B, Winner *catalog.Tool
	Sections     []section // the prose, when the page shows it
}

func (e *edition) newMatch(x *catalog.Comparison) match {
	c := e.snap.Catalog
	return match{Comparison: x, A: c.Tool(x.ToolA), B: c.Tool(x.ToolB), Winner: c.Tool(x.Winner)}
}

func (e *edition) matchList(ids []int32) []match {
	list := make([]match, len(ids))
	for n, i := range ids {
		list[n] = e.newMatch(e.published[i])
	}
	return list
}

// matchesOf are the comparisons that a tool takes part in, newest first.
func (e *edition) matchesOf(t *catalog.Tool) []match {
	list := make([]match, len(e.matches[t.Slug]))
	for i, x := range e.matches[t.Slug] {
		list[i] = e.newMatch(x)
	}
	return list
}

func (s *Site) listComparisons(r *request) (*answer, error) {
	f := readFilters(r)
	category, at := f.category(r.edition), f.paging()
	list := r.snap.Comparisons(category, at)
	v := comparisonsPage{Filters: f, Matches: r.matchList(list.IDs()), Total: list.Total, Pager: f.pager(at, list.Total)}
	v.page = s.page(r, "Comparatifs", "Deux outils, les mêmes épreuves, un vainqueur\u00a0: tous nos face-à-face.", "/comparatifs")
	f.describe(&v.page, at, r.snap.Catalog)
	return f.answer("comparisons", v), nil
}

// comparisonPage sets two tools side by side.
type comparisonPage struct {
	page
	Match  match
	Sides  [2]side
	Rows   []duelRow
	Others []match // with either of the tools
}

// A side is one of the two tools of a comparison.
type side struct {
	toolRow
	Wins bool
}

func (e *edition) sides(m match) [2]side {
	return [2]side{{e.row(m.A), m.Winner == m.A}, {e.row(m.B), m.Winner == m.B}}
}

// A duelRow is one line of the comparison: a measure with bars, or words.
type duelRow struct {
	Label, Hint string
	Bars        []duelBar
	Words       []string // without bars
}

// A duelBar is a measure of one side.
type duelBar struct {
	Value  *float64
	Better bool // than the other side's
}

func (s *Site) showComparison(r *request) (*answer, error) {
	x := r.comparison(r.PathValue("slug"))
	if x == nil {
		f := notFound("Aucun comparatif publié ne porte ce nom.")
		f.link = &link{"/comparatifs", "Tous les comparatifs"}
		return nil, f
	}
	v := comparisonPage{Match: r.newMatch(x)}
	v.Match.Sections = sections(x.Body)
	v.Sides = r.sides(v.Match)
	v.Rows = duel(v.Sides)
	for _, m := range append(r.matchesOf(v.Match.A), r.matchesOf(v.Match.B)...) {
		if m.Comparison != x {
			v.Others = append(v.Others, m)
		}
	}
	v.page = s.page(r, nobreak(x.Title), nobreak(x.WinnerNote), "/comparatifs/"+x.Slug)
	v.Canonical, v.Article = r.snap.Catalog.ComparisonURLOf(x.Slug), true
	v.Linked = r.linkedTools([]toolRow{v.Sides[0].toolRow, v.Sides[1].toolRow}, 1)
	return render("comparison", v), nil
}

func duel(sides [2]side) []duelRow {
	a, b := sides[0], sides[1]
	more := func(x, y float64) bool { return x > y }
	less := func(x, y float64) bool { return x < y }
	rows := []duelRow{
		{Label: "Note", Bars: duelBars(a.Score, b.Score, more)},
		{Label: "Vérifiabilité", Bars: duelBars(a.Verifiability, b.Verifiability, more)},
		{Label: "Obsolescence", Hint: "moins, c’est mieux", Bars: duelBars(a.Obsolescence, b.Obsolescence, less)},
	}
	words := func(label string, of func(t toolRow) string) {
		rows = append(rows, duelRow{Label: label, Words: []string{of(a.toolRow), of(b.toolRow)}})
	}
	words("Prix", func(t toolRow) string { return price(t.Price) })
	words("Modèle", func(t toolRow) string { return capital(t.PricingWord()) })
	words("Pour qui", toolRow.Reader)
	words("Catégorie", func(t toolRow) string { return t.Label })
	words("Testé le", func(t toolRow) string { return dateOr(t.TestedAt, "—") })
	return rows
}

func duelBars(a, b *float64, better func(x, y float64) bool) []duelBar {
	bars := []duelBar{{Value: a}, {Value: b}}
	if a != nil && b != nil {
		bars[0].Better, bars[1].Better = better(*a, *b), better(*b, *a)
	}
	return bars
}
