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

// What is read of the parameters of a category, and how much of a ranking is shown unfolded.
const (
	maxWishes    = 2000 // bytes
	maxRefusals  = 3
	rankedFirst  = 10
	widestSlider = 10 // unless a weight is larger
)

// wishes are what the parameters of a category page ask for.
type wishes struct {
	weights  []float64 // of the criteria of the category, in their order; nil for none
	sort     string    // of the table: a column, after "-" from the other end; "" for the score, or the weights
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
	switch column, sort := strings.TrimPrefix(given.Get("tri"), "-"), given.Get("tri"); {
	case sort == "" || sort == byScore && w.weights == nil:
	case column == byName, column == byScore, column == byPrice, c.Criterion(column) != nil:
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
	Ranked   []rankedTool
	Next     []rankedTool // that follow, folded
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

// A rankedTool is a tool with what it is worth by the weights.
type rankedTool struct {
	toolRow
	Value   string // out of ten; "" if nothing was measured
	Width   int    // in percent
	Missing string // the criteria with a weight that were not measured
}

// weighing returns nil for a category without criteria.
func (v *view) weighing(c *catalog.Category, w *wishes, ranking []candidate) *weighing {
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
	for i, one := range ranking {
		ranked := rankedTool{toolRow: v.row(one.tool), Missing: w.missing(c, one.tool)}
		if one.has {
			ranked.Value, ranked.Width = strings.Replace(strconv.FormatFloat(10*one.figure, 'f', 2, 64), ".", ",", 1), int(math.Round(100*one.figure))
		}
		if i < rankedFirst {
			g.Ranked = append(g.Ranked, ranked)
		} else {
			g.Next = append(g.Next, ranked)
		}
	}
	return g
}

// missing names the criteria with a weight that a tool has no value of.
func (w *wishes) missing(c *catalog.Category, t *catalog.Tool) string {
	var labels []string
	for i := range c.Criteria {
		if _, ok := t.Criteria.Of(c.Criteria[i].Slug); !ok && w.weights[i] > 0 {
			labels = append(labels, markdown.NoBreak(c.Criteria[i].Label))
		}
	}
	return strings.Join(labels, ", ")
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

// A candidate is a tool with the figure that it is ranked by.
type candidate struct {
	tool   *catalog.Tool
	figure float64
	has    bool
}

// compare puts the higher figure first, then the higher score, then the slug, and tools without a
// figure last.
func (a candidate) compare(b candidate) int {
	if a.has != b.has {
		if a.has {
			return -1
		}
		return 1
	}
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
func (v *view) first(category string, figure func(t *catalog.Tool) (float64, bool)) []candidate {
	var list []candidate
	for _, i := range v.toolsOf(category, snapshot.ScoreDesc) {
		one := candidate{tool: v.snap.Catalog.Tools[i]}
		one.figure, one.has = figure(one.tool)
		if at, _ := slices.BinarySearchFunc(list, one, candidate.compare); at < categoryTools {
			list = slices.Insert(list, at, one)[:min(len(list)+1, categoryTools)]
		}
	}
	return list
}

func (v *view) toolsOf(category string, sort snapshot.Sort) []int32 {
	return v.snap.Tools(snapshot.ToolQuery{Category: category, Sort: sort}, firstItems(len(v.snap.Catalog.Tools))).IDs()
}

// A criteriaTable has the values of a category's tools, in the order of one of its columns.
type criteriaTable struct {
	Columns []criteriaColumn
	Rows    []criteriaCells
}

// A criteriaColumn links to the table in its order, or in the opposite one if it is in force.
type criteriaColumn struct {
	Label, Href string
	Sort        string // aria-sort; "" if the table has another order
}

// criteriaCells are the values of a tool. Those of criteria follow its score and price; "" was not
// measured.
type criteriaCells struct {
	Slug, Name string
	Cells      []string
}

// criteriaTable returns nil if nothing was measured in the category.
func (v *view) criteriaTable(c *catalog.Category, w *wishes, ranking []candidate) *criteriaTable {
	tools := v.sorted(c, w, ranking)
	if len(c.Criteria) == 0 || !slices.ContainsFunc(tools, func(t *catalog.Tool) bool { return len(t.Criteria) > 0 }) {
		return nil
	}
	table := &criteriaTable{Columns: []criteriaColumn{
		w.column(c, byName, "Outil", true), w.column(c, byScore, "Note", false), w.column(c, byPrice, "Prix", true),
	}}
	for i := range c.Criteria {
		x := &c.Criteria[i]
		table.Columns = append(table.Columns, w.column(c, x.Slug, markdown.NoBreak(x.Label), isLowerBetter(x)))
	}
	for _, t := range tools {
		row := criteriaCells{Slug: t.Slug, Name: t.Name, Cells: []string{figure(t.Score), shownPrice(t)}}
		for i := range c.Criteria {
			text := ""
			if value, ok := t.Criteria.Of(c.Criteria[i].Slug); ok {
				text = criterionValue(&c.Criteria[i], value)
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

// column returns the head of a column; rises says whether its values rise where the table begins with
// the best.
func (w *wishes) column(c *catalog.Category, name, label string, rises bool) criteriaColumn {
	column := criteriaColumn{Label: label}
	to := name
	switch {
	case w.sort == name, w.sort == "" && name == byScore && w.weights == nil:
		to = "-" + name
	case w.sort == "-"+name:
		rises = !rises
	default:
		column.Href = w.address(c, to) + "#page.criteres"
		return column
	}
	if to == byScore && w.weights == nil {
		to = ""
	}
	column.Href, column.Sort = w.address(c, to)+"#page.criteres", "descending"
	if rises {
		column.Sort = "ascending"
	}
	return column
}

func (v *view) sorted(c *catalog.Category, w *wishes, ranking []candidate) []*catalog.Tool {
	column, fromEnd := strings.CutPrefix(w.sort, "-")
	order := snapshot.ScoreDesc
	switch {
	case column == "" && w.weights != nil:
		return toolsIn(ranking)
	case column == byName && fromEnd:
		order = snapshot.NameDesc
	case column == byName:
		order = snapshot.NameAsc
	case column == byScore && fromEnd:
		order = snapshot.ScoreAsc
	case column != "" && column != byScore:
		figure := sortFigure(c, column)
		return toolsIn(v.first(c.Slug, func(t *catalog.Tool) (float64, bool) {
			x, has := figure(t)
			if fromEnd {
				x = -x
			}
			return x, has
		}))
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

func toolsIn(list []candidate) []*catalog.Tool {
	return each(list, func(one candidate) *catalog.Tool { return one.tool })
}
