package site

import "palmares/internal/catalog"

// A toolRow is a tool as lists show it, in words. Templates find the fields of a
// plain struct fast; through embedded records a long list would cost twice.
type toolRow struct {
	Slug     string
	Name     string
	Tagline  string
	Category string // slug
	Label    string // of the category
	Price    string
	Pricing  string
	Score    string // "" when it is not tested
	Rank     string // the look of its score
	Reviewed bool
	tool     *catalog.Tool
}

func (e *edition) row(t *catalog.Tool) toolRow {
	row := toolRow{
		Slug: t.Slug, Name: t.Name, Tagline: nobreak(t.Tagline), Category: t.Category, Label: e.label(t.Category),
		Price: price(t.Price), Pricing: string(t.Pricing), Reviewed: t.Body != "", tool: t,
	}
	if t.Score != nil {
		row.Score, row.Rank = figure(*t.Score), rank(*t.Score)
	}
	return row
}

func (e *edition) rows(ids []int32) []toolRow {
	rows := make([]toolRow, len(ids))
	for n, i := range ids {
		rows[n] = e.row(&e.snap.Catalog.Tools[i])
	}
	return rows
}

// A bar is a figure out of ten, drawn; without a value nobody measured it.
type bar struct {
	Label  string
	Value  string
	Width  int // hundredths of the whole
	Hint   string
	Better bool // than the one it stands against
}

func newBar(label string, x *float64, hint string) bar {
	b := bar{Label: label, Hint: hint}
	if x != nil {
		b.Value, b.Width = figure(*x), tenth(*x)
	}
	return b
}
