package chart

import (
	"cmp"
	"math"
	"slices"
)

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
var labelPlaces = []Place{
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
func (d *Drawing) name(l *layout) {
	var frontier, rest []*Mark
	for i := range d.Marks {
		if m := &d.Marks[i]; m.Frontier {
			frontier = append(frontier, m)
		} else if m.Others == 0 {
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
	slices.SortStableFunc(rest, func(a, b *Mark) int { return cmp.Compare(b.Point.Score, a.Point.Score) })
	for _, m := range rest {
		if place, ok := placed.place(m, labelPlaces[:nearPlaces]); ok {
			m.show(place, " faint")
		}
	}
}

// placeAll finds places for the names of marks, in turn.
func (d *Drawing) placeAll(l *layout, marks []*Mark) (*labels, map[*Mark]Place) {
	placed := newLabels(d.Marks, l)
	names := map[*Mark]Place{}
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
	marks []Mark
	taken []area // by names and by the line of the frontier
}

func newLabels(marks []Mark, of *layout) *labels {
	l := &labels{layout: of, marks: marks}
	var from *Mark
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
func (m *Mark) box(place Place) rect {
	x, y, width := float64(place.DX)+m.shift, float64(place.DY), TextWidth(m.Name)
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
func (l *labels) place(m *Mark, possible []Place) (Place, bool) {
	x, y := m.x*l.least.width, m.y*l.least.height
	for _, place := range possible {
		place = m.at(place)
		box := m.box(place)
		isInside := x+box.left >= -2 && x+box.right <= l.least.width+6 &&
			y+box.top >= -4 && y+box.bottom <= l.least.height
		if isInside && l.isFree(m, box) {
			l.taken = append(l.taken, area{rect{m.x, m.y, m.x, m.y}, box})
			return place, true
		}
	}
	return Place{}, false
}

func (l *labels) isFree(m *Mark, box rect) bool {
	for i := range l.taken {
		if box.gap(l.sweep(m, &l.taken[i])) < labelGap {
			return false
		}
	}
	own := box.gap(rect{m.shift, 0, m.shift, 0}) - m.radius
	for i := range l.marks {
		o := &l.marks[i]
		if o.Point.Tool == m.Point.Tool {
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
func (l *layout) sweep(m *Mark, a *area) rect {
	low := func(share, least, most float64) float64 { return min(share*least, share*most) }
	high := func(share, least, most float64) float64 { return max(share*least, share*most) }
	return rect{
		low(a.share.left-m.x, l.least.width, l.most.width) + a.pixels.left,
		low(a.share.top-m.y, l.least.height, l.most.height) + a.pixels.top,
		high(a.share.right-m.x, l.least.width, l.most.width) + a.pixels.right,
		high(a.share.bottom-m.y, l.least.height, l.most.height) + a.pixels.bottom,
	}
}

// TextWidth estimates the width of a text of 12 pixels in a wide typeface.
func TextWidth(s string) (width float64) {
	for _, r := range s {
		switch r {
		case 'i', 'j', 'l', 't', 'f', 'r', '.', ',', '\'', '’', '|', '!', ':', ';', ' ', '(', ')', '-', 'I',
			'\u202f', '\u00a0':
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
