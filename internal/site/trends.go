package site

import (
	"cmp"
	"math"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/market"
)

const trendsPath = "/tendances"

// trendsPage is what changed in twelve months.
type trendsPage struct {
	Empty    bool // nothing was published
	Trends   *market.Trends
	Bars     *chart.Changes // of the changes of prices by month; nil for too few
	Rises    []movedPrice
	Falls    []movedPrice
	Became   []movedPrice // free, or no longer so
	Medians  []medianRow
	Charts   []medianChart
	Few      bool // some categories have too little for a line
	New      []newTool
	MoreNew  int // than New
	Scores   []movedScore
	Gone     string // what became of the retired tools, in a sentence
	Retired  []retiredTool
	MoreGone int // than Retired
}

// A movedPrice is a change of a price.
type movedPrice struct {
	Slug, Name string
	Share      string // +50 %; "" from or to free
	Words      string
	Date       string
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

type newTool struct {
	Row  toolRow
	Date string
}

// A movedScore is a change of a score.
type movedScore struct {
	Slug, Name    string
	Before, After string
	Up            bool
	Note, Date    string
}

// minBars is how many changes of prices are worth a picture.
const minBars = 3

// maxCharts is how many categories have a line; the table has all.
const maxCharts = 8

func (s *Site) showTrends(r *request) (*response, error) {
	y := r.trends()
	data := trendsPage{
		Trends: y, Empty: r.updatedAt == "", Rises: each(y.Prices.Rises, newMovedPrice), Falls: each(y.Prices.Falls, newMovedPrice),
	}
	became := slices.Concat(y.Prices.Paid, y.Prices.Free)
	slices.SortStableFunc(became,
		func(a, b market.PriceMove) int { return cmp.Compare(b.Change.ChangedAt, a.Change.ChangedAt) })
	data.Became = each(became[:min(len(became), market.ListSize)], newMovedPrice)
	if y.Prices.Up+y.Prices.Down >= minBars {
		data.Bars = chart.OfMonths(y.Prices.Months)
	}
	data.addMedians(r.view, y.Medians)
	if !y.New.Unclear {
		data.New = each(y.New.Tools, func(n market.NewTool) newTool { return newTool{r.row(n.Tool), n.Day} })
		data.MoreNew = y.New.Total - len(data.New)
	}
	data.Scores = each(y.Scores.Largest, func(m market.ScoreMove) movedScore {
		return movedScore{
			m.Tool.Slug, m.Tool.Name, french.Figure(*m.Change.OldScore), french.Figure(*m.Change.NewScore),
			*m.Change.NewScore > *m.Change.OldScore, markdown.NoBreak(m.Change.Note), m.Change.ChangedAt,
		}
	})
	data.Gone = gone(y.Retired.Reasons)
	data.Retired = each(y.Retired.Tools, r.retiredTool)
	data.MoreGone = y.Retired.Total - len(data.Retired)
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

func newMovedPrice(m market.PriceMove) movedPrice {
	one := movedPrice{
		Slug: m.Tool.Slug, Name: m.Tool.Name, Words: priceWords(m.Tool, m.Change), Date: m.Change.ChangedAt,
	}
	if m.Share != 0 {
		one.Share = share(m.Share)
	}
	return one
}

// share formats a change as a share: +50 %, −7,5 %.
func share(x float64) string {
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
