package chart

import "slices"

// A box is the room of a mark or a name, in pixels. Whatever is placed after it starts left of it.
type box struct{ left, top, bottom float64 }

// nameFrontier shows the names of the frontier, the best score first: left of their marks and above them, where
// no tool can be, or right of them at the edge of the picture. A name that would touch another, or another mark of
// the frontier, is shown on focus only, as are those of all other marks. What is apart on the smallest screen of a
// layout is so on all.
func (d *Drawing) nameFrontier(l *layout) {
	var taken []box
	for i := len(d.Marks) - 1; i >= 0 && d.Marks[i].Frontier; i-- {
		m := &d.Marks[i]
		x, y := m.x*l.width, m.y*l.height
		width := TextWidth(m.Name)
		place, left := Place{"end named", -m.away(), -8}, x-float64(m.away())-width
		if left < -2 {
			place, left = Place{"named", m.away(), -8}, x+float64(m.away())
		}
		name := box{left, y - 20, y - 4}
		isTaken := func(b box) bool {
			return left+width > b.left && name.top < b.bottom && b.top < name.bottom
		}
		if left+width <= l.width+6 && !slices.ContainsFunc(taken, isTaken) {
			m.Place, taken = place, append(taken, name)
		}
		taken = append(taken, box{x - m.radius, y - m.radius, y + m.radius})
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
