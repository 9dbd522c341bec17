package site

import (
	"cmp"
	"math"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/market"
)

const trendsPath = "/tendances"

// trendsPage is what changed in twelve months.
type trendsPage struct {
	Empty   bool // nothing was published
	Trends  *market.Trends
	Bars    *chart.Changes     // of the changes of prices by month; nil for too few
	Became  []market.PriceMove // free, or no longer so
	Medians []medianRow
	Charts  []medianChart
	Few     bool   // some categories have too little for a line
	Gone    string // what became of the retired tools, in a sentence
	Retired []retiredTool
}

// A medianRow is the median price of a category in a table.
type medianRow struct {
	Label    string
	Category string // slug; "" for all
	Tools    int
	Now      string // "" without prices
	Before   string // "" if there is too little to say
	Changes  int
}

// A medianChart is the median price of a category as a line.
type medianChart struct {
	Label string
	Chart *chart.Chart
}

// minBars is how many changes of prices are worth a picture.
const minBars = 3

// maxCharts is how many categories have a line; the table has all.
const maxCharts = 8

func (s *Site) showTrends(r *request) (*response, error) {
	y := r.trends()
	data := trendsPage{Trends: y, Empty: r.updatedAt == ""}
	became := slices.Concat(y.Prices.Paid, y.Prices.Free)
	slices.SortStableFunc(became,
		func(a, b market.PriceMove) int { return cmp.Compare(b.Change.ChangedAt, a.Change.ChangedAt) })
	data.Became = became[:min(len(became), market.ListSize)]
	if y.Prices.Up+y.Prices.Down >= minBars {
		data.Bars = chart.OfMonths(y.Prices.Months)
	}
	data.addMedians(r.view, y.Medians)
	data.Gone = gone(y.Retired.Reasons)
	data.Retired = each(y.Retired.Tools, r.retiredTool)
	p := s.page(r, "Tendances", "Ce qui a changé en douze mois\u00a0: prix en hausse et en baisse, "+
		"prix médian de chaque catégorie, nouveaux outils, notes revues, outils disparus.", trendsPath)
	p.MoreStyle = s.assets.paths["market.css"]
	return render(r, "trends", p, data), nil
}

// What became of a retired tool, and of several.
var fates = map[catalog.Reason][2]string{
	"mort":     {"est mort", "sont morts"},
	"acquis":   {"a été racheté", "ont été rachetés"},
	"deprecie": {"a été déclaré périmé", "ont été déclarés périmés"},
	"pivot":    {"a changé de métier", "ont changé de métier"},
	"absorbe":  {"est devenu une partie d’un autre", "sont devenus une partie d’un autre"},
}

// gone says what became of retired tools: Un outil est mort, 2 ont été rachetés.
func gone(reasons map[catalog.Reason]int) string {
	var parts []string
	for _, one := range catalog.Reasons {
		n := reasons[one]
		subject := french.Count(n)
		switch {
		case n == 0:
			continue
		case n == 1 && len(parts) == 0:
			subject = "Un outil"
		case n == 1:
			subject = "un autre"
		case len(parts) == 0:
			subject += " outils"
		}
		parts = append(parts, subject+" "+fates[one][min(n, 2)-1])
	}
	return byline(parts) + "."
}

// share formats a change as a share: +50 %, −7,5 %; "" from free.
func share(x float64) string {
	if x == 0 {
		return "" // from free
	}
	sign := "+"
	if x < 0 {
		sign = "−"
	}
	x = math.Abs(100 * x)
	if x >= 1e6 {
		return sign + "1" + french.Narrow + "000" + french.Narrow + "000" + french.Space + "% et plus"
	}
	if x < 100 && math.Round(x) == 100 { // not all of it
		return sign + french.Figure(math.Floor(10*x)/10) + french.Space + "%"
	}
	if x >= 10 || x == math.Trunc(x) {
		return sign + french.Count(int(math.Round(x))) + french.Space + "%"
	}
	return sign + french.Figure(math.Round(10*x)/10) + french.Space + "%"
}

// addMedians adds the rows of all categories, in the order of the publisher, and the lines of
// those whose prices moved most often.
func (p *trendsPage) addMedians(v *view, medians []market.Median) {
	if len(medians) == 0 {
		return
	}
	byCategory := map[string]*market.Median{}
	drawn := []*market.Median{}
	for i := range medians {
		byCategory[medians[i].Category] = &medians[i]
		if medians[i].Points != nil {
			drawn = append(drawn, &medians[i])
		} else {
			p.Few = true
		}
	}
	slices.SortStableFunc(drawn, func(a, b *market.Median) int { return cmp.Compare(b.Changes, a.Changes) })
	drawn = drawn[:min(len(drawn), 1+maxCharts)]
	add := func(m *market.Median, label string) {
		row := medianRow{Label: label, Category: m.Category, Tools: m.Tools, Changes: m.Changes}
		if m.Tools > 0 {
			row.Now = medianPrice(m.Euros)
		}
		if m.Points != nil {
			then, now := m.Points[0], m.Points[len(m.Points)-1]
			row.Before = medianPrice(then.Euros)
			if now.Tools < m.Tools {
				row.Before += " (" + french.Plural(then.Tools, "outil", "outils") + ", " + medianPrice(now.Euros) + " aujourd’hui)"
			}
		}
		p.Medians = append(p.Medians, row)
		if slices.Contains(drawn, m) {
			p.Charts = append(p.Charts, medianChart{label, chart.OfMedian(m, label)})
		}
	}
	add(&medians[0], "Tous les outils")
	for _, c := range v.categories {
		if m := byCategory[c.Slug]; m != nil {
			add(m, c.Label)
		}
	}
}

// medianPrice formats a median for a narrow table: without cents from 1 000 € on.
func medianPrice(euros float64) string {
	if euros >= 1000 {
		euros = math.Round(euros)
	}
	return french.ShortEuros(euros)
}
