package site

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"palmares/internal/french"
	"palmares/internal/market"
)

// A plot is a map as a picture: scores against prices per month on a logarithmic axis,
// with the free tools in a lane of their own.
//
// Positions are in percent of a drawing without a view box, so that it fits any screen
// while texts keep their size. Labels are placed where they overlap nothing on the
// narrowest screen; on a wider one everything only moves apart. Labels that fit only on a
// wide screen are hidden on others.
type plot struct {
	Small    bool
	Summary  string
	Marks    []mark
	Steps    []plotLine // the frontier
	Rows     []plotLabel
	Columns  []plotLabel
	Lane     string     // width of the lane of free tools in percent; "" for none
	LaneName *plotLabel // nil for none
	Binned   bool       // some marks stand for several tools
	Tools    int        // on the map
}

// A mark is a tool, or several that are too close to each other to be shown one by one.
type mark struct {
	X, Y     string
	Shift    string // transformation that moves the mark beside others at the same place; "" for none
	Radius   string
	Href     string
	Name     string // shown on focus, and always with Place
	More     string // what Name leaves out, on a wide screen
	Label    string // for screen readers
	Frontier bool
	Place    labelPlace

	point  market.Point
	others int // that the mark stands for besides point
	x, y   float64
}

// A labelPlace says where the name of a mark is.
type labelPlace struct {
	Class  string // CSS classes
	DX, DY int
}

// A plotLine is a line from one point to another.
type plotLine struct{ X1, Y1, X2, Y2 string }

// A plotLabel is a labelled line of the grid.
type plotLabel struct {
	At, Text string
	Wide     bool // labelled on a wide screen only
}

// A plotSize is what a map may have of marks, and the smallest drawings that its labels
// must fit, in pixels: on a phone of 320 pixels and on a tablet.
type plotSize struct {
	small        bool
	marks        int
	narrow, wide rect
}

var (
	fullPlot  = plotSize{marks: 250, narrow: rect{right: 244, bottom: 384}, wide: rect{right: 650, bottom: 460}}
	smallPlot = plotSize{small: true, marks: 120, narrow: rect{right: 244, bottom: 256}, wide: rect{right: 650, bottom: 280}}
)

// newPlot draws a map, or returns nil if no tool is on it.
func newPlot(m *market.Map, size plotSize) *plot {
	if len(m.Points) == 0 {
		return nil
	}
	p := &plot{Small: size.small, Tools: len(m.Points)}
	a := newAxes(m.Points)
	p.Marks = a.marks(m.Points, size.marks)
	for i := range p.Marks {
		p.Marks[i].describe()
		p.Binned = p.Binned || p.Marks[i].others > 0
	}
	p.join()
	p.grid(a, size)
	p.name(size)
	p.Summary = summarize(m)
	return p
}

// summarize describes a map in words.
func summarize(m *market.Map) string {
	frontier := m.Frontier()
	s := "Note et prix par mois de " + french.Plural(len(m.Points), "outil", "outils") + ". Qu’aucun autre ne bat\u00a0: "
	for i, p := range frontier {
		if i > 0 {
			s += ", "
		}
		if i == 12 {
			return s + "et " + french.Count(len(frontier)-i) + " de plus."
		}
		s += p.Tool.Name + " (" + french.Figure(p.Score) + ", " + perMonth(p.Euros) + ")"
	}
	return s + "."
}

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
	return a
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

// marks returns the marks of points, the frontier last, so that it is on top. If there are
// too many points, those in one cell of a grid, which gets coarser until the marks are few
// enough, share a mark. Points of the frontier never do.
func (a *axes) marks(points []market.Point, most int) []mark {
	var rest, top []mark
	for _, p := range points {
		one := mark{point: p, x: a.x(p.Euros), y: a.y(p.Score), Frontier: p.Frontier}
		if p.Frontier {
			top = append(top, one)
		} else {
			rest = append(rest, one)
		}
	}
	if len(top) > most { // all at one price and score
		top[most-1].others += len(top) - most
		top = top[:most]
	}
	for cells := 48.0; len(rest)+len(top) > max(most, len(top)+1); cells /= 1.25 {
		rest = bin(rest, cells)
	}
	all := append(rest, top...)
	a.spread(all)
	return all
}

// bin joins marks in the same cell. The mark of a cell is in the middle of its tools and
// named after the best of them.
func bin(marks []mark, cells float64) []mark {
	type cell struct{ column, row int }
	at := map[cell]int{}
	var list []mark
	for _, m := range marks {
		c := cell{int(m.x * cells), int(m.y * cells)}
		i, ok := at[c]
		if !ok {
			at[c] = len(list)
			list = append(list, m)
			continue
		}
		b := &list[i]
		had, has := float64(1+b.others), float64(1+m.others)
		b.x, b.y = (b.x*had+m.x*has)/(had+has), (b.y*had+m.y*has)/(had+has)
		b.others += 1 + m.others
		if m.point.Score > b.point.Score || m.point.Score == b.point.Score && m.point.Euros < b.point.Euros {
			b.point = m.point
		}
	}
	return list
}

// spread moves marks at the same place beside each other: by shares of the width where the
// place means nothing, in the lane of free tools, and by a few pixels elsewhere.
func (a *axes) spread(marks []mark) {
	type place struct{ x, y int }
	at := map[place][]int{}
	for i := range marks {
		m := &marks[i]
		key := place{int(m.x * 500), int(math.Round(m.y * 200))}
		at[key] = append(at[key], i)
	}
	width := laneWidth
	if !a.paid {
		width = 1
	}
	for _, group := range at {
		n := float64(len(group))
		for k, i := range group {
			m := &marks[i]
			side := float64(k) - (n-1)/2
			if m.point.Euros == 0 {
				m.x += side * min(0.04, 0.8*width/n)
			} else if n > 1 {
				m.Shift = "translate(" + coordinate(side*min(8, 40/n)) + ")"
			}
		}
	}
}

// longestLabel is how many characters of a name are shown next to a mark.
const longestLabel = 22

// describe writes what a mark says.
func (m *mark) describe() {
	t := m.point.Tool
	m.X, m.Y, m.Href, m.Radius = percent(m.x), percent(m.y), "/outils/"+t.Slug, "5"
	figures := french.Figure(m.point.Score) + " sur 10, " + perMonth(m.point.Euros)
	m.Name, m.More, m.Label = shorten(t.Name, longestLabel), " · "+french.Figure(m.point.Score)+" · "+short(m.point.Euros), t.Name+", "+figures
	if m.others > 0 {
		m.Radius = coordinate(min(5+1.2*math.Sqrt(float64(m.others)), 14))
		m.More = " et " + french.Plural(m.others, "autre", "autres")
		m.Label = t.Name + ", " + figures + ", et " + french.Plural(m.others, "autre outil", "autres outils") + " tout près"
	}
	if m.Frontier {
		m.Radius = "6"
	}
	switch { // away from the nearer edge
	case m.x < 0.34:
		m.Place = labelPlace{"", 10, -8}
	case m.x > 0.66:
		m.Place = labelPlace{"end", -10, -8}
	default:
		m.Place = labelPlace{"mid", 0, -12}
	}
}

// join draws the frontier as stairs: for each price, the best score to be had. Marks at the
// same place are one step.
func (p *plot) join() {
	var last *mark
	for i := range p.Marks {
		m := &p.Marks[i]
		if !m.Frontier || last != nil && last.point.Euros == m.point.Euros {
			continue
		}
		if last != nil {
			p.Steps = append(p.Steps, plotLine{last.X, last.Y, m.X, last.Y}, plotLine{m.X, last.Y, m.X, m.Y})
		}
		last = m
	}
}

// grid labels the axes.
func (p *plot) grid(a axes, size plotSize) {
	by := 1.0
	if size.small && a.high-a.low > 4 {
		by = 2
	}
	for score := math.Ceil(a.low/by) * by; score <= a.high; score += by {
		p.Rows = append(p.Rows, plotLabel{At: percent(a.y(score)), Text: strconv.Itoa(int(score))})
	}
	var narrow, wide []span
	if a.free {
		at := a.x(0)
		p.LaneName = &plotLabel{At: percent(at), Text: "Gratuit"}
		if a.paid {
			p.Lane = percent(laneWidth)
		}
		narrow = append(narrow, around(at*size.narrow.right, "Gratuit"))
		wide = append(wide, around(at*size.wide.right, "Gratuit"))
	}
	if !a.paid {
		return
	}
	for _, euros := range priceTicks(a.cheap, a.dear) {
		x := a.x(euros)
		l := plotLabel{At: percent(x), Text: short(euros)}
		if !fits(&narrow, around(x*size.narrow.right, l.Text), size.narrow.right+12) {
			if !fits(&wide, around(x*size.wide.right, l.Text), size.wide.right+12) {
				continue
			}
			l.Wide = true
		} else {
			wide = append(wide, around(x*size.wide.right, l.Text))
		}
		p.Columns = append(p.Columns, l)
	}
}

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
	every := math.Ceil((dear - cheap) / 8) // powers; more than eight of them only for absurd prices
	if every > 1 {
		for power := math.Ceil(cheap); power <= dear; power += every {
			list = append(list, math.Pow(10, power))
		}
		return list
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
	half := textWidth(text)/2 + 4
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

// A rect is a rectangle, in pixels.
type rect struct{ left, top, right, bottom float64 }

func (r rect) overlaps(o rect) bool {
	return r.left < o.right && o.left < r.right && r.top < o.bottom && o.top < r.bottom
}

// labelPlaces are where the name of a mark may be, best first: tools of the frontier have
// nothing above them to their left. Only names of the frontier are as far away as the last.
var labelPlaces = []labelPlace{
	{"end", -8, -7},
	{"", 8, -8},
	{"mid", 0, -12},
	{"", 11, 4},
	{"end", -11, 4},
	{"end", -8, 18},
	{"mid", 0, 22},
	{"", 8, 18},
	{"end", -6, 26},
	{"mid", 0, 30},
	{"", 6, 26},
}

const nearPlaces = 8

// maxNamed is how many marks a map may have for all of them to be named where there is room.
const maxNamed = 140

// name shows the names of marks: those of the frontier on every screen where they fit the
// narrowest one, or else on wide ones; then those of others, where they are in nobody's way
// on a wide screen, the best scores first.
func (p *plot) name(size plotSize) {
	var frontier, rest []*mark
	for i := range p.Marks {
		if m := &p.Marks[i]; m.Frontier {
			frontier = append(frontier, m)
		} else if m.others == 0 {
			rest = append(rest, m)
		}
	}
	// Which order leaves most room depends on the stairs.
	places, cost := newLabels(p.Marks, size.narrow).placeAll(frontier)
	slices.Reverse(frontier)
	if others, less := newLabels(p.Marks, size.narrow).placeAll(frontier); less <= cost {
		places = others
	}
	wide := newLabels(p.Marks, size.wide)
	for m, place := range places {
		wide.taken = append(wide.taken, wide.box(m, place))
	}
	for _, m := range frontier {
		if place, ok := places[m]; ok {
			m.Place = place
			m.Place.Class += " named"
		} else if place, _, ok := wide.place(m, false); ok {
			m.Place = place
			m.Place.Class += " named-wide"
		}
	}
	if len(p.Marks) > maxNamed {
		return
	}
	slices.SortStableFunc(rest, func(a, b *mark) int { return cmp.Compare(b.point.Score, a.point.Score) })
	for _, m := range rest {
		if place, _, ok := wide.place(m, true); ok {
			m.Place = place
			m.Place.Class += " named-wide faint"
		}
	}
}

// placeAll finds places for the names of marks, in turn, and returns how much they cover.
func (l *labels) placeAll(marks []*mark) (places map[*mark]labelPlace, cost int) {
	places = map[*mark]labelPlace{}
	for _, m := range marks {
		place, covers, ok := l.place(m, false)
		if ok {
			places[m] = place
		}
		cost += covers
	}
	return places, cost
}

// labels are the labels of a drawing of one size while they are placed.
type labels struct {
	size  rect
	taken []rect
	steps []rect // the line of the frontier
	marks []rect // of all tools
}

func newLabels(marks []mark, size rect) *labels {
	l := &labels{size: size}
	var from *rect
	for i := range marks {
		x, y := marks[i].x*size.right, marks[i].y*size.bottom
		box := rect{x - 6, y - 6, x + 6, y + 6}
		l.marks = append(l.marks, box)
		if marks[i].Frontier {
			l.taken = append(l.taken, box)
			if from != nil {
				step := from.bottom - 6
				l.steps = append(l.steps, rect{from.right, step - 1, x, step + 1}, rect{x - 1, box.bottom, x + 1, step})
			}
			from = &box
		}
	}
	return l
}

// box returns the room of the name of a mark at a place.
func (l *labels) box(m *mark, place labelPlace) rect {
	x, y, width := m.x*l.size.right+float64(place.DX), m.y*l.size.bottom+float64(place.DY), textWidth(m.Name)
	switch place.Class {
	case "end":
		x -= width
	case "mid":
		x -= width / 2
	}
	return rect{x, y - 12, x + width, y + 4}
}

// place finds a place for the name of a mark: one with nothing below it, or, unless it must
// be so, one that at least leaves the frontier free, or other names and its marks. It
// returns how much the name covers, which is most if there is no place.
func (l *labels) place(m *mark, strict bool) (place labelPlace, covers int, ok bool) {
	own := rect{m.x*l.size.right - 6, m.y*l.size.bottom - 6, m.x*l.size.right + 6, m.y*l.size.bottom + 6}
	free := func(box rect, others []rect) bool {
		return !slices.ContainsFunc(others, func(o rect) bool { return o != own && box.overlaps(o) })
	}
	avoid, possible := [][][]rect{{l.taken, l.steps, l.marks}, {l.taken, l.steps}, {l.taken}}, labelPlaces
	if strict {
		avoid, possible = avoid[:1], possible[:nearPlaces]
	}
	for covers, avoid := range avoid {
		for _, place := range possible {
			box := l.box(m, place)
			inside := box.left >= -2 && box.right <= l.size.right+6 && box.top >= -4 && box.bottom <= l.size.bottom
			if inside && !slices.ContainsFunc(avoid, func(others []rect) bool { return !free(box, others) }) {
				l.taken = append(l.taken, box)
				return place, covers, true
			}
		}
	}
	return labelPlace{}, len(avoid), false
}

// textWidth estimates the width of a text of 12 pixels in a wide typeface.
func textWidth(s string) (width float64) {
	for _, r := range s {
		switch r {
		case 'i', 'j', 'l', 't', 'f', 'r', '.', ',', '\'', '’', '|', '!', ':', ';', ' ', '(', ')', '-', 'I', '\u202f', '\u00a0':
			width += 5.2
		case 'm', 'w', 'M', 'W', '%', '@', '…', 'œ', 'Œ', 'Q', 'O', 'G', 'N', 'D', 'H', 'U':
			width += 11.2
		default:
			width += 8
			if r >= 0x2e80 { // ideographs
				width += 5
			}
		}
	}
	return width
}

// shorten cuts a text that is too long for a label.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// short formats a price per month for an axis.
func short(euros float64) string {
	switch {
	case euros == 0:
		return "gratuit"
	case euros < 0.01:
		return "<" + french.Space + "0,01" + french.Space + "€"
	case euros >= 1e15:
		return strconv.FormatFloat(euros, 'g', 3, 64) + french.Space + "€"
	case euros >= 1e9:
		return french.Count(int(math.Round(euros/1e9))) + french.Space + "Md€"
	case euros >= 1e6:
		return french.Count(int(math.Round(euros/1e6))) + french.Space + "M€"
	}
	return french.Euros(euros)
}

// perMonth says what a tool costs per month.
func perMonth(euros float64) string {
	switch {
	case euros == 0:
		return "gratuit"
	case euros < 0.01 || euros >= 1e15:
		return short(euros) + " par mois"
	}
	return french.Euros(euros) + " par mois"
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1000)/10, 'f', -1, 64) + "%"
}
