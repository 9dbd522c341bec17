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

// A chart is a figure over time, drawn as a line that steps where it changed. It
// holds coordinates; the page says the same in words next to it.
type chart struct {
	Width, Height int
	Left          int    // start of the time axis
	Line          string // SVG path
	Area          string // SVG path of the area below the line
	Dots          []dot
	Breaks        []chartBreak
	Grid          []gridLine
	Ticks         []gridLine
	Summary       string
	Caption       string // why the line is interrupted; "" if it is not
}

// A dot marks a change.
type dot struct{ X, Y string }

// A chartBreak is a time for which no line is drawn.
type chartBreak struct{ X, Y, Width, Height string }

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
	largeChart  = chartSize{width: 420, height: 190, left: 52, right: 10, top: 14, bottom: 26, labelled: true}
	mediumChart = chartSize{width: 420, height: 130, left: 30, right: 10, top: 10, bottom: 26, labelled: true}
	smallChart  = chartSize{width: 120, height: 28, left: 3, right: 3, top: 4, bottom: 4}
)

// A step is a value that applies from one day until the next step.
type step struct {
	since time.Time
	value float64
	drawn bool // false if the value does not fit on the axis, or is not known
}

// A scale is the axis of values.
type scale struct {
	top, step float64
	label     func(float64) string
}

// priceChart draws the history of a price up to a day. It returns nil if no change
// led to a price in the present unit. Prices in other units, such as 100 €/an among
// prices per month, share no axis with it: the line is interrupted for as long as
// they applied.
func priceChart(t *catalog.Tool, until string, size chartSize) *chart {
	now, ok := parsePrice(t.Price)
	if !ok || len(t.PriceHistory) == 0 {
		return nil
	}
	var steps []step
	most, changes, broken := 0.0, 0, false
	add := func(day time.Time, price string) {
		p, ok := parsePrice(price)
		ok = ok && p.period == now.period
		broken = broken || !ok
		if ok {
			most = max(most, p.euros)
		}
		steps = append(steps, step{day, p.euros, ok})
	}
	for _, change := range slices.Backward(t.PriceHistory) {
		day, err := time.Parse(time.DateOnly, change.ChangedAt)
		if err != nil {
			return nil
		}
		if len(steps) == 0 {
			add(day, change.OldPrice) // its start is set below
		}
		add(day, change.NewPrice)
		if steps[len(steps)-1].drawn {
			changes++
		}
	}
	if changes == 0 {
		return nil
	}
	by := gridStep(most)
	c := draw(steps, until, size, scale{math.Max(by*math.Ceil(most/by), by), by, french.Euros})
	c.Summary = summary(t)
	if broken {
		c.Caption = "L’unité du prix a changé\u00a0: la courbe, interrompue, ne montre que les prix en €/" + now.period + "."
		c.Summary += " " + c.Caption
	}
	return c
}

// scoreChart draws the history of a score up to a day, or returns nil if the score
// never changed.
func scoreChart(t *catalog.Tool, until string) *chart {
	var steps []step
	add := func(day time.Time, score *float64) {
		s := step{since: day}
		if score != nil {
			s.value, s.drawn = *score, true
		}
		steps = append(steps, s)
	}
	for _, change := range slices.Backward(t.ScoreHistory) {
		if !change.ChangesScore() {
			continue
		}
		day, err := time.Parse(time.DateOnly, change.ChangedAt)
		if err != nil {
			return nil
		}
		if len(steps) == 0 {
			add(day, change.OldScore)
		}
		add(day, change.NewScore)
	}
	if len(steps) == 0 {
		return nil
	}
	c := draw(steps, until, mediumChart, scale{10, 5, func(x float64) string { return strconv.Itoa(int(x)) }})
	last := steps[len(steps)-1]
	c.Summary = "Note de " + t.Name + "\u00a0: " + french.Plural(len(steps)-1, "changement", "changements")
	if last.drawn {
		c.Summary += ", " + french.Figure(last.value) + " sur 10 depuis le " + french.Date(last.since.Format(time.DateOnly))
	}
	c.Summary += "."
	return c
}

// draw draws steps, oldest first. The first is what applied before the first change,
// and starts shortly before it.
func draw(steps []step, until string, size chartSize, axis scale) *chart {
	end := spread(steps, until)
	var labels []string
	if size.labelled {
		for v := 0.0; v <= axis.top+axis.step/2; v += axis.step {
			labels = append(labels, axis.label(v))
			size.left = max(size.left, labelWidth(labels[len(labels)-1]))
		}
	}
	start := steps[0].since
	span := end.Sub(start).Hours()
	x := func(day time.Time) float64 {
		return size.left + day.Sub(start).Hours()/span*(float64(size.width)-size.left-size.right)
	}
	y := func(value float64) float64 {
		return float64(size.height) - size.bottom - value/axis.top*(float64(size.height)-size.top-size.bottom)
	}
	c := &chart{Width: size.width, Height: size.height, Left: int(size.left)}
	c.trace(steps, end, x, y, axis.top)
	if size.labelled {
		for i, label := range labels {
			c.Grid = append(c.Grid, gridLine{coordinate(y(float64(i) * axis.step)), label})
		}
		c.Ticks = changeTicks(steps[1:], x, float64(size.width)-size.right)
	}
	return c
}

// spread moves the start of the first step before the first change, and returns the
// end of the time axis.
func spread(steps []step, until string) time.Time {
	first, last := steps[1].since, steps[len(steps)-1].since
	end, err := time.Parse(time.DateOnly, until)
	if err != nil || end.Before(last) {
		end = last
	}
	margin := max(end.Sub(first)/8, 60*24*time.Hour)
	if least := last.Add(margin / 2); end.Before(least) {
		end = least
	}
	steps[0].since = first.Add(-margin)
	return end
}

// trace draws the line, the area below it, its dots and its interruptions.
func (c *chart) trace(steps []step, end time.Time, x func(time.Time) float64, y func(float64) float64, top float64) {
	var line, area strings.Builder
	var piece strings.Builder // the part of the line since its last interruption
	from := ""
	flush := func() {
		if piece.Len() > 0 {
			line.WriteString(piece.String())
			area.WriteString(piece.String() + "V" + coordinate(y(0)) + "H" + from + "Z")
			piece.Reset()
		}
	}
	for i, s := range steps {
		next := end
		if i+1 < len(steps) {
			next = steps[i+1].since
		}
		if !s.drawn {
			flush()
			c.addBreak(x(s.since), x(next), y(top), y(0))
			continue
		}
		if piece.Len() == 0 {
			from = coordinate(x(s.since))
			piece.WriteString("M" + from + " " + coordinate(y(s.value)))
		} else {
			piece.WriteString("V" + coordinate(y(s.value)))
		}
		piece.WriteString("H" + coordinate(x(next)))
		if i > 0 {
			c.Dots = append(c.Dots, dot{coordinate(x(s.since)), coordinate(y(s.value))})
		}
	}
	flush()
	c.Line, c.Area = line.String(), area.String()
}

func (c *chart) addBreak(left, right, top, bottom float64) {
	c.Breaks = append(c.Breaks, chartBreak{coordinate(left), coordinate(top), coordinate(right - left), coordinate(bottom - top)})
}

// labelWidth estimates the width of a grid label, with the gap after it.
func labelWidth(label string) float64 {
	return math.Ceil(8 + 6.5*float64(utf8.RuneCountInString(label)))
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
func changeTicks(changes []step, x func(time.Time) float64, right float64) []gridLine {
	const width = 62 // of a label such as sept. 2026
	var ticks []gridLine
	next := right + width
	for _, p := range slices.Backward(changes) {
		at := min(x(p.since), right-width/2)
		if next-at < width {
			continue
		}
		ticks = append(ticks, gridLine{coordinate(at), french.ShortMonth(p.since)})
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
