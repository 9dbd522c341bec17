package site

import (
	"palmares/internal/catalog"
)

// comparisonsPage is the list of comparisons.
type comparisonsPage struct {
	Page    page
	Filters *filters
	Matches []match
	Total   int
	Pager   pager
}

// A match is a comparison with its two tools.
type match struct {
	Slug, Title string
	UpdatedAt   string
	Sides       [2]side
	Winner      string // its name
	Note        string // on the winner
}

// A side is one of the two tools of a comparison.
type side struct {
	Row  toolRow
	Wins bool
}

func (e *edition) newMatch(x *catalog.Comparison) match {
	c := e.snap.Catalog
	return match{
		Slug: x.Slug, Title: nobreak(x.Title), UpdatedAt: x.UpdatedAt, Winner: c.Tool(x.Winner).Name, Note: nobreak(x.WinnerNote),
		Sides: [2]side{{e.row(c.Tool(x.ToolA)), x.Winner == x.ToolA}, {e.row(c.Tool(x.ToolB)), x.Winner == x.ToolB}},
	}
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
	v.Page = s.page(r, "Comparatifs", "Deux outils, les mêmes épreuves, un vainqueur\u00a0: tous nos face-à-face.", "/comparatifs")
	f.describe(&v.Page, v.Pager, r.snap.Catalog)
	return f.answer(r, "comparisons", v.Page, v), nil
}

// comparisonPage sets two tools side by side.
type comparisonPage struct {
	Page     page
	Match    match
	Rows     []duelRow
	Sections []section // the prose
	Body     string    // the same, as it was written
	Others   []match   // with either of the tools
}

// A duelRow is one line of the comparison: a measure with bars, or words.
type duelRow struct {
	Label, Hint string
	Bars        []bar
	Words       []string // without bars
}

func (s *Site) showComparison(r *request) (*answer, error) {
	x := r.comparison(r.PathValue("slug"))
	if x == nil {
		f := notFound("Aucun comparatif publié ne porte ce nom.")
		f.link = &link{"/comparatifs", "Tous les comparatifs"}
		return nil, f
	}
	v := comparisonPage{Match: r.newMatch(x), Sections: sections(x.Body), Body: x.Body}
	a, b := v.Match.Sides[0].Row, v.Match.Sides[1].Row
	v.Rows = r.duel(a.tool, b.tool)
	shown := map[string]bool{x.Slug: true}
	for _, m := range append(r.matchesOf(a.tool), r.matchesOf(b.tool)...) {
		if !shown[m.Slug] {
			shown[m.Slug] = true
			v.Others = append(v.Others, m)
		}
	}
	v.Page = s.page(r, nobreak(x.Title), nobreak(x.WinnerNote), "/comparatifs/"+x.Slug)
	v.Page.Canonical, v.Page.Article = r.snap.Catalog.ComparisonURLOf(x.Slug), true
	v.Page.Linked = r.linkedTools([]toolRow{a, b}, 1)
	return render(r, "comparison", v.Page, v), nil
}

// duel sets the two tools against each other, line by line.
func (e *edition) duel(a, b *catalog.Tool) []duelRow {
	rows := []duelRow{
		{Label: "Note", Bars: duelBars(a.Score, b.Score, +1)},
		{Label: "Vérifiabilité", Bars: duelBars(a.Verifiability, b.Verifiability, +1)},
		{Label: "Obsolescence", Hint: "moins, c’est mieux", Bars: duelBars(a.Obsolescence, b.Obsolescence, -1)},
	}
	words := func(label string, of func(t *catalog.Tool) string) {
		rows = append(rows, duelRow{Label: label, Words: []string{of(a), of(b)}})
	}
	words("Prix", func(t *catalog.Tool) string { return price(t.Price) })
	words("Modèle", func(t *catalog.Tool) string { return capital(string(t.Pricing)) })
	words("Pour qui", func(t *catalog.Tool) string { return readerNames[t.ICP] })
	words("Catégorie", func(t *catalog.Tool) string { return e.label(t.Category) })
	words("Testé le", func(t *catalog.Tool) string {
		if t.TestedAt == "" {
			return "—"
		}
		return date(t.TestedAt)
	})
	return rows
}

// duelBars are the two bars of a measure; direction tells whether more or less
// of it is better.
func duelBars(a, b *float64, direction float64) []bar {
	bars := []bar{newBar("", a, ""), newBar("", b, "")}
	if a != nil && b != nil {
		bars[0].Better, bars[1].Better = direction*(*a-*b) > 0, direction*(*b-*a) > 0
	}
	return bars
}
