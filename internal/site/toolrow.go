package site

import (
	"math"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// A toolRow is a tool in a list, ready to be shown. Templates read plain fields
// fast; reading embedded records would double the cost of a long list.
type toolRow struct {
	Slug     string
	Name     string
	Tagline  string
	Category string // slug
	Label    string // of the category
	Price    string
	Pricing  string
	Score    string // "" if it is not tested
	Rank     string // CSS class of the score
	Reviewed bool
	Logo     *img     // nil for none
	Initial  string   // shown instead of a logo; "" if no tool has one
	Draft    string   // see view.mark
	Passage  *passage // of its review that answers a search; nil for none
	tool     *catalog.Tool
}

// A passage is a part of a section of a review.
type passage struct{ Section, Heading, Snippet string }

func (v *view) row(t *catalog.Tool) toolRow {
	row := toolRow{
		Slug: t.Slug, Name: t.Name, Tagline: markdown.NoBreak(t.Tagline), Category: t.Category, Label: v.label(t.Category),
		Price: shownPrice(t), Pricing: string(t.Pricing), Reviewed: t.Body != "", Logo: v.logo(t.Logo), Draft: v.mark(t.Draft, "outils/"+t.Slug),
		tool: t,
	}
	if v.snap.HasLogos {
		_, size := utf8.DecodeRuneInString(t.Name)
		row.Initial = t.Name[:size]
	}
	if t.Score != nil {
		row.Score, row.Rank = french.Figure(*t.Score), scoreClass(*t.Score)
	}
	return row
}

// shownPrice returns the price of a tool as visitors see it.
func shownPrice(t *catalog.Tool) string {
	switch euros, period, _ := catalog.Amount(t.Price); {
	case t.PriceDisplay == "":
		return chart.Price(t.Pricing, t.Price)
	case t.IsForeign() && euros > 0 && strings.Contains(t.PriceDisplay, period):
		return markdown.NoBreak(t.PriceDisplay + ", environ " + french.Euros(euros))
	case t.IsForeign() && euros > 0:
		return markdown.NoBreak(t.PriceDisplay + ", environ " + french.Price(t.Price))
	}
	return markdown.NoBreak(t.PriceDisplay)
}

func (v *view) rows(ids []int32) []toolRow {
	return each(ids, func(i int32) toolRow { return v.row(v.snap.Catalog.Tools[i]) })
}

// highScore is the CSS class of a high score.
const highScore = "note-high"

// scoreClass returns the CSS class of a score, which goes with its word.
func scoreClass(score float64) string {
	switch scoreWord(score) {
	case "excellent":
		return highScore
	case "faible":
		return "note-low"
	}
	return "note-fair"
}

// A bar shows a figure out of ten; Value is "" if it was not measured.
type bar struct {
	Label  string
	Value  string
	Width  int // in percent
	Hint   string
	Better bool // than the one it is compared with
	Risk   bool // more is worse
}

func newBar(label string, x *float64, hint string) bar {
	b := bar{Label: label, Hint: hint}
	if x != nil {
		b.Value, b.Width = french.Figure(*x), int(math.Round(min(max(*x, 0), 10)*10))
	}
	return b
}
