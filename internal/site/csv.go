package site

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/dataset"
)

// The figures of charts for spreadsheets. Those of all tools are in the export.

const csvSuffix = ".csv"

// newCSV returns a table as a file.
func newCSV(rows [][]string) *response {
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	out.UseCRLF = true
	if err := out.WriteAll(rows); err != nil {
		panic(err) // a buffer takes everything
	}
	return newResponse(csvType, b.Bytes())
}

// csvNumber returns a number that may be unknown.
func csvNumber(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'f', -1, 64)
}

// toolCSV is the history of a tool: a line for each figure that changed.
func (r *request) toolCSV(slug string) (*response, error) {
	t := r.snap.Catalog.Tool(slug)
	if t == nil {
		return nil, notFound("Aucun outil n’est connu sous ce nom.")
	}
	rows := [][]string{{"changed_at", "field", "old", "new", "note"}}
	add := func(day, field, before, after, note string) {
		if before != after {
			rows = append(rows, []string{day, field, dataset.Cell(before), dataset.Cell(after), dataset.Cell(note)})
		}
	}
	for _, p := range t.PriceHistory {
		add(p.ChangedAt, "price", dataset.PriceCell(p.OldPricing, p.OldPrice), dataset.PriceCell(p.NewPricing, p.NewPrice), "")
		add(p.ChangedAt, "pricing", string(p.OldPricing), string(p.NewPricing), "")
	}
	for _, s := range t.ScoreHistory {
		add(s.ChangedAt, "score", csvNumber(s.OldScore), csvNumber(s.NewScore), s.Note)
		add(s.ChangedAt, "verifiability", csvNumber(s.OldVerifiability), csvNumber(s.NewVerifiability), s.Note)
		add(s.ChangedAt, "obsolescence", csvNumber(s.OldObsolescence), csvNumber(s.NewObsolescence), s.Note)
	}
	for _, change := range t.CriteriaHistory {
		names := each(slices.Concat(change.Old, change.New), func(v catalog.Value) string { return v.Name })
		slices.Sort(names)
		for _, criterion := range slices.Compact(names) {
			before, _ := change.Old.Of(criterion)
			after, _ := change.New.Of(criterion)
			add(change.ChangedAt, "criteria/"+criterion, csvValue(before), csvValue(after), "")
		}
	}
	a := newCSV(rows)
	a.canonical = r.snap.Catalog.CanonicalURLOf(t)
	return a, nil
}

// csvValue returns the value of a criterion; "" for none.
func csvValue(v catalog.Value) string {
	if v.Name == "" {
		return ""
	}
	return v.String()
}

// trendsCSV is the figures of the charts of the trends.
func (s *Site) trendsCSV(r *request) (*response, error) {
	y := r.trends()
	rows := [][]string{{"series", "category", "date", "value"}}
	for _, m := range y.Prices.Months {
		rows = append(rows, []string{"price_rises", "", m.Month, strconv.Itoa(m.Up)}, []string{"price_falls", "", m.Month, strconv.Itoa(m.Down)})
	}
	for i := range y.Medians {
		for _, p := range y.Medians[i].Points {
			euros := catalog.Cents(p.Euros)
			rows = append(rows, []string{"median_euros_per_month", y.Medians[i].Category, p.Day, csvNumber(&euros)})
		}
	}
	a := newCSV(rows)
	a.canonical = strings.TrimSuffix(r.snap.Catalog.URL+r.URL.Path, csvSuffix)
	return a, nil
}
