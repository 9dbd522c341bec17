package dataset

import (
	"strconv"
	"strings"

	"palmares/internal/catalog"
)

// toolTableColumns are the columns of the table of tools after slug: fields of the record
// that are no lists.
var toolTableColumns = []string{
	"name", "domain", "category", "icp", "pricing", "price", "price_display", "tagline", "score", "verifiability", "obsolescence",
	"tier", "mainstream", "updated_at", "tested_at", "price_checked_at", "canonical_url", "avis_url", "alternatives_url",
}

// priceColumns are those of the table of prices: one line per price that a tool has or
// had, the current one first.
var priceColumns = []string{"slug", "name", "category", "pricing", "price", "changed_at", "old_pricing", "old_price"}

// A table is a CSV file as RFC 4180 has it: UTF-8, a header, lines that end with CR LF.
type table struct {
	*output
	line []byte
}

func (w *writer) createTable(name string, columns []string) (*table, error) {
	o, err := w.create(name)
	if err != nil {
		return nil, err
	}
	t := &table{output: o}
	for _, column := range columns {
		t.text(column)
	}
	err = t.end()
	o.rows = 0
	return t, err
}

// addTool writes the line of a tool.
func (t *table) addTool(r *row) error {
	t.text(r.change.Slug)
	for _, name := range toolTableColumns {
		switch v := r.value(name).(type) {
		case string:
			t.text(v)
		case float64:
			t.raw(strconv.FormatFloat(v, 'f', -1, 64))
		case int:
			t.raw(strconv.Itoa(v))
		case bool:
			t.raw(strconv.FormatBool(v))
		case nil:
			if name == "mainstream" {
				t.raw("false") // records leave false out
				continue
			}
			t.raw("")
		}
	}
	return t.end()
}

// addPrices writes the lines of a tool: its price, and each change.
func (t *table) addPrices(tool *catalog.Tool) error {
	add := func(pricing catalog.Pricing, price, changedAt string, oldPricing catalog.Pricing, oldPrice string) error {
		for _, cell := range []string{tool.Slug, tool.Name, tool.Category, string(pricing), price, changedAt, string(oldPricing), oldPrice} {
			t.text(cell)
		}
		return t.end()
	}
	if !tool.HasDatedPrice() {
		if err := add(tool.Pricing, tool.Price, "", "", ""); err != nil {
			return err
		}
	}
	for _, e := range tool.PriceHistory {
		if err := add(e.NewPricing, e.NewPrice, e.ChangedAt, e.OldPricing, e.OldPrice); err != nil {
			return err
		}
	}
	return nil
}

// text adds a cell of text.
func (t *table) text(s string) { t.raw(Cell(s)) }

// Cell returns a text as a cell of a CSV file. A spreadsheet would take one that begins like
// a formula for one; an apostrophe makes it text. It makes no exception for what looks like a
// number: numbers are not written by it.
func Cell(s string) string {
	if s != "" && strings.IndexByte("=+-@\t\r\n", s[0]) >= 0 {
		s = "'" + s
	}
	if strings.ContainsAny(s, ",\"\r\n") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// raw adds a cell as it is.
func (t *table) raw(s string) { t.line = append(append(t.line, s...), ',') }

// end ends the line.
func (t *table) end() error {
	t.line = append(t.line[:len(t.line)-1], '\r', '\n')
	err := t.add(t.line)
	t.line = t.line[:0]
	return err
}
