package site

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/french"
)

// A chart is a price over time, drawn as a line that steps where the price changed.
// It holds coordinates; the page says the same in words next to it.
type chart struct {
	Width, Height int
	Left          int    // start of the time axis
	Line          string // SVG path
	Area          string // SVG path of the area below the line
	Dots          []dot
	Grid          []gridLine
	Ticks         []gridLine
	Summary       string
}

// A dot marks a change.
type dot struct{ X, Y string }

// A gridLine is a labelled line of the grid, or a label on the time axis.
type gridLine struct {
	At    string
	Label string
}

// A chartSize is the size and the margins of a chart, in units of its view box.
type chartSize struct {
	width, height            int
	left, right, top, bottom float64
	labelled                 bool
}

var (
	largeChart = chartSize{width: 420, height: 190, left: 52, right: 10, top: 14, bottom: 26, labelled: true}
	smallChart = chartSize{width: 120, height: 28, left: 3, right: 3, top: 4, bottom: 4}
)

// A pricePoint is a price and the day since when it applies.
type pricePoint struct {
	day   time.Time
	euros float64
}

// priceChart draws the history of a price up to a day. It returns nil without a
// change. History starts at the last change of period, since 10 €/mois and 100 €/an
// share no axis.
func priceChart(t *catalog.Tool, until string, size chartSize) *chart {
	points, end, ok := pricePoints(t, until)
	if !ok {
		return nil
	}
	most := 0.0
	for _, p := range points {
		most = max(most, p.euros)
	}
	step := gridStep(most)
	top := math.Max(step*math.Ceil(most/step), step)
	var labels []string
	if size.labelled {
		for euro := 0.0; euro <= top+step/2; euro += step {
			labels = append(labels, french.Euros(euro))
			size.left = max(size.left, labelWidth(labels[len(labels)-1]))
		}
	}
	span := end.Sub(points[0].day).Hours()
	x := func(day time.Time) float64 {
		return size.left + day.Sub(points[0].day).Hours()/span*(float64(size.width)-size.left-size.right)
	}
	y := func(euros float64) float64 {
		return float64(size.height) - size.bottom - euros/top*(float64(size.height)-size.top-size.bottom)
	}

	c := &chart{Width: size.width, Height: size.height, Left: int(size.left), Summary: summary(t)}
	var line strings.Builder
	line.WriteString("M" + coordinate(x(points[0].day)) + " " + coordinate(y(points[0].euros)))
	for _, p := range points[1:] {
		line.WriteString("H" + coordinate(x(p.day)) + "V" + coordinate(y(p.euros)))
		c.Dots = append(c.Dots, dot{coordinate(x(p.day)), coordinate(y(p.euros))})
	}
	line.WriteString("H" + coordinate(x(end)))
	c.Line = line.String()
	c.Area = c.Line + "V" + coordinate(y(0)) + "H" + coordinate(x(points[0].day)) + "Z"
	if size.labelled {
		for i, label := range labels {
			c.Grid = append(c.Grid, gridLine{coordinate(y(float64(i) * step)), label})
		}
		c.Ticks = changeTicks(points[1:], x, float64(size.width)-size.right)
	}
	return c
}

// labelWidth estimates the width of a grid label, with the gap after it.
func labelWidth(label string) float64 {
	return math.Ceil(8 + 6.5*float64(utf8.RuneCountInString(label)))
}

// pricePoints returns the prices since the last change of period, oldest first. The
// first is the price before the first change, shortly before it.
func pricePoints(t *catalog.Tool, until string) (points []pricePoint, end time.Time, ok bool) {
	now, ok := parsePrice(t.Price)
	if !ok {
		return nil, end, false
	}
	before := now.euros
	for _, change := range t.PriceHistory {
		day, err := time.Parse(time.DateOnly, change.ChangedAt)
		old, okOld := parsePrice(change.OldPrice)
		next, okNext := parsePrice(change.NewPrice)
		if err != nil || !okOld || !okNext || next.period != now.period {
			break
		}
		points = append(points, pricePoint{day, next.euros})
		if before = old.euros; old.period != now.period {
			before = next.euros
			break
		}
	}
	if len(points) == 0 {
		return nil, end, false
	}
	slices.Reverse(points)
	first, last := points[0].day, points[len(points)-1].day
	end, err := time.Parse(time.DateOnly, until)
	if err != nil || end.Before(last) {
		end = last
	}
	margin := max(end.Sub(first)/8, 60*24*time.Hour)
	if least := last.Add(margin / 2); end.Before(least) {
		end = least
	}
	return slices.Insert(points, 0, pricePoint{first.Add(-margin), before}), end, true
}

// gridStep returns a round amount that divides the height into two to five parts.
func gridStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, factor := range []float64{0.25, 0.5, 1} {
		if most/(power*factor) <= 4.5 {
			return power * factor
		}
	}
	return 2.5 * power
}

// changeTicks labels the changes on the time axis, newest first. A label that would
// overlap the next one is left out.
func changeTicks(changes []pricePoint, x func(time.Time) float64, right float64) []gridLine {
	const width = 62 // of a label such as sept. 2026
	var ticks []gridLine
	next := right + width
	for _, p := range slices.Backward(changes) {
		at := min(x(p.day), right-width/2)
		if next-at < width {
			continue
		}
		ticks = append(ticks, gridLine{coordinate(at), french.ShortMonth(p.day)})
		next = at
	}
	return ticks
}

// summary describes a chart in words.
func summary(t *catalog.Tool) string {
	n := len(t.PriceHistory)
	oldest := t.PriceHistory[n-1]
	return "Prix de " + t.Name + "\u00a0: " + french.Price(oldest.OldPrice) + " jusqu’au " + french.Date(oldest.ChangedAt) + ", " +
		french.Price(t.Price) + " aujourd’hui, " + french.Plural(n, "changement", "changements") + "."
}

func coordinate(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
