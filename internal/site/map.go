package site

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/dataset"
	"palmares/internal/french"
	"palmares/internal/market"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const mapPath = "/carte"

// mapPage is the map of all tools, or of some.
type mapPage struct {
	Page      page
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
	JSON, CSV string // addresses of the data; "" if they are not given away
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
	data := mapPage{Filters: f, Total: m.Len(), Plot: chart.NewPlot(m, false), Unscored: len(m.Unscored)}
	for _, p := range m.Frontier() {
		if len(data.Frontier) < mapFrontier {
			data.Frontier = append(data.Frontier, r.mapRow(p.Tool, &p))
		}
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
	if r.snap.Catalog.HasDataset() {
		shown := &filters{given: maps.Clone(f.given)}
		if first != "" {
			shown.given.Set("category", first)
		}
		data.JSON, data.CSV = shown.at(mapPath+".json"), shown.at(mapPath+".csv")
	}
	if first != "" {
		data.Begins = r.label(first)
		f.selectCategory(first)
	} else if f.given.Get("category") == everything {
		f.selectCategory(everything)
	}
	data.Page = s.page(r, "Carte", "Ce que vaut chaque outil et ce qu’il coûte par mois, sur une carte\u00a0: "+
		"les outils qu’aucun autre ne bat en note et en prix.", mapPath)
	data.Page.MoreStyle = s.assets.paths["market.css"]
	data.Page.NoIndex = data.Page.NoIndex || f.Active() || len(f.Problems) > 0
	data.Page.Markdown = f.at(mapPath + markdownSuffix) // without parameters that are not read: the page is kept
	return f.response(r, "map", data.Page, data)
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

// maxMapData is how many tools a file of the map has; the export has all.
const maxMapData = 5000

// mapData is /carte.json.
type mapData struct {
	UpdatedAt  string      `json:"updated_at"`
	Credit     string      `json:"credit"`
	Category   string      `json:"category"` // "" for all
	Pricing    string      `json:"pricing"`  // "" for all
	Total      int         `json:"total"`
	Truncated  bool        `json:"truncated"` // only the first are listed
	BestScore  *string     `json:"best_score"`
	BestValue  *string     `json:"best_value"`
	BestFree   *string     `json:"best_free"`
	Tools      []mapRecord `json:"tools"`
	NotMonthly []mapRecord `json:"not_monthly"`
	NotScored  []mapRecord `json:"not_scored"`
}

// A mapRecord is a tool of mapData.
type mapRecord struct {
	Slug     string   `json:"slug"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Pricing  string   `json:"pricing"`
	Price    *string  `json:"price"` // null if it is not public
	Score    *float64 `json:"score"`
	Monthly  *float64 `json:"euros_per_month"` // null if it cannot be said
	Frontier bool     `json:"frontier"`
}

// mapFile reads the parameters of a file of the map and returns the file, from the cache if
// it is there.
func (s *Site) mapFile(r *request, write func(*mapData) *response) (*response, error) {
	if !r.snap.Catalog.HasDataset() {
		return nil, noDataset()
	}
	f := readFilters(r)
	if moved := f.renamedCategory(r); moved != nil {
		return moved, nil
	}
	category, pricing := f.mapCategory(r.view), f.pricing()
	if len(f.Problems) > 0 {
		a := newResponse(jsonType,
			web.Invalid("pricing", "Cette valeur n’existe pas\u00a0: gratuit, freemium ou payant.").JSON())
		a.status, a.cache = 400, noStore
		return a, nil
	}
	build := func() (*response, error) {
		data := newMapData(r.snap.Catalog, r.maps().Of(category, pricing))
		data.UpdatedAt, data.Credit = r.snap.UpdatedAt, r.snap.Catalog.CreditLine()
		data.Category, data.Pricing = category, string(pricing)
		a := write(data)
		if !f.Active() { // a part of the page has no page of its own
			a.canonical = r.snap.Catalog.URL + mapPath
		}
		return a, nil
	}
	if _, known := r.labels[category]; !known && category != "" {
		return build()
	}
	return r.cachedPage("map "+f.with("", ""), build)
}

func newMapData(c *catalog.Catalog, m *market.Map) *mapData {
	data := &mapData{Total: m.Len(), Tools: []mapRecord{}, NotMonthly: []mapRecord{}, NotScored: []mapRecord{}}
	room := maxMapData
	add := func(to *[]mapRecord, t *catalog.Tool, frontier bool) {
		if room == 0 {
			data.Truncated = true
			return
		}
		room--
		*to = append(*to, mapRecord{
			Slug: t.Slug, Name: t.Name, Category: t.Category, Pricing: string(t.Pricing), Price: catalog.PublicPrice(t.Pricing, t.Price), Score: t.Score,
			Monthly: t.EurosPerMonth(), Frontier: frontier,
		})
	}
	points := slices.Clone(m.Points)
	slices.SortStableFunc(points, func(a, b market.Point) int { return cmp.Compare(b.Score, a.Score) })
	for _, p := range points {
		add(&data.Tools, p.Tool, p.Frontier)
	}
	for _, t := range m.Apart {
		add(&data.NotMonthly, t, false)
	}
	for _, t := range m.Unscored {
		add(&data.NotScored, t, false)
	}
	if best, _, _ := m.BestScore(); best != nil {
		data.BestScore = &best.Slug
	}
	if p := m.BestValue(); p != nil {
		data.BestValue = &p.Tool.Slug
	}
	if p := m.BestFree(); p != nil {
		data.BestFree = &p.Tool.Slug
	}
	return data
}

// mapJSON is the map for programs: its tools by score, then those beside it.
func (s *Site) mapJSON(r *request) (*response, error) {
	return s.mapFile(r, func(data *mapData) *response { return newResponse(jsonType, wire.AppendJSON(nil, data)) })
}

// mapCSV is the same for spreadsheets, without what is not about one tool.
func (s *Site) mapCSV(r *request) (*response, error) {
	return s.mapFile(r, func(data *mapData) *response {
		rows := [][]string{{"slug", "name", "category", "pricing", "price", "score", "euros_per_month", "frontier"}}
		for _, list := range [][]mapRecord{data.Tools, data.NotMonthly, data.NotScored} {
			for i := range list {
				t, price := &list[i], ""
				if t.Price != nil {
					price = *t.Price
				}
				rows = append(rows, []string{
					t.Slug, dataset.Cell(t.Name), dataset.Cell(t.Category), t.Pricing, price,
					csvNumber(t.Score), csvNumber(t.Monthly), strconv.FormatBool(t.Frontier),
				})
			}
		}
		return newCSV(rows)
	})
}
