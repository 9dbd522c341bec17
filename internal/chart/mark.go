package chart

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"palmares/internal/french"
	"palmares/internal/market"
)

// marks returns the marks of points, the frontier last, so that it is on top. Points at the
// same place share a mark; so do others in one cell of a grid, if the layout has little room
// or the marks are too many. Points of the frontier share none with others.
func (a *axes) marks(points []market.Point, l *layout) []Mark {
	var rest, top []Mark
	for i, p := range points { // equal ones follow each other
		list := &rest
		if p.Frontier {
			list = &top
		}
		isShared := p.Euros > 0 || p.Frontier // the lane of free tools has room for others
		if i > 0 && isShared && points[i-1].Euros == p.Euros && points[i-1].Score == p.Score {
			last := &(*list)[len(*list)-1]
			last.Others++
			last.names = append(last.names, p.Tool.Name)
			continue
		}
		*list = append(*list, Mark{
			Point: p, x: a.x(p.Euros), y: a.y(p.Score), Frontier: p.Frontier, names: []string{p.Tool.Name},
		})
	}
	if len(top) > l.marks {
		last := &top[l.marks-1]
		for _, m := range top[l.marks:] {
			last.Others += 1 + m.Others
			last.names = append(last.names, m.names...)
		}
		last.near, top = true, top[:l.marks]
	}
	if l.cell > 0 {
		rest = bin(rest, l.width/l.cell, l.height/l.cell)
	}
	for cells := 48.0; len(rest)+len(top) > max(l.marks, len(top)+1); cells /= 1.25 {
		rest = bin(rest, cells, cells)
	}
	all := append(rest, top...)
	a.swarm(all, l)
	return all
}

// bin joins marks in the same cell. The mark of a cell is in the middle of its tools and
// named after the best of them.
func bin(marks []Mark, columns, rows float64) []Mark {
	type cell struct{ column, row int }
	at := map[cell]int{}
	var list []Mark
	for _, m := range marks {
		c := cell{int(m.x * columns), int(m.y * rows)}
		i, ok := at[c]
		if !ok {
			at[c] = len(list)
			list = append(list, m)
			continue
		}
		b := &list[i]
		had, has := float64(1+b.Others), float64(1+m.Others)
		b.x, b.y = (b.x*had+m.x*has)/(had+has), (b.y*had+m.y*has)/(had+has)
		b.Others, b.near, b.names = b.Others+1+m.Others, true, append(b.names, m.names...)
		if m.Point.Score > b.Point.Score || m.Point.Score == b.Point.Score && m.Point.Euros < b.Point.Euros {
			b.Point = m.Point
		}
	}
	return list
}

// swarm moves the marks in the lane of free tools, where the place across means nothing, beside each
// other: each as near to the middle as the ones before it leave room.
func (a *axes) swarm(marks []Mark, l *layout) {
	const apart = 13 // pixels between the middles of two marks
	step, width := apart/l.width, laneWidth
	if !a.paid {
		width = 1
	}
	var placed []*Mark
	for i := range marks {
		m := &marks[i]
		if m.Point.Euros > 0 {
			continue
		}
		middle, side := m.x, 0.0
		isFree := func() bool {
			return !slices.ContainsFunc(placed, func(o *Mark) bool {
				return math.Hypot((m.x-o.x)*l.width, (m.y-o.y)*l.height) < apart-1
			})
		}
		for !isFree() {
			side = -side
			if side >= 0 {
				side += step
			}
			if math.Abs(side) > width/2-5.5/l.width { // 5.5: about the radius of a mark
				m.x = middle // there is no room: it lies on others
				break
			}
			m.x = middle + side
		}
		placed = append(placed, m)
	}
}

// longestLabel is how many characters of a name are shown next to a mark.
const longestLabel = 22

// describe writes what a mark says.
func (m *Mark) describe() {
	t := m.Point.Tool
	m.X, m.Y, m.Href, m.radius = percent(m.x), percent(m.y), "/outils/"+t.Slug, 5
	figures := french.Figure(m.Point.Score) + " sur 10, " + PerMonth(t)
	m.Name, m.Label = shorten(t.Name, longestLabel), t.Name+", "+figures
	m.Lines = []string{french.Figure(m.Point.Score) + " · " + About(t, french.ShortEuros(m.Point.Euros), m.Point.Euros == 0)}
	if each := Each(t.Price); each != "" {
		m.Lines[0] += "/" + shorten(each, 12)
	}
	if m.Frontier {
		m.radius = 6
	}
	if m.Others > 0 {
		m.radius = math.Round(min(m.radius+1.2*math.Sqrt(float64(m.Others)), 14))
		m.Lines = append(m.Lines, m.others(t.Name)...)
		if others := french.Plural(m.Others, "autre outil", "autres outils"); m.near {
			m.Label += ", et " + others + " tout près"
		} else {
			m.Label += ", à égalité avec " + others
		}
	}
	m.Radius = coordinate(m.radius)
	switch { // away from the nearer edge, or below: a long name fits beside no mark in the middle of a phone
	case m.x < 0.34:
		m.Place = Place{"", m.away(), -8}
	case m.x > 0.66:
		m.Place = Place{"end", -m.away(), -8}
	default:
		m.Place = Place{"mid", 0, m.away() + 10}
	}
}

// away returns how far the name of a mark is from its middle, in pixels.
func (m *Mark) away() int { return max(int(m.radius), 6) + 4 }

// otherNames is how many of the other tools of a mark are named on focus.
const otherNames = 3

// others names the tools of a mark besides the one that it is named after, and says how many more there
// are.
func (m *Mark) others(name string) (lines []string) {
	for _, other := range m.names {
		if other != name && len(lines) < otherNames {
			lines = append(lines, shorten(other, longestLabel))
		}
	}
	if more := m.Others - len(lines); more > 0 {
		lines = append(lines, "et "+french.Plural(more, "autre", "autres"))
	}
	return lines
}

// Tools returns the names of all tools of a mark of several, one per line.
func (m Mark) Tools() string {
	if m.Others == 0 {
		return ""
	}
	return strings.Join(m.names, "\n")
}

// shorten cuts a text that is too long for a label, after a word if there are several.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	cut := string([]rune(s)[:most-1])
	if end := strings.LastIndexAny(cut, " -"); end > 0 {
		cut = cut[:end]
	}
	return cut + "…"
}
