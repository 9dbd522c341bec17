package chart

import (
	"math"
	"slices"
	"strconv"

	"palmares/internal/french"
	"palmares/internal/market"
)

// Shares of the width of a drawing with free and paid tools.
const (
	laneWidth = 0.16
	axisStart = 0.22
	axisEnd   = 0.97
)

// axes are the two scales of a plot.
type axes struct {
	low, high   float64 // scores at the bottom and at the top
	cheap, dear float64 // logarithms of the prices at both ends
	free, paid  bool    // there are such tools
}

func newAxes(points []market.Point) axes {
	a := axes{low: 10, cheap: math.Inf(1), dear: math.Inf(-1)}
	for _, p := range points {
		a.low, a.high = min(a.low, p.Score), max(a.high, p.Score)
		if p.Euros > 0 {
			a.paid = true
			a.cheap, a.dear = min(a.cheap, math.Log10(p.Euros)), max(a.dear, math.Log10(p.Euros))
		} else {
			a.free = true
		}
	}
	a.low, a.high = math.Floor(a.low), math.Ceil(a.high)
	for a.high-a.low < 3 { // a few scores must not look far apart
		if a.low > 0 {
			a.low--
		}
		if a.high < 10 {
			a.high++
		}
	}
	if room := 1 - (a.dear - a.cheap); a.paid && room > 0 { // nor a few prices
		a.cheap, a.dear = a.cheap-room/2, a.dear+room/2
	}
	if a.paid { // from one tick to another
		a.cheap, a.dear = -roundUp(-a.cheap), roundUp(a.dear)
	}
	return a
}

// roundUp returns the logarithm of the next number that is 1, 2 or 5 times a power of ten.
func roundUp(logarithm float64) float64 {
	whole := math.Floor(logarithm + 1e-9)
	for _, digit := range []float64{0, math.Log10(2), math.Log10(5)} {
		if logarithm <= whole+digit+1e-9 {
			return whole + digit
		}
	}
	return whole + 1
}

func (a *axes) y(score float64) float64 { return 0.96 - 0.92*(score-a.low)/(a.high-a.low) }

// x returns the place of a price, which is the middle of the lane for none.
func (a *axes) x(euros float64) float64 {
	if euros == 0 {
		if !a.paid {
			return 0.5
		}
		return laneWidth / 2
	}
	from := axisStart
	if !a.free {
		from = 1 - axisEnd
	}
	return from + (axisEnd-from)*(math.Log10(euros)-a.cheap)/(a.dear-a.cheap)
}

func (d *Drawing) grid(a axes, l *layout) {
	by := 1.0
	if l.height < 300 && a.high-a.low > 4 {
		by = 2
	}
	for score := math.Ceil(a.low/by) * by; score <= a.high; score += by {
		d.Rows = append(d.Rows, Label{At: percent(a.y(score)), Text: strconv.Itoa(int(score))})
	}
	width := l.width
	var taken []span
	if a.free {
		at := a.x(0)
		d.LaneName = &Label{At: percent(at), Text: "Gratuit"}
		if a.paid {
			d.Lane = percent(laneWidth)
		}
		taken = append(taken, around(at*width, "Gratuit"))
	}
	if !a.paid {
		return
	}
	// The end of the axis is always labelled, so that the dearest tool has a price beside it.
	last := math.Pow(10, a.dear)
	text, x := french.ShortEuros(last), a.x(last)
	right := x*width + lastLabel
	taken = append(taken, span{right - TextWidth(text) - 4, right + 4})
	d.Columns = append(d.Columns, Label{At: percent(x), Text: text, Last: true})
	for _, euros := range priceTicks(a.cheap, a.dear) {
		x := a.x(euros)
		if text := french.ShortEuros(euros); fits(&taken, around(x*width, text), width+lastLabel) {
			d.Columns = append(d.Columns, Label{At: percent(x), Text: text})
		}
	}
}

// lastLabel is how far the label at the end of the axis goes beyond it, in pixels.
const lastLabel = 12

// priceTicks returns round prices between two logarithms: the powers of ten first, then
// halves and fifths of them, if there are few.
func priceTicks(cheap, dear float64) (list []float64) {
	add := func(factor float64) {
		for power := math.Floor(cheap) - 1; power <= dear; power++ {
			tick := factor * math.Pow(10, power)
			if at := math.Log10(tick); at >= cheap-1e-9 && at <= dear+1e-9 {
				list = append(list, tick)
			}
		}
	}
	add(1)
	if dear-cheap < 4 {
		add(5)
		add(2)
	}
	return list
}

// A span is a part of a line, in pixels.
type span struct{ left, right float64 }

// around returns the span of a text that is centred on a place.
func around(at float64, text string) span {
	half := TextWidth(text)/2 + 4
	return span{at - half, at + half}
}

// fits adds a span to others if it overlaps none of them and ends before right.
func fits(others *[]span, s span, right float64) bool {
	if s.right > right || slices.ContainsFunc(*others, func(o span) bool { return s.left < o.right && o.left < s.right }) {
		return false
	}
	*others = append(*others, s)
	return true
}
