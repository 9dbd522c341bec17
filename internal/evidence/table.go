package evidence

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A table is a table of a page.
type table struct {
	cells []int // its elements that are cells, and its caption
	width int   // how many columns it has
	heads int   // how many rows it begins with have the names of its columns
	// hasSign is set if one of its cells has a currency.
	hasSign bool

	row, column int             // where the next cell stands
	reach       [maxColumns]int // the row that is first free in each column
	last        int             // the element of the row
}

// A place is where a cell stands in its table.
type place struct {
	row, column, down, across int
}

// maxColumns is how many columns of a table are told apart.
const maxColumns = 60

var tableRoles = map[string]atom.Atom{
	"table": atom.Table, "grid": atom.Table, "row": atom.Tr, "cell": atom.Td, "gridcell": atom.Td, "columnheader": atom.Th, "rowheader": atom.Th,
}

// tagOf returns the tag of an element, or the one that its role stands for.
func tagOf(n *html.Node) atom.Atom {
	if tag, ok := tableRoles[attribute(n, "role")]; ok {
		return tag
	}
	return n.DataAtom
}

func isCell(tag atom.Atom) bool { return tag == atom.Td || tag == atom.Th }

// readTables finds the tables of a page, and where their cells stand.
func (p *page) readTables() {
	p.findGrids()
	for i := range p.elements {
		e := &p.elements[i]
		at, row := p.around(e.parent, atom.Table), p.around(e.parent, atom.Tr)
		if at < 0 || e.tag != atom.Caption && (!isCell(e.tag) || row < at) {
			continue
		}
		t := p.tables[at]
		if t == nil {
			t = &table{last: -1}
			p.tables[at] = t
		}
		t.cells = append(t.cells, i)
		if e.tag == atom.Caption {
			continue
		}
		if row != t.last {
			if t.last >= 0 {
				t.row++
			}
			t.last, t.column = row, 0
		}
		t.add(&e.place)
	}
	for _, t := range p.tables {
		if t.heads > 0 {
			continue
		}
		t.heads = t.row + 1
		isSideways, startsWithPrice := false, false // each row begins with its head
		for _, i := range t.cells {
			e := &p.elements[i]
			t.hasSign = t.hasSign || isCell(e.tag) && sign.MatchString(p.textOf(i))
			startsWithPrice = startsWithPrice || isCell(e.tag) && e.column == 0 && priceOnly.MatchString(p.textOf(i))
			if e.tag == atom.Td && p.textOf(i) != "" && p.around(i, atom.Thead) < 0 {
				t.heads = min(t.heads, e.row)
			}
			isSideways = isSideways || isCell(e.tag) && e.row == 0 && (e.column > 0 && priceOnly.MatchString(p.textOf(i)) || e.column == 0 && e.tag == atom.Th && t.width == 2 || e.column == 1 && t.width == 2 && !labelWords.MatchString(p.textOf(i)) && !sign.MatchString(p.textOf(i)))
		}
		if t.heads == 0 && (!isSideways || startsWithPrice) {
			t.heads = 1
		}
	}
}

// isRow reports whether two elements are in the same row of their table.
func (p *page) isRow(element, other int) bool {
	one, two := p.around(element, atom.Td, atom.Th), p.around(other, atom.Td, atom.Th)
	return one >= 0 && two >= 0 && p.elements[one].row == p.elements[two].row
}

// tableOf returns the table of a cell, or nil.
func (p *page) tableOf(cell int) *table {
	if cell < 0 {
		return nil
	}
	return p.tables[p.around(p.elements[cell].parent, atom.Table)]
}

// isHead reports whether an element is in a row of heads.
func (p *page) isHead(element int) bool {
	cell := p.around(element, atom.Td, atom.Th)
	t := p.tableOf(cell)
	return t != nil && p.elements[cell].row < t.heads
}

// add places a cell.
func (t *table) add(at *place) {
	for t.column < maxColumns-1 && t.reach[t.column] > t.row {
		t.column++
	}
	at.row, at.column = t.row, t.column
	for range min(at.across, maxColumns-t.column) {
		t.reach[t.column] = at.row + at.down
		t.column = min(t.column+1, maxColumns-1)
	}
	t.width = max(t.width, t.column)
}

// labels returns the elements that label an element: the heads of its column and of its row, the row above that
// is a title, the caption of its table; the term of its definition.
func (p *page) labels(element int) (found []int) {
	cell := p.around(element, atom.Td, atom.Th)
	if cell < 0 {
		d := p.around(element, atom.Dd)
		for i := d - 1; d >= 0 && i > p.elements[d].parent; i-- {
			if p.elements[i].tag == atom.Dt {
				return []int{i}
			}
		}
		return nil
	}
	t := p.tableOf(cell)
	if t == nil {
		return nil
	}
	if known, ok := p.labelled[cell]; ok {
		return known
	}
	c, title := &p.elements[cell], -1
	for _, i := range t.cells {
		e := &p.elements[i]
		isAbove := e.row < c.row
		switch {
		case i == cell:
		case e.tag == atom.Caption, e.column == 0 && e.row <= c.row && c.row < e.row+e.down, isAbove && e.row < t.heads && e.column <= c.column && c.column < e.column+e.across:
			found = append(found, i)
		case isAbove && e.row >= t.heads && e.across >= t.width && t.width > 1:
			title = i
		}
	}
	if title >= 0 {
		found = append(found, title)
	}
	p.labelled[cell] = found
	return found
}

// corner returns the cell above the heads of the rows.
func (t *table) corner(p *page) []int {
	first := slices.IndexFunc(t.cells, func(i int) bool { return isCell(p.elements[i].tag) })
	if first < 0 || t.heads == 0 || p.elements[t.cells[first]].column > 0 {
		return nil
	}
	return t.cells[first : first+1]
}

// unitsBelow returns the unit that the corner of the table of a cell says, or the cell below it and nothing else.
func (p *page) unitsBelow(element int) string {
	cell := p.around(element, atom.Td, atom.Th)
	t := p.tableOf(cell)
	if t == nil {
		return ""
	}
	for _, i := range t.corner(p) {
		units := unitsIn(p.textOf(i))
		if units != "" {
			return units
		}
	}
	for _, i := range t.cells {
		e := &p.elements[i]
		if e.column == p.elements[cell].column && e.row == p.elements[cell].row+1 {
			units, size := unitsAfter(p.textOf(i))
			if size == len(p.textOf(i)) {
				return units
			}
		}
	}
	return ""
}

var (
	sign      = compile(currency)
	priceOnly = compile(`^(?:` + number + `)` + space + `?(?:` + currency + `)|^(?:` + currency + `)` + space + `?\d`)
	bare      = compile(`^(?:` + number + `)(?:[.,](?:--?|–|—))?\*?$`)
)

// findGrids makes tables of boxes that stand in rows of as many each, under a row of names, if one of the rows has prices only.
func (p *page) findGrids() {
	children := make([][]int, len(p.elements))
	for i := 1; i < len(p.elements); i++ {
		parent := p.elements[i].parent
		children[parent] = append(children[parent], i)
	}
	isRow := func(row, like int) bool {
		n := len(children[row])
		return n >= 3 && n < maxColumns && n == len(children[like]) && p.elements[row].tag == p.elements[like].tag
	}
	hasPrices := func(row int) bool {
		return !slices.ContainsFunc(children[row][1:], func(c int) bool { return !priceOnly.MatchString(p.textOf(c)) })
	}
	isShortRow := func(row int) bool {
		return !slices.ContainsFunc(children[row], func(c int) bool { return len(p.textOf(c)) > 60 || strings.Contains(p.textOf(c), "\n") })
	}
	isList := func(rows []int) bool { // the last column has the prices
		return !slices.ContainsFunc(rows[1:], func(row int) bool {
			last := children[row][len(children[row])-1]
			return !isShortRow(row) || p.elements[row].class != p.elements[rows[1]].class || !priceOnly.MatchString(p.textOf(last))
		})
	}
	for i, rows := range children {
		for n := 3; n <= 6 && len(rows) >= 2*n && len(rows) < 200 && p.around(i, atom.Table) < 0; n++ {
			p.readGrid(i, n, rows)
		}
		isGrid := len(rows) >= 2 && p.around(i, atom.Table) < 0 && !slices.ContainsFunc(rows, func(row int) bool { return !isRow(row, rows[0]) }) &&
			(!sign.MatchString(p.textOf(rows[0])) && slices.ContainsFunc(rows, hasPrices) || isList(rows))
		if !isGrid {
			continue
		}
		p.elements[i].tag = atom.Table
		for _, row := range rows {
			p.elements[row].tag = atom.Tr
			for _, cell := range children[row] {
				p.elements[cell].tag, p.elements[cell].place = atom.Td, place{across: 1, down: 1}
			}
		}
	}
}

// readGrid makes a table of the parts of a box, which stand in rows of n, if the first row has names and another one prices only.
func (p *page) readGrid(element, n int, parts []int) {
	isPrice := func(i int) bool { return priceOnly.MatchString(p.textOf(i)) }
	hasPrices := false
	for row := n; row+n <= len(parts); row += n {
		hasPrices = hasPrices || !slices.ContainsFunc(parts[row+1:row+n], func(i int) bool { return !isPrice(i) })
	}
	if !hasPrices || len(parts)%n != 0 || slices.ContainsFunc(parts[:n], func(i int) bool { return sign.MatchString(p.textOf(i)) }) {
		return
	}
	p.elements[element].tag = atom.Table
	for i, part := range parts {
		p.elements[part].tag, p.elements[part].place = atom.Td, place{row: i / n, column: i % n, across: 1, down: 1}
	}
	p.tables[element] = &table{cells: parts, width: n, heads: 1}
}

// addBare adds the numbers in cells of tables whose currency is that of their labels.
func (p *page) addBare(all []amount) []amount {
	tried := 0
	for _, t := range p.tables {
		for _, cell := range t.cells {
			e, text := &p.elements[cell], p.textOf(cell)
			if tried > maxAmounts || !isCell(e.tag) || !bare.MatchString(text) {
				continue
			}
			tried++
			value, ok := parseNumber(strings.TrimRight(text, "*-–—.,"))
			currency := p.currencyOf(t, cell)
			if currency == "" || !ok {
				continue
			}
			start := e.start + strings.Index(p.text[e.start:e.end], text)
			all = append(all, amount{price: price{value: value, currency: currency}, start: start, number: start, end: start + len(text), isBare: true})
		}
	}
	slices.SortStableFunc(all, func(a, b amount) int { return a.start - b.start })
	return all
}

// currencyOf returns the only currency that the labels of a cell say, those of its row and column before its caption.
func (p *page) currencyOf(t *table, cell int) (found string) {
	isHead := func(l int) bool { return p.elements[l].tag != atom.Caption }
	hasSign := func(l int) bool { return sign.MatchString(p.textOf(l)) && len(findAmounts(p.textOf(l))) == 0 }
	for _, label := range append(p.labels(cell), t.corner(p)...) {
		if !hasSign(label) || t.hasSign && !isHead(label) {
			continue
		}
		for _, s := range sign().FindAllString(p.textOf(label), 3) {
			c := currencies[strings.ToLower(s)]
			if found != "" && found != c {
				return ""
			}
			found = c
		}
	}
	return found
}
