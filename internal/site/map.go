package site

import (
	"cmp"
	"maps"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/market"
)

const mapPath = "/carte"

// mapPage is the map of all tools, or of some.
type mapPage struct {
	Filters   *filters
	Total     int         // tools that were chosen
	Plot      *chart.Plot // nil without tools on the map
	Frontier  []mapRow
	IsMixed   bool     // tools of several categories, each with tests of its own, are on the map
	Rows      []mapRow // of the table: one for each tool, or for each mark if they are many
	Apart     []mapRow // prices that are not per month
	MoreApart int      // that are not in Apart
	Unscored  int
	Neither   int    // of Unscored, whose price is not per month either
	Begins    string // label of the category that is shown because there are too many tools; "" for none
}

// A mapRow is a mark of the map in a table.
type mapRow struct {
	toolRow
	Month    string // price per month
	Each     string // what Month is for besides: utilisateur; "" for nothing
	Others   int    // that the mark stands for besides this tool
	Frontier bool
}

// How many rows the lists next to the map have.
const (
	mapFrontier = 24
	mapApart    = 24
	mapRows     = 250
)

func (s *Site) showMap(r *request) (*response, error) {
	f := readFilters(r)
	if moved := f.renamedCategory(r); moved != nil {
		return moved, nil
	}
	first := f.beginWith(r.view)
	category, pricing := cmp.Or(f.mapCategory(r.view), first), f.pricing()
	if len(f.Problems) > 0 { // anybody can invent such addresses: nothing is drawn for them
		return s.renderMap(r, f, &market.Map{}, ""), nil
	}
	build := func() (*response, error) { return s.renderMap(r, f, r.maps().Of(category, pricing), first), nil }
	// There are few maps, and each is made of the whole catalogue.
	if _, known := r.labels[category]; r.query == "" || !known && category != "" {
		return build()
	}
	return r.cachedPage("map "+f.with("", ""), build)
}

// crowd is how many tools make a cloud of a map: one of so many begins with a category.
const crowd = 150

// everything is the category that stands for all of them on such a map. No slug is written so.
const everything = "_toutes"

// beginWith returns the category that a map begins with; "" if one is chosen, or all tools are few.
func (f *filters) beginWith(v *view) string {
	if f.values.Get("category") != "" || len(v.maps().Of("", "").Points) < crowd {
		return ""
	}
	for _, c := range v.categories {
		if len(v.maps().Of(c.Slug, "").Points) > 0 {
			return c.Slug
		}
	}
	return ""
}

// mapCategory reads the category of a map; "" for all, or for none given.
func (f *filters) mapCategory(v *view) string {
	if f.values.Get("category") != everything {
		return f.category(v)
	}
	f.values.Del("category")
	f.category(v)
	f.given.Set("category", everything)
	return ""
}

// selectCategory selects an option of the category, and lets one choose all of them.
func (f *filters) selectCategory(slug string) {
	options := f.Fields[0].Options
	options[0].Value = everything
	for i := range options {
		options[i].Selected = options[i].Value == slug
	}
}

// renamedCategory returns the redirect from a former slug of a category, or nil.
func (f *filters) renamedCategory(r *request) *response {
	current, ok := r.categoryAliases[f.values.Get("category")]
	if !ok {
		return nil
	}
	values := maps.Clone(f.values)
	values.Set("category", current)
	return redirectTo(r.URL.Path + "?" + values.Encode())
}

// pricing reads a model.
func (f *filters) pricing() catalog.Pricing {
	options := []option{{Label: "Tous"}}
	for _, p := range catalog.Pricings {
		options = append(options, option{Value: string(p), Label: french.Capital(string(p))})
	}
	return catalog.Pricing(f.choice("pricing", "Modèle", options...))
}

func (s *Site) renderMap(r *request, f *filters, m *market.Map, first string) *response {
	data := mapPage{
		Filters: f, Total: m.Len(), Plot: chart.NewPlot(m, false), Frontier: r.frontierRows(m), Unscored: len(m.Unscored),
	}
	if data.Plot != nil {
		data.IsMixed = slices.ContainsFunc(m.Points, func(p market.Point) bool { return p.Tool.Category != m.Points[0].Tool.Category })
		data.Rows = r.markRows(data.Plot.Marks())
		if len(m.Points) <= mapRows {
			data.Rows = r.markRows(each(m.Points, func(p market.Point) chart.Mark { return chart.Mark{Point: p} }))
		}
	}
	for _, t := range m.Apart {
		if len(data.Apart) < mapApart {
			data.Apart = append(data.Apart, r.mapRow(t, nil))
		}
	}
	data.MoreApart = len(m.Apart) - len(data.Apart)
	for _, t := range m.Unscored {
		if _, ok := catalog.Monthly(t.Pricing, t.Price); !ok {
			data.Neither++
		}
	}
	if first != "" {
		data.Begins = r.Label(first)
		f.selectCategory(first)
	} else if f.given.Get("category") == everything {
		f.selectCategory(everything)
	}
	p := s.page(r, "Carte", "Ce que vaut chaque outil et ce qu’il coûte par mois, sur une carte\u00a0: "+
		"les outils qu’aucun autre ne bat en note et en prix.", mapPath)
	p.MoreStyle = s.assets.paths["market.css"]
	p.NoIndex = p.NoIndex || f.Active() || len(f.Problems) > 0
	p.Markdown = f.at(mapPath + markdownSuffix) // without parameters that are not read: the page is kept
	return f.response(r, "map", p, data)
}

// at returns another address with the filters of the list.
func (f *filters) at(path string) string {
	if len(f.given) == 0 {
		return path
	}
	return path + "?" + f.given.Encode()
}

// mapRow returns a row of a tool; p is nil for one that is not on the map.
func (v *view) mapRow(t *catalog.Tool, p *market.Point) mapRow {
	row := mapRow{toolRow: v.row(t)}
	if p != nil {
		row.Month = chart.About(t, french.ShortEuros(p.Euros), p.Euros == 0)
		row.Each, row.Frontier = chart.Each(t.Price), p.Frontier
	}
	return row
}

// frontierRows returns the rows of the tools that no other beats, the cheapest first.
func (v *view) frontierRows(m *market.Map) []mapRow {
	frontier := m.Frontier()
	return each(frontier[:min(len(frontier), mapFrontier)], func(p market.Point) mapRow { return v.mapRow(p.Tool, &p) })
}

// markRows returns the rows of marks, the best score first.
func (v *view) markRows(marks []chart.Mark) []mapRow {
	sorted := slices.Clone(marks)
	slices.SortStableFunc(sorted, func(a, b chart.Mark) int {
		return cmp.Or(cmp.Compare(b.Point.Score, a.Point.Score), cmp.Compare(a.Point.Euros, b.Point.Euros),
			cmp.Compare(a.Point.Tool.Slug, b.Point.Tool.Slug))
	})
	rows := make([]mapRow, len(sorted))
	for i := range sorted {
		rows[i] = v.mapRow(sorted[i].Point.Tool, &sorted[i].Point)
		rows[i].Others = sorted[i].Others
	}
	return rows
}
