package site

import (
	"math"
	"slices"
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
	Tool     *catalog.Tool
	view     *view
}

// A passage is a part of a section of a review.
type passage struct{ Section, Heading, Snippet string }

func (v *view) row(t *catalog.Tool) toolRow {
	row := toolRow{
		Slug: t.Slug, Name: t.Name, Tagline: markdown.NoBreak(t.Tagline), Category: t.Category, Label: v.Label(t.Category),
		Price: shownPrice(t), Pricing: string(t.Pricing), Reviewed: t.Body != "", Logo: v.logo(t.Logo), Draft: v.mark(t.Draft, "outils/"+t.Slug),
		Tool: t, view: v,
	}
	if v.snap.HasLogos {
		_, size := utf8.DecodeRuneInString(t.Name)
		row.Initial = t.Name[:size]
	}
	if t.Score != nil {
		row.Score, row.Rank = french.Figure(*t.Score), gradeOf(*t.Score).class
	}
	return row
}

// shownPrice returns the price of a tool as visitors see it.
func shownPrice(t *catalog.Tool) string {
	switch euros, period, _ := catalog.Amount(t.Price); {
	case t.PriceDisplay == "":
		return chart.Price(t.Pricing, t.Price)
	case t.IsForeign() && euros > 0 && strings.Contains(t.PriceDisplay, period):
		return markdown.NoBreak(t.PriceDisplay + ", environ\u00a0" + french.Euros(euros))
	case t.IsForeign() && euros > 0:
		return markdown.NoBreak(t.PriceDisplay + ", environ\u00a0" + french.Price(t.Price))
	}
	return markdown.NoBreak(t.PriceDisplay)
}

// Byline returns the authors.
func (t *toolRow) Byline() signature { return t.view.Byline(t.Tool.Authors) }

func (v *view) rows(ids []int32) []toolRow {
	return each(ids, func(i int32) toolRow { return v.row(v.snap.Catalog.Tools[i]) })
}

// A grade is what a score is in a word.
type grade struct {
	least float64
	word  string
	scope string // the scores that have this word
	class string // in CSS
}

// grades are those of all scores, the highest first.
var grades = []grade{
	{8.5, "excellent", "à partir de 8,5", highScore},
	{7, "bon", "de 7 à moins de 8,5", "note-fair"},
	{5.5, "correct", "de 5,5 à moins de 7", "note-fair"},
	{math.Inf(-1), "faible", "moins de 5,5", "note-low"},
}

const highScore = "note-high"

func gradeOf(score float64) grade {
	return grades[slices.IndexFunc(grades, func(g grade) bool { return score >= g.least })]
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
