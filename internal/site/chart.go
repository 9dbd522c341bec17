package site

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// A chart is a price over time, as a line that steps where the price changed.
// Everything in it is a coordinate; the words stand beside it in the page, for
// those who do not see it too.
type chart struct {
	Width, Height int
	Left          int    // where the time axis begins
	Line          string // path of the line
	Area          string // path of what lies under it
	Dots          []dot
	Grid          []gridLine
	Ticks         []gridLine
	Summary       string
}

// A dot marks a change.
type dot struct{ X, Y string }

// A gridLine is a line of the grid with its label, or a mark on the time axis.
type gridLine struct {
	At    string
	Label string
}

// A chartSize is the room a chart has, in the units of its view box.
type chartSize struct {
	width, height            int
	left, right, top, bottom float64
	labelled                 bool
}

var (
	largeChart = chartSize{width: 420, height: 190, left: 52, right: 10, top: 14, bottom: 26, labelled: true}
	smallChart = chartSize{width: 120, height: 28, left: 3, right: 3, top: 4, bottom: 4}
)

// A pricePoint is a price from a day on.
type pricePoint struct {
	day   time.Time
	euros float64
}

// priceChart draws the history of a price up to a day. There is no chart without
// a change, nor across a change of period: 10 €/mois and 100 €/an share no axis,
// so only what came after it is drawn.
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
			labels = append(labels, euros(euro))
			size.left = max(size.left, labelRoom(labels[len(labels)-1]))
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

// labelRoom is how wide a label beside the grid may be, with the gap after it.
func labelRoom(label string) float64 {
	return math.Ceil(8 + 6.5*float64(utf8.RuneCountInString(label)))
}

// pricePoints are the prices since the period was last changed, oldest first;
// the first is the price before the first change, from a little earlier on.
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
	end = maxTime(end, last.Add(margin/2))
	return slices.Insert(points, 0, pricePoint{first.Add(-margin), before}), end, true
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// gridStep is a round amount of which two to five make the whole height.
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

// changeTicks dates the changes on the time axis, the newest first; one that
// would run into the label after it goes without.
func changeTicks(changes []pricePoint, x func(time.Time) float64, right float64) []gridLine {
	const room = 62 // of a label such as sept. 2026
	var ticks []gridLine
	next := right + room
	for _, p := range slices.Backward(changes) {
		at := min(x(p.day), right-room/2)
		if next-at < room {
			continue
		}
		ticks = append(ticks, gridLine{coordinate(at), shortMonths[p.day.Month()-1] + space + strconv.Itoa(p.day.Year())})
		next = at
	}
	return ticks
}

// summary says what a chart shows.
func summary(t *catalog.Tool) string {
	n := len(t.PriceHistory)
	oldest := t.PriceHistory[n-1]
	return "Prix de " + t.Name + "\u00a0: " + price(oldest.OldPrice) + " jusqu’au " + date(oldest.ChangedAt) + ", " +
		price(t.Price) + " aujourd’hui, " + plural(n, "changement", "changements") + "."
}

func coordinate(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
