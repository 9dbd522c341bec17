package market

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
)

// ListSize is how many entries the lists of Trends have at most.
const ListSize = 10

// What a median needs to be drawn over time: fewer prices or changes say nothing about a
// category.
const (
	MinMedianTools   = 5
	MinMedianChanges = 3
)

// Trends are what changed in the twelve months up to a day. They know only the active tools:
// the history of others is not public.
type Trends struct {
	Since, Until string // days; Since itself is not included
	Prices       Prices
	Medians      []Median // of all tools, then by slug of the category
	New          NewTools
	Scores       Scores
	Retired      Retirements
}

// Prices are the changes of prices.
type Prices struct {
	Changes    int
	Up         int // including those from and to free
	Down       int
	BecamePaid int
	BecameFree int
	SamePrice  int // only the model changed, or the form of the price
	OtherUnit  int // the two prices share no unit, or one is not public and the other not free
	Months     []PriceMonth
	// The largest, by their share of the old price. Changes from and to free are not among
	// them: they have no share, or the whole of it.
	Rises, Falls []PriceMove
	Paid, Free   []PriceMove // became so, newest first
}

// A PriceMonth counts the changes of a calendar month.
type PriceMonth struct {
	Month string // YYYY-MM
	Up    int
	Down  int
}

// A PriceMove is a change of a price.
type PriceMove struct {
	Tool   *catalog.Tool
	Change *catalog.PriceChange
	Share  float64 // of the old price: 0.5 is half as much again; 0 from free
}

// A Median is the median price per month of a category, on the first day, at the end of
// each month and on the last day. It is computed from the tools of today with the prices
// they had, if that of the first day is known: a line shows how prices changed, not which tools
// came and went. Free tools and prices that are not per month do not count.
type Median struct {
	Category string // "" for all
	Tools    int    // that count today
	Euros    float64
	Changes  int           // of prices per month, in the twelve months
	Points   []MedianPoint // nil if there is too little to draw
}

// A MedianPoint is a median on a day.
type MedianPoint struct {
	Day   string
	Tools int
	Euros float64
}

// NewTools are the tools that have no trace before the last twelve months: no test, no
// change of price or score. Records do not say when a tool was added.
type NewTools struct {
	Total int
	Tools []NewTool // newest first
	// Unclear says that most tools have no older trace: the catalogue is young, or keeps few
	// dates or none, and new ones cannot be told from others.
	Unclear bool
}

// More returns how many are not in Tools.
func (n *NewTools) More() int { return n.Total - len(n.Tools) }

// A NewTool is a tool with the oldest day that its record tells.
type NewTool struct {
	Tool *catalog.Tool
	Day  string
}

// Scores are the changes of scores.
type Scores struct {
	Changes int // from one score to another
	Up      int
	Down    int
	First   int         // from none to a score
	Largest []ScoreMove // by the size of the difference
}

// A ScoreMove is a change of a score.
type ScoreMove struct {
	Tool   *catalog.Tool
	Change *catalog.ScoreChange
}

// Up reports whether the score rose.
func (m ScoreMove) Up() bool { return *m.Change.NewScore > *m.Change.OldScore }

// Retirements are the tools that were retired.
type Retirements struct {
	Total   int
	Reasons map[catalog.Reason]int
	Tools   []*catalog.Retired // newest first
}

// More returns how many are not in Tools.
func (r *Retirements) More() int { return r.Total - len(r.Tools) }

// A trendsBuilder is the state of NewTrends.
type trendsBuilder struct {
	*Trends
	months  map[string]int // index by YYYY-MM
	days    []string       // that medians are computed for
	older   int            // tools with a trace before the twelve months
	medians map[string]*medianBuilder
}

// A medianBuilder collects the prices of a category.
type medianBuilder struct {
	changes int
	now     []float64   // of all tools
	prices  [][]float64 // by day, of those whose price is known on the first one
}

// NewTrends returns what changed in a catalogue, which must be sorted, in the twelve months
// up to a day.
func NewTrends(c *catalog.Catalog, day string) *Trends {
	until, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // the date of a version is one
	}
	since := until.AddDate(-1, 0, 0)
	all := &Trends{Since: catalog.Day(since), Until: day, Retired: Retirements{Reasons: map[catalog.Reason]int{}}}
	b := trendsBuilder{
		Trends: all, months: map[string]int{}, medians: map[string]*medianBuilder{}, days: []string{all.Since},
	}
	month := time.Date(since.Year(), since.Month(), 1, 0, 0, 0, 0, time.UTC)
	for first := month; !first.After(until); first = first.AddDate(0, 1, 0) {
		b.months[first.Format("2006-01")] = len(all.Prices.Months)
		all.Prices.Months = append(all.Prices.Months, PriceMonth{Month: first.Format("2006-01")})
		if last := first.AddDate(0, 1, -1); last.After(since) && last.Before(until) {
			b.days = append(b.days, catalog.Day(last))
		}
	}
	b.days = append(b.days, day)
	for i := range c.Tools {
		b.addPrices(c.Tools[i])
		b.addMedian(c.Tools[i])
		b.addNew(c.Tools[i])
		b.addScores(c.Tools[i])
	}
	for i := range c.Retired {
		b.addRetired(&c.Retired[i])
	}
	b.finish(len(c.Tools))
	return all
}

func (b *trendsBuilder) contains(day string) bool { return b.Since < day && day <= b.Until }

func (b *trendsBuilder) addPrices(t *catalog.Tool) {
	p := &b.Prices
	for i := range t.PriceHistory {
		change := &t.PriceHistory[i]
		if !b.contains(change.ChangedAt) || change.IsConversion() {
			continue
		}
		p.Changes++
		month := &p.Months[b.months[change.ChangedAt[:7]]]
		move := PriceMove{Tool: t, Change: change}
		before, after, ok := inOneUnit(change)
		switch {
		case !ok:
			p.OtherUnit++
		case before == after:
			p.SamePrice++
		case before == 0:
			p.BecamePaid++
			p.Paid = append(p.Paid, move)
		case after == 0:
			p.BecameFree++
			p.Free = append(p.Free, move)
		default:
			move.Share = after/before - 1
			if after > before {
				p.Rises = append(p.Rises, move)
			} else {
				p.Falls = append(p.Falls, move)
			}
		}
		if ok && after > before {
			p.Up++
			month.Up++
		}
		if ok && after < before {
			p.Down++
			month.Down++
		}
	}
}

// inOneUnit returns two prices as amounts of the same unit, and whether they have one: a
// price per year and one per month do, one per user and one for all do not. Nothing is
// nothing in any unit, and what is not public is more than that; it compares with no other price.
func inOneUnit(change *catalog.PriceChange) (before, after float64, ok bool) {
	old, now := change.OldPrice, change.NewPrice
	before, after = amount(change.OldPricing, old), amount(change.NewPricing, now)
	isKnown := !math.IsInf(before+after, 1)
	if isKnown && change.OldDisplay != "" { // its own currency tells more than conversions
		asked, asks, ok := change.Asked()
		if ok {
			return asked, asks, true
		}
	}
	return before, after, before == 0 || after == 0 || isKnown && unit(old) == unit(now)
}

// unit returns what a price is for; all times that can be told per month are one.
func unit(price string) string {
	if _, ok := catalog.Monthly("", price); ok {
		return catalog.Each(price) + "/mois"
	}
	_, period, _ := strings.Cut(price, " €/")
	return strings.ToLower(period)
}

func amount(pricing catalog.Pricing, price string) float64 {
	if !catalog.IsPublic(pricing, price) {
		return math.Inf(1)
	}
	if euros, ok := catalog.Monthly("", price); ok {
		return euros
	}
	number, _, _ := strings.Cut(price, " €/")
	euros, _ := catalog.Monthly("", number+" €/mois")
	return euros
}

func (b *trendsBuilder) addMedian(t *catalog.Tool) {
	of := [...]*medianBuilder{b.median(""), b.median(t.Category)}
	for i := range t.PriceHistory {
		change := &t.PriceHistory[i]
		before, wasMonthly := catalog.Monthly(change.OldPricing, change.OldPrice)
		after, isMonthly := catalog.Monthly(change.NewPricing, change.NewPrice)
		if b.contains(change.ChangedAt) && (wasMonthly || isMonthly) && before != after {
			of[0].changes++
			of[1].changes++
		}
	}
	if euros, ok := catalog.Monthly(t.Pricing, t.Price); ok && euros > 0 {
		of[0].now, of[1].now = append(of[0].now, euros), append(of[1].now, euros)
	}
	if !b.knewPrice(t) {
		return
	}
	for i, day := range b.days {
		if euros, ok := catalog.Monthly(t.Pricing, priceOn(t, day)); ok && euros > 0 {
			of[0].prices[i] = append(of[0].prices[i], euros)
			of[1].prices[i] = append(of[1].prices[i], euros)
		}
	}
}

// knewPrice reports whether the price that a tool had on the first day is known: its record is as old, or
// its history begins with an older price.
func (b *trendsBuilder) knewPrice(t *catalog.Tool) bool {
	isOld := func(day string) bool { return day != "" && day <= b.Since }
	return isOld(t.TestedAt) || isOld(t.PriceCheckedAt) || isOld(t.UpdatedAt) || isOld(t.AddedAt) ||
		len(t.PriceHistory) > 0 && t.AddedAt == ""
}

// priceOn returns the price that a tool had on a day, as its history tells.
func priceOn(t *catalog.Tool, day string) string {
	price := t.Price
	for i := range t.PriceHistory { // newest first
		if t.PriceHistory[i].ChangedAt <= day {
			break
		}
		price = t.PriceHistory[i].OldPrice
	}
	return price
}

func (b *trendsBuilder) median(category string) *medianBuilder {
	m := b.medians[category]
	if m == nil {
		m = &medianBuilder{prices: make([][]float64, len(b.days))}
		b.medians[category] = m
	}
	return m
}

func (b *trendsBuilder) addNew(t *catalog.Tool) {
	first := t.TestedAt
	older := func(day string) {
		if day != "" && (first == "" || day < first) {
			first = day
		}
	}
	if n := len(t.PriceHistory); n > 0 {
		older(t.PriceHistory[n-1].ChangedAt)
	}
	if n := len(t.ScoreHistory); n > 0 {
		older(t.ScoreHistory[n-1].ChangedAt)
	}
	switch {
	case b.contains(first):
		b.New.Tools = append(b.New.Tools, NewTool{t, first})
	case first != "" && first <= b.Since:
		b.older++
	}
}

func (b *trendsBuilder) addScores(t *catalog.Tool) {
	for i := range t.ScoreHistory {
		change := &t.ScoreHistory[i]
		before, after := change.OldScore, change.NewScore
		if !b.contains(change.ChangedAt) || after == nil {
			continue
		}
		switch {
		case before == nil:
			b.Scores.First++
			continue
		case *after > *before:
			b.Scores.Up++
		case *after < *before:
			b.Scores.Down++
		default:
			continue
		}
		b.Scores.Largest = append(b.Scores.Largest, ScoreMove{t, change})
	}
}

func (b *trendsBuilder) addRetired(t *catalog.Retired) {
	if !b.contains(t.RetiredAt) {
		return
	}
	b.Retired.Reasons[t.Reason]++
	b.Retired.Tools = append(b.Retired.Tools, t)
}

// finish sorts the lists, all of which are by slug so far, and cuts them.
func (b *trendsBuilder) finish(tools int) {
	p := &b.Prices
	share := func(sign float64) func(x, y PriceMove) int {
		return func(x, y PriceMove) int {
			return cmp.Or(cmp.Compare(sign*y.Share, sign*x.Share), cmp.Compare(y.Change.ChangedAt, x.Change.ChangedAt))
		}
	}
	newest := func(x, y PriceMove) int { return cmp.Compare(y.Change.ChangedAt, x.Change.ChangedAt) }
	p.Rises, p.Falls = first(p.Rises, share(1)), first(p.Falls, share(-1))
	p.Paid, p.Free = first(p.Paid, newest), first(p.Free, newest)
	b.New.Total = len(b.New.Tools)
	b.New.Unclear = 2*b.older < tools
	b.New.Tools = first(b.New.Tools, func(x, y NewTool) int { return cmp.Compare(y.Day, x.Day) })
	b.Scores.Changes = len(b.Scores.Largest)
	b.Scores.Largest = first(b.Scores.Largest, func(x, y ScoreMove) int {
		return cmp.Or(cmp.Compare(y.difference(), x.difference()), cmp.Compare(y.Change.ChangedAt, x.Change.ChangedAt))
	})
	b.Retired.Total = len(b.Retired.Tools)
	byDate := func(x, y *catalog.Retired) int { return cmp.Compare(y.RetiredAt, x.RetiredAt) }
	b.Retired.Tools = first(b.Retired.Tools, byDate)
	for category, m := range b.medians {
		b.Medians = append(b.Medians, m.finish(category, b.days))
	}
	slices.SortFunc(b.Medians, func(x, y Median) int { return cmp.Compare(x.Category, y.Category) })
}

// difference returns the size of the change in hundredths, so that equal ones are equal.
func (m ScoreMove) difference() float64 {
	return math.Round(100 * math.Abs(*m.Change.NewScore-*m.Change.OldScore))
}

func first[T any](list []T, order func(x, y T) int) []T {
	slices.SortStableFunc(list, order)
	return slices.Clip(list[:min(len(list), ListSize)])
}

func (m *medianBuilder) finish(category string, days []string) Median {
	of := Median{Category: category, Changes: m.changes, Tools: len(m.now), Euros: median(m.now)}
	enough := m.changes >= MinMedianChanges
	for i, prices := range m.prices {
		p := MedianPoint{Day: days[i], Tools: len(prices), Euros: median(prices)}
		enough = enough && p.Tools >= MinMedianTools
		of.Points = append(of.Points, p)
	}
	if !enough {
		of.Points = nil
	}
	return of
}

// median sorts prices and returns their median, 0 if there are none.
func median(prices []float64) float64 {
	slices.Sort(prices)
	middle := len(prices) / 2
	switch {
	case len(prices) == 0:
		return 0
	case len(prices)%2 == 0:
		return (prices[middle-1] + prices[middle]) / 2
	}
	return prices[middle]
}
