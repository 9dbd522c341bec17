package site

import (
	"cmp"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// What is read of the parameters of a category.
const (
	maxWishes    = 2000 // bytes
	maxRefusals  = 3
	widestSlider = 10 // unless a weight is larger
)

// wishes are what the parameters of a category page ask for.
type wishes struct {
	weights  []float64 // of the criteria of the category, in their order; nil for none
	sort     string    // of the table: a column; "" for the score, or the weights
	problems []string
	isNormal bool // the parameters are written as address writes them
}

func (w *wishes) refuse(sentence string) {
	if len(w.problems) < maxRefusals {
		w.problems = append(w.problems, sentence)
	}
}

// readWishes reads the weights, poids=exactitude:3,latence:1, which a form without a script sends as
// poids-exactitude=3&poids-latence=1, and the order of the table, tri=latence.
func readWishes(query string, c *catalog.Category) *wishes {
	w := &wishes{isNormal: true}
	if len(query) > maxWishes {
		w.refuse("Cette adresse est trop longue\u00a0: donnez un poids au plus à chaque critère.")
		return w
	}
	given, err := url.ParseQuery(query)
	if err != nil {
		w.refuse("Cette adresse est mal écrite. Les poids s’écrivent ainsi\u00a0: ?poids=critere:3,autre:1.")
		return w
	}
	weights := map[string]float64{}
	for _, list := range given["poids"] {
		for part := range strings.SplitSeq(list, ",") {
			if slug, number, _ := strings.Cut(part, ":"); strings.TrimSpace(part) != "" {
				w.weigh(c, weights, slug, number)
			}
		}
	}
	fromForm := false
	for _, name := range slices.Sorted(maps.Keys(given)) {
		slug, ok := strings.CutPrefix(name, "poids-")
		if !ok {
			continue
		}
		fromForm = true
		if number := given.Get(name); strings.TrimSpace(number) != "" {
			w.weigh(c, weights, slug, number)
		}
	}
	if len(weights) > 0 && len(w.problems) == 0 {
		w.weights = weightsOf(c, func(slug string) float64 { return weights[slug] })
	}
	switch sort := given.Get("tri"); {
	case sort == "" || sort == byScore && w.weights == nil:
	case sort == byName, sort == byScore, sort == byPrice, c.Criterion(sort) != nil:
		w.sort = sort
	default:
		w.refuse("Ce tri n’existe pas\u00a0: choisissez une colonne du tableau.")
	}
	w.isNormal = !fromForm && len(given["poids"]) < 2 && given.Get("poids") == w.parameter(c)
	return w
}

func (w *wishes) weigh(c *catalog.Category, weights map[string]float64, slug, number string) {
	slug = strings.TrimSpace(strings.ToValidUTF8(slug, ""))
	number = strings.TrimSpace(strings.ToValidUTF8(number, ""))
	x := c.Criterion(slug)
	_, isTwice := weights[slug]
	weight, ok := web.ParseNumber(strings.Replace(number, ",", ".", 1))
	switch {
	case len(c.Criteria) == 0:
		w.refuse("Cette catégorie n’a pas de critères\u00a0: rien ne s’y pèse.")
	case x == nil:
		w.refuse("«\u00a0" + clip(slug, maxChoiceName) + "\u00a0» n’est pas un critère de cette catégorie, qui a " +
			byline(each(c.Criteria, func(x catalog.Criterion) string { return x.Slug })) + ".")
	case isTwice:
		w.refuse("Le poids de «\u00a0" + x.Label + "\u00a0» est donné deux fois.")
	case !ok || weight < 0 || weight > catalog.MaxWeight:
		w.refuse("Le poids de «\u00a0" + x.Label + "\u00a0» doit être un nombre de 0 à " + strconv.Itoa(catalog.MaxWeight) +
			", pas «\u00a0" + clip(number, 20) + "\u00a0».")
	default:
		weights[slug] = weight
	}
}

// weightsOf returns a weight for each criterion; nil if all are 0.
func weightsOf(c *catalog.Category, of func(slug string) float64) []float64 {
	weights, sum := make([]float64, len(c.Criteria)), 0.0
	for i := range c.Criteria {
		weights[i] = of(c.Criteria[i].Slug)
		sum += weights[i]
	}
	if sum == 0 {
		return nil
	}
	return weights
}

// The columns that every table has, beside the criteria. No slug has their names.
const (
	byName  = "_nom"
	byScore = "_note"
	byPrice = "_prix"
)

// parameter returns the weights as addresses have them; "" for none.
func (w *wishes) parameter(c *catalog.Category) string {
	var parts []string
	for i, weight := range w.weights {
		if weight > 0 {
			parts = append(parts, c.Criteria[i].Slug+":"+strconv.FormatFloat(weight, 'f', -1, 64))
		}
	}
	return strings.Join(parts, ",")
}

// address returns the address of the page with the weights, and with an order of the table.
func (w *wishes) address(c *catalog.Category, sort string) string {
	var parameters []string
	if list := w.parameter(c); list != "" {
		parameters = append(parameters, "poids="+list)
	}
	if sort != "" {
		parameters = append(parameters, "tri="+sort)
	}
	if len(parameters) == 0 {
		return "/categories/" + c.Slug
	}
	return "/categories/" + c.Slug + "?" + strings.Join(parameters, "&")
}

// A weighing is the part of a category page where readers say what counts for them.
type weighing struct {
	Action   string
	IsActive bool // there are weights
	Said     string
	Fields   []weightField
	Profiles []weightProfile
}

// A weightField is the control of a criterion.
type weightField struct {
	Slug, Label, Description string
	Value, Most              string
}

// A weightProfile is a set of weights that the publisher proposes.
type weightProfile struct {
	Href, Label string
	Current     bool
}

// newWeighing returns nil for a category without criteria.
func newWeighing(c *catalog.Category, w *wishes) *weighing {
	if len(c.Criteria) == 0 {
		return nil
	}
	g := &weighing{Action: "/categories/" + c.Slug, IsActive: w.weights != nil}
	var said []string
	for i := range c.Criteria {
		x := &c.Criteria[i]
		f := weightField{
			Slug: x.Slug, Label: markdown.NoBreak(x.Label), Description: markdown.NoBreak(x.Description),
			Value: "0", Most: strconv.Itoa(widestSlider),
		}
		if w.weights != nil && w.weights[i] > 0 {
			f.Value = strconv.FormatFloat(w.weights[i], 'f', -1, 64)
			f.Most = strconv.Itoa(max(widestSlider, int(math.Ceil(w.weights[i]))))
			said = append(said, f.Label+"\u00a0×\u00a0"+french.Number(w.weights[i]))
		}
		g.Fields = append(g.Fields, f)
	}
	g.Said = strings.Join(said, ", ")
	for _, p := range c.Profiles {
		proposed := &wishes{weights: weightsOf(c, func(slug string) float64 { x, _ := p.Weights.Of(slug); return x.Number })}
		if proposed.weights != nil {
			g.Profiles = append(g.Profiles, weightProfile{
				Href: proposed.address(c, ""), Label: markdown.NoBreak(p.Label), Current: proposed.parameter(c) == w.parameter(c),
			})
		}
	}
	return g
}

// worth returns the mean of the places of a tool by the criteria that it has values of, each with its
// weight; false if it has none.
func (w *wishes) worth(c *catalog.Category, t *catalog.Tool) (mean float64, has bool) {
	var sum, total float64
	for i, weight := range w.weights {
		if v, ok := t.Criteria.Of(c.Criteria[i].Slug); ok && weight > 0 {
			sum += weight * c.Criteria[i].Place(v)
			total += weight
		}
	}
	if total == 0 {
		return 0, false
	}
	return math.Round(sum/total*1e9) / 1e9, true // what differs by less is equal
}

// A candidate is a tool with the figure that it is ranked by: the lowest of all if it has none.
type candidate struct {
	tool   *catalog.Tool
	figure float64
}

// compare puts the higher figure first, then the higher score, then the slug.
func (a candidate) compare(b candidate) int {
	score := func(t *catalog.Tool) float64 {
		if t.Score == nil {
			return -1
		}
		return *t.Score
	}
	return cmp.Or(cmp.Compare(b.figure, a.figure), cmp.Compare(score(b.tool), score(a.tool)),
		strings.Compare(a.tool.Slug, b.tool.Slug))
}

// first returns the first tools of a category by a figure. It keeps no more than a page shows: anybody
// can ask for any weights.
func (v *view) first(category string, figure func(t *catalog.Tool) (float64, bool)) []*catalog.Tool {
	var list []candidate
	for _, i := range v.toolsOf(category, snapshot.ScoreDesc) {
		one := candidate{v.snap.Catalog.Tools[i], math.Inf(-1)}
		if x, has := figure(one.tool); has {
			one.figure = x
		}
		if at, _ := slices.BinarySearchFunc(list, one, candidate.compare); at < categoryTools {
			list = slices.Insert(list, at, one)[:min(len(list)+1, categoryTools)]
		}
	}
	return each(list, func(one candidate) *catalog.Tool { return one.tool })
}

func (v *view) toolsOf(category string, sort snapshot.Sort) []int32 {
	return v.snap.Tools(snapshot.ToolQuery{Category: category, Sort: sort}, firstItems(len(v.snap.Catalog.Tools))).IDs()
}

// A criteriaTable has the first tools of a category, in the order of one of its columns.
type criteriaTable struct {
	Columns []criteriaColumn
	Rows    []criteriaRow
}

// A criteriaColumn links to the table in its order, the best first.
type criteriaColumn struct {
	Label, Href string
	Sort        string // aria-sort; "" if the table has another order
}

// A criteriaRow is a tool with the values of its columns after the name; "" was not measured.
type criteriaRow struct {
	toolRow
	Cells []string
}

func (v *view) criteriaTable(c *catalog.Category, w *wishes) *criteriaTable {
	table := &criteriaTable{Columns: []criteriaColumn{w.column(c, byName, "Outil", "ascending")}}
	if w.weights != nil {
		table.Columns = append(table.Columns, w.column(c, "", "Selon vos poids", "descending"))
	}
	table.Columns = append(table.Columns,
		w.column(c, byScore, "Note", "descending"), w.column(c, byPrice, "Prix", "ascending"))
	tools := v.sorted(c, w)
	var criteria []*catalog.Criterion // of which the tools have values
	for i := range c.Criteria {
		x := &c.Criteria[i]
		if slices.ContainsFunc(tools, func(t *catalog.Tool) bool { _, ok := t.Criteria.Of(x.Slug); return ok }) {
			criteria = append(criteria, x)
			direction := "descending"
			if isLowerBetter(x) {
				direction = "ascending"
			}
			table.Columns = append(table.Columns, w.column(c, x.Slug, markdown.NoBreak(x.Label), direction))
		}
	}
	for _, t := range tools {
		row := criteriaRow{toolRow: v.row(t)}
		if w.weights != nil {
			text := ""
			if worth, ok := w.worth(c, t); ok {
				text = strings.Replace(strconv.FormatFloat(10*worth, 'f', 2, 64), ".", ",", 1)
			}
			row.Cells = append(row.Cells, text)
		}
		row.Cells = append(row.Cells, figure(t.Score), row.Price)
		for _, x := range criteria {
			text := ""
			if value, ok := t.Criteria.Of(x.Slug); ok {
				text = criterionValue(x, value)
			}
			row.Cells = append(row.Cells, text)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func isLowerBetter(x *catalog.Criterion) bool {
	return x.Worst != nil && x.Best != nil && *x.Best < *x.Worst
}

// column returns the head of a column. The order of the page without another is "": by the weights of the
// reader, or else by score.
func (w *wishes) column(c *catalog.Category, name, label, direction string) criteriaColumn {
	if name == byScore && w.weights == nil {
		name = ""
	}
	column := criteriaColumn{Label: label, Href: w.address(c, name) + "#page.outils"}
	if w.sort == name {
		column.Sort = direction
	}
	return column
}

func (v *view) sorted(c *catalog.Category, w *wishes) []*catalog.Tool {
	order := snapshot.ScoreDesc
	switch {
	case w.sort == byName:
		order = snapshot.NameAsc
	case w.sort == "" && w.weights != nil:
		return v.first(c.Slug, func(t *catalog.Tool) (float64, bool) { return w.worth(c, t) })
	case w.sort != "" && w.sort != byScore:
		return v.first(c.Slug, sortFigure(c, w.sort))
	}
	ids := v.toolsOf(c.Slug, order)
	return each(ids[:min(len(ids), categoryTools)], func(i int32) *catalog.Tool { return v.snap.Catalog.Tools[i] })
}

// sortFigure returns the figure of a column, the best of which is the highest.
func sortFigure(c *catalog.Category, column string) func(t *catalog.Tool) (float64, bool) {
	x := c.Criterion(column)
	if x == nil {
		return func(t *catalog.Tool) (float64, bool) {
			euros, ok := catalog.Monthly(t.Pricing, t.Price)
			return -euros, ok
		}
	}
	return func(t *catalog.Tool) (float64, bool) {
		value, ok := t.Criteria.Of(x.Slug)
		if isLowerBetter(x) {
			value.Number = -value.Number
		}
		return value.Number, ok
	}
}
