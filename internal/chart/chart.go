// Package chart draws the figures of pages: the map of scores and prices, histories as
// lines, and bars. It computes positions and writes the words beside them; templates make
// SVG of both. Pages say the same in words or in a table next to a chart.
package chart

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// A Chart is a picture of values. Positions are in units of its view box.
type Chart struct {
	Width, Height int
	Left          int     // start of the horizontal axis
	Grid          []Label // of values
	Ticks         []Label // of the horizontal axis
	Line          string  // SVG path
	Area          string  // SVG path of the area below the line
	Dots          []Dot
	Breaks        []Bar // times for which no line is drawn
	Bars          []Bar
	Days          []Day  // of the bars, newest first
	Total         int    // of them
	Quota         string // position of the line of the quota; "" if it is outside the chart
	Summary       string
	Caption       string // why the line is interrupted; "" if it is not
}

// A Dot marks a value, which is written beside it when somebody points at it, or always if it is
// named.
type Dot struct {
	X, Y    string
	Text    string // the value
	Label   string // the value and its day, in words
	Anchor  string // end of the text at the dot: start or end
	IsNamed bool
	IsStart bool // of the line; nothing changed there

	x float64
}

// A Bar is a rectangle.
type Bar struct {
	X, Y, Width, Height string
}

// A Label is a labelled line of the grid, or a label on an axis.
type Label struct {
	At, Text string
	Last     bool // the text ends near the line
}

// A Size is the size and the margins of a chart, in units of its view box.
type Size struct {
	width, height            int
	left, right, top, bottom float64
	labelled                 bool
}

// Sizes of charts. Small is for a row of a table, without labels.
var (
	Large  = Size{width: 420, height: 190, left: 52, right: 10, top: 22, bottom: 26, labelled: true}
	Small  = Size{width: 120, height: 28, left: 3, right: 3, top: 4, bottom: 4}
	medium = Size{width: 420, height: 130, left: 30, right: 10, top: 22, bottom: 26, labelled: true}
)

// An axis is the scale of values, from 0 to most.
type axis struct {
	most, step float64
	label      func(float64) string // of the grid
	value      func(float64) string // beside a dot
}

// priceAxis returns an axis for amounts of up to most.
func priceAxis(most float64, label func(float64) string) axis {
	by := gridStep(most)
	return axis{max(by*math.Ceil(most/by), by), by, label, label}
}

// A frame is the part of a chart in which values are drawn.
type frame struct {
	Size
	axis axis
}

// newFrame makes the left margin wide enough for the labels of the axis.
func newFrame(size Size, a axis) *frame {
	f := &frame{size, a}
	for _, label := range f.labels() {
		f.left = max(f.left, math.Ceil(8+6.5*float64(utf8.RuneCountInString(label)))) // with a gap after it
	}
	return f
}

func (f *frame) labels() (list []string) {
	if !f.labelled {
		return nil
	}
	for v := 0.0; v <= f.axis.most+f.axis.step/2; v += f.axis.step {
		list = append(list, f.axis.label(v))
	}
	return list
}

// chart returns a chart that has a grid and no values.
func (f *frame) chart() *Chart {
	c := &Chart{Width: f.width, Height: f.height, Left: int(f.left)}
	for i, label := range f.labels() {
		c.Grid = append(c.Grid, Label{At: coordinate(f.y(float64(i) * f.axis.step)), Text: label})
	}
	return c
}

// x returns the position of a share of the horizontal axis.
func (f *frame) x(share float64) float64 {
	return f.left + share*(float64(f.width)-f.left-f.right)
}

func (f *frame) y(value float64) float64 {
	return float64(f.height) - f.bottom - value/f.axis.most*(float64(f.height)-f.top-f.bottom)
}

// dotWidth is how much wider a value beside a dot is than TextWidth: it is bold, and larger on a phone.
const dotWidth = 1.3

// name decides which values are written beside their dots: those of the ends, and of steps with room
// until the next.
func (c *Chart) name(f *frame) {
	next, last := float64(f.width), len(c.Dots)-1
	for i := last; i >= 0 && f.labelled; i-- {
		d := &c.Dots[i]
		from, to := d.x, d.x+4+dotWidth*TextWidth(d.Text)
		if to > float64(f.width) {
			d.Anchor, from, to = "end", d.x-(to-d.x), d.x
		}
		isClear := i == 0 || i == last || c.Dots[i-1].Text != d.Text && to <= c.Dots[i+1].x
		if isClear && to <= next {
			d.IsNamed, next = true, from
		}
	}
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

func coordinate(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1000)/10, 'f', -1, 64) + "%"
}
