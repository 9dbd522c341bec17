package site

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/market"
)

// A plot is a map as a picture: scores against prices per month on a logarithmic axis,
// with the free tools in a lane of their own. It is drawn twice, for narrow and for wide
// screens: marks that are apart on one are a blot on the other.
type plot struct {
	Small    bool
	Summary  string
	Drawings []plotDrawing // the wide one last
	Joined   bool          // a line joins the frontier
	Ties     bool          // tools of the frontier share a mark, and it is the only one
	Tools    int           // on the map
	Wider    bool          // marks stand for several tools on a wide screen, and so on a narrow one
	Narrower bool          // they do only on a narrow screen
}

// A plotDrawing is a plot for a range of screens. Positions are in percent of a drawing without
// a view box, so that it fits its screens while texts keep their size. The name of a mark is
// shown where, on all of them, it touches nothing and no other mark is nearer to it.
type plotDrawing struct {
	Class    string
	Marks    []mark
	Steps    []plotLine // the frontier
	Rows     []plotLabel
	Columns  []plotLabel
	Lane     string     // width of the lane of free tools in percent; "" for none
	LaneName *plotLabel // nil for none
}

// A mark is a tool, or several that are too close to each other to be shown one by one.
type mark struct {
	X, Y     string
	Shift    string // transformation that moves the mark beside others at the same place; "" for none
	Radius   string
	Href     string
	Name     string   // shown on focus, and always if it is named
	Lines    []string // shown below Name on focus
	Label    string   // for screen readers
	Frontier bool
	Place    labelPlace

	point  market.Point
	others int  // that the mark stands for besides point
	near   bool // some of others are elsewhere, but close
	named  bool
	x, y   float64
	shift  float64 // pixels
	radius float64 // pixels
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
	Last     bool // the text ends near the line
	Wide     bool // labelled on a wide screen only
}

// A layout is what the drawings for a range of screens may have of marks, and the pixels
// that they measure at least and at most.
type layout struct {
	class         string
	marks         int
	cell          float64 // pixels of the narrowest drawing that a mark needs for itself; 0 for no limit
	least, most   size
	namesFrontier bool // and no other marks
}

type size struct{ width, height float64 }

// From a phone of 305 pixels to less than 48rem, and from there on.
var (
	fullPlot = []layout{
		{"plot-narrow", 250, 22, size{236, 400}, size{690, 420}, true},
		{"plot-wide", 250, 0, size{640, 500}, size{1090, 520}, false},
	}
	smallPlot = []layout{
		{"plot-narrow", 120, 22, size{236, 265}, size{690, 280}, true},
		{"plot-wide", 120, 0, size{640, 290}, size{1090, 300}, false},
	}
)

// newPlot draws a map, or returns nil if no tool is on it.
func newPlot(m *market.Map, layouts []layout) *plot {
	if len(m.Points) == 0 {
		return nil
	}
	p := &plot{Tools: len(m.Points), Summary: summarize(m)}
	a := newAxes(m.Points)
	for i := range layouts {
		d := newDrawing(a, m.Points, &layouts[i])
		p.Joined = len(d.Steps) > 0
		p.Ties = len(m.Points) > 1 && m.Points[0].Frontier && m.Points[1].Frontier && !p.Joined
		p.Narrower, p.Wider = p.Narrower || p.Wider, false
		for k := range d.Marks {
			p.Wider = p.Wider || d.Marks[k].near
		}
		p.Drawings = append(p.Drawings, d)
	}
	p.Narrower = p.Narrower && !p.Wider
	return p
}

// marks returns the marks of the wide drawing.
func (p *plot) marks() []mark { return p.Drawings[len(p.Drawings)-1].Marks }

// unnamed returns the tools of the frontier that the picture does not name on every screen.
func (p *plot) unnamed() (list []market.Point) {
	named := map[string]int{}
	for i := range p.Drawings {
		for _, m := range p.Drawings[i].Marks {
			if m.Frontier && m.named {
				named[m.point.Tool.Slug]++
			}
		}
	}
	for _, m := range p.marks() {
		if m.Frontier && named[m.point.Tool.Slug] < len(p.Drawings) {
			list = append(list, m.point)
		}
	}
	return list
}

func newDrawing(a axes, points []market.Point, l *layout) plotDrawing {
	d := plotDrawing{Class: l.class, Marks: a.marks(points, l)}
	for i := range d.Marks {
		d.Marks[i].describe()
	}
	d.join()
	d.grid(a, l)
	d.name(l)
	return d
}

// summarize describes a map in words.
func summarize(m *market.Map) string {
	frontier := m.Frontier()
	s := "Note et prix par mois d’un outil. Qu’aucun autre ne bat\u00a0: "
	if n := len(m.Points); n > 1 {
		s = "Note et prix par mois de " + french.Plural(n, "outil", "outils") + ". Qu’aucun autre ne bat\u00a0: "
	}
	for i, p := range frontier {
		if i > 0 {
			s += ", "
		}
		if i == 12 {
			return s + "et " + french.Count(len(frontier)-i) + " de plus."
		}
		s += p.Tool.Name + " (" + french.Figure(p.Score) + ", " + perMonth(p.Tool.Price) + ")"
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

// marks returns the marks of points, the frontier last, so that it is on top. Points at the
// same place share a mark; so do others in one cell of a grid, if the layout has little room
// or the marks are too many. Points of the frontier share none with others.
func (a *axes) marks(points []market.Point, l *layout) []mark {
	var rest, top []mark
	for i, p := range points { // equal ones follow each other
		list := &rest
		if p.Frontier {
			list = &top
		}
		if i > 0 && points[i-1].Euros == p.Euros && points[i-1].Score == p.Score {
			(*list)[len(*list)-1].others++
			continue
		}
		*list = append(*list, mark{point: p, x: a.x(p.Euros), y: a.y(p.Score), Frontier: p.Frontier})
	}
	if len(top) > l.marks {
		last := &top[l.marks-1]
		for _, m := range top[l.marks:] {
			last.others += 1 + m.others
		}
		last.near, top = true, top[:l.marks]
	}
	if l.cell > 0 {
		rest = bin(rest, l.least.width/l.cell, l.least.height/l.cell)
	}
	for cells := 48.0; len(rest)+len(top) > max(l.marks, len(top)+1); cells /= 1.25 {
		rest = bin(rest, cells, cells)
	}
	all := append(rest, top...)
	a.spread(all)
	return all
}

// bin joins marks in the same cell. The mark of a cell is in the middle of its tools and
// named after the best of them.
func bin(marks []mark, columns, rows float64) []mark {
	type cell struct{ column, row int }
	at := map[cell]int{}
	var list []mark
	for _, m := range marks {
		c := cell{int(m.x * columns), int(m.y * rows)}
		i, ok := at[c]
		if !ok {
			at[c] = len(list)
			list = append(list, m)
			continue
		}
		b := &list[i]
		had, has := float64(1+b.others), float64(1+m.others)
		b.x, b.y = (b.x*had+m.x*has)/(had+has), (b.y*had+m.y*has)/(had+has)
		b.others, b.near = b.others+1+m.others, true
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
				m.shift = math.Round(side * min(8, 40/n))
				m.Shift = "translate(" + coordinate(m.shift) + ")"
			}
		}
	}
}

// longestLabel is how many characters of a name are shown next to a mark.
const longestLabel = 22

// describe writes what a mark says.
func (m *mark) describe() {
	t := m.point.Tool
	m.X, m.Y, m.Href, m.radius = percent(m.x), percent(m.y), "/outils/"+t.Slug, 5
	figures := french.Figure(m.point.Score) + " sur 10, " + perMonth(t.Price)
	m.Name, m.Label = shorten(t.Name, longestLabel), t.Name+", "+figures
	m.Lines = []string{french.Figure(m.point.Score) + " · " + short(m.point.Euros)}
	if each := eachOf(t.Price); each != "" {
		m.Lines[0] += "/" + shorten(each, 12)
	}
	if m.Frontier {
		m.radius = 6
	}
	if m.others > 0 {
		m.radius = math.Round(min(m.radius+1.2*math.Sqrt(float64(m.others)), 14))
		m.Lines = append(m.Lines, "et "+french.Plural(m.others, "autre", "autres"))
		if others := french.Plural(m.others, "autre outil", "autres outils"); m.near {
			m.Label += ", et " + others + " tout près"
		} else {
			m.Label += ", à égalité avec " + others
		}
	}
	m.Radius = coordinate(m.radius)
	switch { // away from the nearer edge
	case m.x < 0.34:
		m.Place = m.at(labelPlace{"", 10, -8})
	case m.x > 0.66:
		m.Place = m.at(labelPlace{"end", -10, -8})
	default:
		m.Place = m.at(labelPlace{"mid", 0, -12})
	}
}

// at returns a place beside a small mark as one beside this mark.
func (m *mark) at(p labelPlace) labelPlace {
	further := int(m.radius) - 6
	switch {
	case further <= 0:
	case p.DX > 0:
		p.DX += further
	case p.DX < 0:
		p.DX -= further
	case p.DY > 0:
		p.DY += further
	default:
		p.DY -= further
	}
	return p
}

// show shows the name of a mark at a place.
func (m *mark) show(p labelPlace, classes string) {
	m.Place, m.named = p, true
	m.Place.Class = strings.TrimSpace(p.Class + " named" + classes)
}

// Up returns the class of a name that must make room for the lines below it.
func (m mark) Up() string {
	if strings.HasPrefix(m.Place.Class, "mid") && m.Place.DY < 0 {
		return " up-" + strconv.Itoa(len(m.Lines))
	}
	return ""
}

// join draws the frontier as steps: the best score at each price.
func (d *plotDrawing) join() {
	var last *mark
	for i := range d.Marks {
		m := &d.Marks[i]
		if !m.Frontier {
			continue
		}
		if last != nil {
			d.Steps = append(d.Steps, plotLine{last.X, last.Y, m.X, last.Y}, plotLine{m.X, last.Y, m.X, m.Y})
		}
		last = m
	}
}

// grid labels the axes.
func (d *plotDrawing) grid(a axes, l *layout) {
	by := 1.0
	if l.least.height < 300 && a.high-a.low > 4 {
		by = 2
	}
	for score := math.Ceil(a.low/by) * by; score <= a.high; score += by {
		d.Rows = append(d.Rows, plotLabel{At: percent(a.y(score)), Text: strconv.Itoa(int(score))})
	}
	width := l.least.width
	var taken []span
	if a.free {
		at := a.x(0)
		d.LaneName = &plotLabel{At: percent(at), Text: "Gratuit"}
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
	text, x := short(last), a.x(last)
	right := x*width + lastLabel
	taken = append(taken, span{right - textWidth(text) - 4, right + 4})
	d.Columns = append(d.Columns, plotLabel{At: percent(x), Text: text, Last: true})
	for _, euros := range priceTicks(a.cheap, a.dear) {
		x := a.x(euros)
		if text := short(euros); fits(&taken, around(x*width, text), width+lastLabel) {
			d.Columns = append(d.Columns, plotLabel{At: percent(x), Text: text})
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

// gap returns how far two rectangles are from each other, 0 if they touch.
func (r rect) gap(o rect) float64 {
	return math.Hypot(max(0, r.left-o.right, o.left-r.right), max(0, r.top-o.bottom, o.top-r.bottom))
}

// An area is a part of a drawing: a rectangle in shares of its size, and what is added to
// it in pixels.
type area struct{ share, pixels rect }

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

// What names keep free around them, in pixels, and how much further than their own mark
// others are.
const (
	labelGap = 3
	markGap  = 2
)

// name shows the names of marks where that is possible: those of the frontier, then, on a
// wide screen, those of others, the best scores first.
func (d *plotDrawing) name(l *layout) {
	var frontier, rest []*mark
	for i := range d.Marks {
		if m := &d.Marks[i]; m.Frontier {
			frontier = append(frontier, m)
		} else if m.others == 0 {
			rest = append(rest, m)
		}
	}
	// Which order leaves most room depends on the stairs.
	placed, names := d.placeAll(l, frontier)
	slices.Reverse(frontier)
	if others, more := d.placeAll(l, frontier); len(more) >= len(names) {
		placed, names = others, more
	}
	for m, place := range names {
		m.show(place, "")
	}
	if l.namesFrontier || len(d.Marks) > maxNamed {
		return
	}
	slices.SortStableFunc(rest, func(a, b *mark) int { return cmp.Compare(b.point.Score, a.point.Score) })
	for _, m := range rest {
		if place, ok := placed.place(m, labelPlaces[:nearPlaces]); ok {
			m.show(place, " faint")
		}
	}
}

// placeAll finds places for the names of marks, in turn.
func (d *plotDrawing) placeAll(l *layout, marks []*mark) (*labels, map[*mark]labelPlace) {
	placed := newLabels(d.Marks, l)
	names := map[*mark]labelPlace{}
	for _, m := range marks {
		if place, ok := placed.place(m, labelPlaces); ok {
			names[m] = place
		}
	}
	return placed, names
}

// labels are the names of a drawing while they are placed.
type labels struct {
	*layout
	marks []mark
	taken []area // by names and by the line of the frontier
}

func newLabels(marks []mark, of *layout) *labels {
	l := &labels{layout: of, marks: marks}
	var from *mark
	for i := range marks {
		if m := &marks[i]; m.Frontier {
			if from != nil {
				line := rect{-1, -1, 1, 1}
				l.taken = append(l.taken, area{rect{from.x, from.y, m.x, from.y}, line}, area{rect{m.x, m.y, m.x, from.y}, line})
			}
			from = m
		}
	}
	return l
}

// box returns the room of the name of a mark at a place, from the middle of its place.
func (m *mark) box(place labelPlace) rect {
	x, y, width := float64(place.DX)+m.shift, float64(place.DY), textWidth(m.Name)
	switch place.Class {
	case "end":
		x -= width
	case "mid":
		x -= width / 2
	}
	return rect{x, y - 12, x + width, y + 4}
}

// place finds a place for the name of a mark where it touches nothing and no other mark is
// as near.
func (l *labels) place(m *mark, possible []labelPlace) (labelPlace, bool) {
	for _, place := range possible {
		place = m.at(place)
		box := m.box(place)
		if l.isInside(m, box) && l.isFree(m, box) {
			l.taken = append(l.taken, area{rect{m.x, m.y, m.x, m.y}, box})
			return place, true
		}
	}
	return labelPlace{}, false
}

func (l *labels) isInside(m *mark, box rect) bool {
	x, y := m.x*l.least.width, m.y*l.least.height
	return x+box.left >= -2 && x+box.right <= l.least.width+6 && y+box.top >= -4 && y+box.bottom <= l.least.height
}

func (l *labels) isFree(m *mark, box rect) bool {
	for i := range l.taken {
		if box.gap(l.sweep(m, &l.taken[i])) < labelGap {
			return false
		}
	}
	own := box.gap(rect{m.shift, 0, m.shift, 0}) - m.radius
	for i := range l.marks {
		o := &l.marks[i]
		if o.point.Tool == m.point.Tool {
			continue
		}
		at := area{rect{o.x, o.y, o.x, o.y}, rect{o.shift, 0, o.shift, 0}}
		if box.gap(l.sweep(m, &at))-o.radius < max(own, 0)+markGap {
			return false
		}
	}
	return true
}

// sweep returns where an area may be on the screens of the layout, from the middle of a mark.
func (l *layout) sweep(m *mark, a *area) rect {
	low := func(share, least, most float64) float64 { return min(share*least, share*most) }
	high := func(share, least, most float64) float64 { return max(share*least, share*most) }
	return rect{
		low(a.share.left-m.x, l.least.width, l.most.width) + a.pixels.left,
		low(a.share.top-m.y, l.least.height, l.most.height) + a.pixels.top,
		high(a.share.right-m.x, l.least.width, l.most.width) + a.pixels.right,
		high(a.share.bottom-m.y, l.least.height, l.most.height) + a.pixels.bottom,
	}
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

// perMonth says what a price amounts to per month, which it must have: 29 € par mois et par
// utilisateur.
func perMonth(price string) string {
	euros, _ := catalog.Monthly(price)
	if euros == 0 {
		return "gratuit"
	}
	text := french.Euros(euros)
	if euros < 0.01 || euros >= 1e15 {
		text = short(euros)
	}
	text += " par mois"
	if each := eachOf(price); each != "" {
		text += " et par " + each
	}
	return text
}

// eachOf returns what a price per month is for besides, in words: utilisateur.
func eachOf(price string) string {
	if catalog.IsFree(price) {
		return ""
	}
	return strings.ReplaceAll(catalog.Each(price), "/", " et par ")
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1000)/10, 'f', -1, 64) + "%"
}
