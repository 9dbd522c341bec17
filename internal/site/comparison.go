package site

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

type comparisonsPage struct {
	Filters     *filters
	Comparisons []comparisonRow
	Total       int
	Pager       pager
}

type comparisonRow struct {
	Record *catalog.Comparison
	Title  string
	Sides  [2]side
	Winner string // its name; "" in a draft that has none yet
	Note   string // on the winner
	Draft  string // see view.mark
	view   *view
}

type side struct {
	Row  toolRow
	Wins bool
}

func (v *view) comparisonRow(x *catalog.Comparison) comparisonRow {
	c := v.snap.Catalog
	row := comparisonRow{
		Record: x, Title: markdown.NoBreak(x.Title), Note: markdown.NoBreak(x.WinnerNote), view: v, Draft: v.mark(x.Draft, "comparatifs/"+x.Slug),
		Sides: [2]side{{v.row(c.Tool(x.ToolA)), x.Winner == x.ToolA}, {v.row(c.Tool(x.ToolB)), x.Winner == x.ToolB}},
	}
	if winner := c.Tool(x.Winner); winner != nil {
		row.Winner = winner.Name
	}
	return row
}

func (v *view) comparisonRows(ids []int32) []comparisonRow {
	return each(ids, func(i int32) comparisonRow { return v.comparisonRow(v.snap.Published[i]) })
}

// Comparisons returns those of a tool with others, newest first.
func (t *toolRow) Comparisons() []comparisonRow {
	return each(t.view.comparisons[t.Tool.Slug], t.view.comparisonRow)
}

func (s *Site) listComparisons(r *request) (*response, error) {
	f := readFilters(r)
	category, at := f.category(r.view), f.paging()
	list := r.snap.Comparisons(category, at)
	data := comparisonsPage{
		Filters: f, Comparisons: r.comparisonRows(list.IDs()), Total: list.Total, Pager: f.pager(at, list.Total),
	}
	p := s.page(r, "Comparatifs", "Deux outils face à face, un vainqueur\u00a0: tous les comparatifs.",
		"/comparatifs")
	f.describe(&p, data.Pager, r.snap.Catalog)
	return f.response(r, "comparisons", p, data), nil
}

// A comparisonLine is one line of the table, with a cell for each tool: measures with bars,
// criteria, words, or, on the page where visitors compare, parts of tests and links to reviews.
type comparisonLine struct {
	Label, Hint string
	Bars        []bar
	Criteria    []criterionRow
	Words       []string
	Points      []testPart
	Links       []link
}

type comparisonLines []comparisonLine

// HasMedian reports whether a line shows the median of the category.
func (l comparisonLines) HasMedian() bool {
	return slices.ContainsFunc(l, func(line comparisonLine) bool { return len(line.Criteria) > 0 && line.Criteria[0].Median >= 0 })
}

// same returns what all cells say, and reports whether they say the same.
func (l *comparisonLine) same() (text string, isSame bool) {
	var cells []string
	for _, b := range l.Bars {
		cells = append(cells, b.Value)
	}
	for _, c := range l.Criteria {
		cells = append(cells, c.Value)
	}
	cells = append(cells, l.Words...)
	if len(cells) == 0 || slices.ContainsFunc(cells, func(text string) bool { return text != cells[0] }) {
		return "", false
	}
	return cmp.Or(cells[0], "non mesuré"), true
}

func (s *Site) showComparison(r *request) (*response, error) {
	slug := r.PathValue("slug")
	x := r.comparison(slug)
	if current, ok := r.snap.Aliases[catalog.ComparisonKind][slug]; ok && x == nil {
		return redirect(r.sameForm("/comparatifs/"+current), r.URL.RawQuery), nil
	}
	if other := slugOf(slug); x == nil && r.comparison(other) != nil {
		return redirect(r.sameForm("/comparatifs/"+other), r.URL.RawQuery), nil
	}
	if x == nil {
		f := notFound("Aucun comparatif publié ne porte ce nom.")
		f.Link = &link{"/comparatifs", "Tous les comparatifs"}
		f.suggestNear(slugOf(slug), func(yield func(string, link) bool) {
			for _, x := range r.snap.Published {
				if !yield(x.Slug, link{"/comparatifs/" + x.Slug, markdown.NoBreak(x.Title)}) {
					return
				}
			}
		})
		return nil, f
	}
	row := r.comparisonRow(x)
	p := s.page(r, row.Title, row.Note, "/comparatifs/"+x.Slug)
	p.Draft, p.Canonical, p.Article = row.Draft, r.snap.Catalog.ComparisonURLOf(x.Slug), true
	p.share(cmp.Or(r.shared(x.Image), r.sharedCard("comparatifs", x.Slug)))
	about := []object{r.jsonldTool(r.snap.Catalog.Tool(x.ToolA)), r.jsonldTool(r.snap.Catalog.Tool(x.ToolB))}
	p.JSONLD = r.jsonldArticle(x.Title, r.snap.Catalog.ComparisonURLOf(x.Slug), x.Image, x.Authors, object{
		"dateModified", x.UpdatedAt, "inLanguage", "fr", "about", about,
	})
	return render(r, "comparison", p, row), nil
}

// Lines returns the lines of the table.
func (c comparisonRow) Lines() comparisonLines {
	return c.view.comparisonLines([]*catalog.Tool{c.Sides[0].Row.Tool, c.Sides[1].Row.Tool})
}

// Sections returns the text.
func (c comparisonRow) Sections() []section { return c.view.sections("comparatifs", c.Record.Body) }

// Others returns the other comparisons of either tool.
func (c comparisonRow) Others() (rows []comparisonRow) {
	shown := map[string]bool{c.Record.Slug: true}
	for _, other := range append(c.Sides[0].Row.Comparisons(), c.Sides[1].Row.Comparisons()...) {
		if !shown[other.Record.Slug] {
			shown[other.Record.Slug] = true
			rows = append(rows, other)
		}
	}
	return rows
}

// shareCategory reports whether tools were tested on one bench: they have one category. Otherwise
// their scores do not say which is better.
func shareCategory(tools []*catalog.Tool) bool {
	return !slices.ContainsFunc(tools, func(t *catalog.Tool) bool { return t.Category != tools[0].Category })
}

func (v *view) comparisonLines(tools []*catalog.Tool) []comparisonLine {
	var lines []comparisonLine
	isFair := shareCategory(tools)
	bars := func(label, hint string, direction float64, of func(t *catalog.Tool) *float64) {
		line := comparisonLine{Label: label, Hint: hint, Bars: make([]bar, len(tools))}
		isBest := bestOf(tools, isFair, func(t *catalog.Tool) (float64, bool) {
			x := of(t)
			if x == nil {
				return 0, false
			}
			return *x * direction, true
		})
		for i, t := range tools {
			line.Bars[i] = newBar("", of(t), "")
			line.Bars[i].Better, line.Bars[i].Risk = isBest[i], direction < 0
		}
		lines = append(lines, line)
	}
	words := func(label string, of func(t *catalog.Tool) string) {
		lines = append(lines, comparisonLine{Label: label, Words: each(tools, of)})
	}
	hint := ""
	if !isFair {
		hint = "bancs d’essai différents"
	}
	bars("Note", hint, +1, func(t *catalog.Tool) *float64 { return t.Score })
	if isFair {
		lines = append(lines, v.criteriaLines(tools)...)
	}
	bars(v.words.figures["verifiability"], "", +1, func(t *catalog.Tool) *float64 { return t.Verifiability })
	bars(v.words.figures["obsolescence"], lessIsBetter, -1, func(t *catalog.Tool) *float64 { return t.Obsolescence })
	words("Prix", shownPrice)
	if slices.ContainsFunc(tools,
		func(t *catalog.Tool) bool { return t.PriceDisplay != "" || !strings.HasSuffix(t.Price, "/mois") }) {
		words("Par mois", monthly) // the line above says it otherwise
	}
	words("Modèle", func(t *catalog.Tool) string { return french.Capital(string(t.Pricing)) })
	if v.snap.HasProfiles && v.words.audiences != nil && slices.ContainsFunc(tools, func(t *catalog.Tool) bool { return t.ICP != "" }) {
		words("Pour qui", func(t *catalog.Tool) string { return cmp.Or(v.words.audiences[t.ICP], "—") })
	}
	words("Catégorie", func(t *catalog.Tool) string { return v.Label(t.Category) })
	if slices.ContainsFunc(tools, func(t *catalog.Tool) bool { return t.TestedAt != "" }) {
		words("Testé le", func(t *catalog.Tool) string {
			if t.TestedAt == "" {
				return "—"
			}
			return french.Date(t.TestedAt)
		})
	}
	return lines
}

// criteriaLines compares tools of one category by its criteria, those that none of them has a value of
// excepted.
func (v *view) criteriaLines(tools []*catalog.Tool) (lines []comparisonLine) {
	c := v.category(tools[0].Category)
	if c == nil {
		return nil
	}
	for i := range c.Criteria {
		x := &c.Criteria[i]
		line := comparisonLine{Label: markdown.NoBreak(x.Label)}
		isBest := bestOf(tools, true, sortFigure(c, x.Slug))
		for n, t := range tools {
			row := v.criterion(c, x, t)
			row.Better = isBest[n]
			line.Criteria = append(line.Criteria, row)
		}
		if slices.ContainsFunc(line.Criteria, func(r criterionRow) bool { return r.Value != "" }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// bestOf says which tools have the best figure, the highest: none if all that have one have the same,
// or if the comparison would not be fair.
func bestOf(tools []*catalog.Tool, isFair bool, figure func(t *catalog.Tool) (float64, bool)) []bool {
	best, worst := math.Inf(-1), math.Inf(1)
	for _, t := range tools {
		if x, ok := figure(t); ok {
			best, worst = max(best, x), min(worst, x)
		}
	}
	list := make([]bool, len(tools))
	for i, t := range tools {
		x, ok := figure(t)
		list[i] = isFair && ok && x == best && best > worst
	}
	return list
}
