package chart

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// A step is a value that applies from one day until the next step.
type step struct {
	since time.Time
	value float64
	drawn bool // false if the value does not fit on the axis, or is not known
}

// OfPrice draws the history of a price up to a day, as a line that steps where it changed.
// It returns nil if no change led to a price in the present unit. Prices in other units,
// such as 100 €/an among prices per month, share no axis with it, and some are not public: the
// line is interrupted for as long as they applied.
func OfPrice(t *catalog.Tool, until string, size Size) *Chart {
	_, unit, ok := catalog.Amount(t.Price)
	if !ok || len(t.PriceHistory) == 0 {
		return nil
	}
	var steps []step
	most, changes, broken, hidden := 0.0, 0, false, false
	add := func(day time.Time, pricing catalog.Pricing, price string) {
		euros, period, ok := catalog.Amount(price)
		isPublic := catalog.IsPublic(pricing, price)
		hidden = hidden || !isPublic
		broken = broken || isPublic && (!ok || period != unit)
		ok = ok && period == unit && isPublic
		if ok {
			most = max(most, euros)
		}
		steps = append(steps, step{day, euros, ok})
	}
	for _, change := range slices.Backward(t.PriceHistory) {
		day, err := time.Parse(time.DateOnly, change.ChangedAt)
		if err != nil {
			return nil
		}
		if len(steps) == 0 {
			add(day, change.OldPricing, change.OldPrice) // its start is set later
		}
		add(day, change.NewPricing, change.NewPrice)
		if steps[len(steps)-1].drawn {
			changes++
		}
	}
	if changes == 0 {
		return nil
	}
	c := draw(steps, until, newFrame(size, priceAxis(most, french.Euros)))
	c.Summary = summary(t)
	switch {
	case broken:
		c.Caption = "L’unité du prix a changé\u00a0: la courbe, interrompue, ne montre que les prix en €/" + unit + "."
	case hidden:
		c.Caption = "Le prix n’a pas toujours été public\u00a0: la courbe est interrompue."
	case t.IsConverted():
		c.Caption = "La courbe montre des montants convertis en euros."
	default:
		return c
	}
	c.Summary += " " + c.Caption
	return c
}

// summary describes the history of a price in words. Changes of the model or the conversion alone are none of the
// price.
func summary(t *catalog.Tool) string {
	n, first, since := 0, "", ""
	for i := range t.PriceHistory {
		change := &t.PriceHistory[i]
		old, next := PricesOf(t, change)
		if old != next && !change.IsConversion() {
			n, first, since = n+1, old, change.ChangedAt
		}
	}
	now := PriceOf(t, t.Pricing, t.Price)
	if t.IsConverted() {
		now = markdown.NoBreak(t.PriceDisplay)
	}
	if n == 0 {
		return "Prix de " + t.Name + "\u00a0: " + now + ", inchangé."
	}
	return "Prix de " + t.Name + "\u00a0: " + first + " jusqu’au " + french.Date(since) + ", " + now + " aujourd’hui, " +
		french.Plural(n, "changement", "changements") + "."
}

// OfScore draws the history of a score up to a day, or returns nil if the score never
// changed.
func OfScore(t *catalog.Tool, until string) *Chart {
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
	scores := axis{10, 5, func(x float64) string { return strconv.Itoa(int(x)) }, french.Figure}
	c := draw(steps, until, newFrame(medium, scores))
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
func draw(steps []step, until string, f *frame) *Chart {
	end := stretch(steps, until)
	start := steps[0].since
	span := end.Sub(start).Hours()
	x := func(day time.Time) float64 { return f.x(day.Sub(start).Hours() / span) }
	c := f.chart()
	c.trace(steps, end, x, f)
	c.name(f)
	if f.labelled {
		c.Ticks = changeTicks(steps[1:], x, f.x(1))
	}
	return c
}

// stretch moves the start of the first step before the first change, and returns the
// end of the time axis.
func stretch(steps []step, until string) time.Time {
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
func (c *Chart) trace(steps []step, end time.Time, x func(time.Time) float64, f *frame) {
	var line, area strings.Builder
	var piece strings.Builder // the part of the line since its last interruption
	from := ""
	bottom, top := f.y(0), f.y(f.axis.most)
	flush := func() {
		if piece.Len() > 0 {
			line.WriteString(piece.String())
			area.WriteString(piece.String() + "V" + coordinate(bottom) + "H" + from + "Z")
			piece.Reset()
		}
	}
	for i, s := range steps {
		next := end
		if i+1 < len(steps) {
			next = steps[i+1].since
		}
		left, right, at := x(s.since), x(next), coordinate(f.y(s.value))
		if !s.drawn {
			flush()
			c.Breaks = append(c.Breaks, Bar{
				X: coordinate(left), Y: coordinate(top), Width: coordinate(right - left), Height: coordinate(bottom - top),
			})
			continue
		}
		if piece.Len() == 0 {
			from = coordinate(left)
			piece.WriteString("M" + from + " " + at)
		} else {
			piece.WriteString("V" + at)
		}
		piece.WriteString("H" + coordinate(right))
		d := Dot{X: coordinate(left), Y: at, Text: f.axis.value(s.value), Anchor: "start", IsStart: i == 0, x: left}
		d.Label = d.Text + " depuis le " + french.Date(s.since.Format(time.DateOnly))
		if d.IsStart {
			d.Label = d.Text + " auparavant"
		}
		if f.labelled || !d.IsStart {
			c.Dots = append(c.Dots, d)
		}
	}
	flush()
	c.Line, c.Area = line.String(), area.String()
}

// monthWidth is the width of a label such as sept. 2026, as large as on a phone.
const monthWidth = 78

// changeTicks labels the changes on the time axis, newest first. A label that would
// overlap the next one is left out.
func changeTicks(changes []step, x func(time.Time) float64, right float64) []Label {
	var ticks []Label
	next := right + monthWidth
	for _, p := range slices.Backward(changes) {
		at := min(x(p.since), right-monthWidth/2)
		if next-at < monthWidth {
			continue
		}
		ticks = append(ticks, Label{At: coordinate(at), Text: french.ShortMonth(p.since)})
		next = at
	}
	return ticks
}
