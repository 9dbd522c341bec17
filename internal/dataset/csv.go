package dataset

import (
	"encoding/csv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// priceColumns are those of the table of prices: one line per price that a tool has or
// had, the current one first.
var priceColumns = []string{"slug", "name", "category", "pricing", "price", "changed_at", "old_pricing", "old_price"}

// A table is a CSV file as RFC 4180 has it: UTF-8, a header, lines that end with CR LF.
type table struct {
	*output
	csv     *csv.Writer
	columns []string
}

func (w *writer) createTable(name string, columns []string) (*table, error) {
	o, err := w.create(name)
	if err != nil {
		return nil, err
	}
	t := &table{output: o, csv: csv.NewWriter(o.to), columns: columns}
	t.csv.UseCRLF = true
	return t, t.csv.Write(columns)
}

// addRow writes a line.
func (t *table) addRow(cells ...string) error {
	t.rows++
	return t.csv.Write(cells)
}

// addRecord writes the line of a record, which is that of a tool if columns have what no field says.
func (t *table) addRecord(r *row, tool *catalog.Tool) error {
	cells := make([]string, len(t.columns))
	for i, name := range t.columns {
		if name == monthlyColumn {
			monthly := tool.EurosPerMonth()
			cells[i] = csvValue(&monthly)
			continue
		}
		if criterion, ok := strings.CutPrefix(name, criteriaPrefix); ok {
			if v, ok := r.Value("criteria").(*catalog.Values).Of(criterion); ok {
				cells[i] = v.String()
			}
			continue
		}
		cells[i] = csvValue(r.Value(name))
	}
	return t.addRow(cells...)
}

// addPrices writes the lines of a tool.
func (t *table) addPrices(tool *catalog.Tool) error {
	for _, p := range tool.Prices() {
		err := t.addRow(tool.Slug, Cell(tool.Name), tool.Category, string(p.NewPricing), priceCell(p.NewPricing, p.NewPrice),
			p.ChangedAt, string(p.OldPricing), priceCell(p.OldPricing, p.OldPrice))
		if err != nil {
			return err
		}
	}
	return nil
}

// finish ends the file.
func (t *table) finish() error {
	t.csv.Flush()
	if err := t.csv.Error(); err != nil {
		return err
	}
	return t.output.finish()
}

// priceCell returns a price as a cell of a CSV file: empty if it is not public.
func priceCell(pricing catalog.Pricing, price string) string {
	if !catalog.IsPublic(pricing, price) {
		return ""
	}
	return price
}

// Cell returns a text as a cell of a CSV file. A spreadsheet would take one that begins like
// a formula for one, also if its signs have the width of Chinese characters or of a small form; an
// apostrophe makes it text. It makes no exception for what looks like a number: numbers are not
// written by it.
func Cell(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠﹦﹢﹣﹫−", first) {
		return "'" + s
	}
	return s
}
