package edition

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/problem"
)

// uncategorized is the category of drafts that have none yet.
var uncategorized = catalog.Category{Slug: "sans-categorie", Label: "Sans catégorie"}

// completeOne is complete for a record of c, in whose place it puts it.
func completeOne(c *catalog.Catalog, record any, today string) []content.Warning {
	own := &catalog.Catalog{}
	own.Put(record)
	left := complete(c, own, today)
	for i := range catalog.Kinds {
		for n := range catalog.Kinds[i].Len(own) {
			c.Put(catalog.Kinds[i].At(own, n))
		}
	}
	if x, ok := record.(*catalog.Comparison); ok && len(left) > 0 {
		c.Comparisons = slices.DeleteFunc(c.Comparisons, func(o catalog.Comparison) bool { return o.Slug == x.Slug })
	}
	return left
}

// complete makes records with drafts among them, all those of the catalogue c or some, fit to be shown: what
// drafts lack is filled in with words that say so. Comparisons without two tools cannot be shown; it returns
// a warning for each.
func complete(c, own *catalog.Catalog, today string) (left []content.Warning) {
	isNeeded := false
	category := func(slug *string) {
		if *slug == "" {
			*slug, isNeeded = uncategorized.Slug, true
		}
	}
	for i := range own.Tools {
		if t := own.Tools[i]; t.Draft {
			t.Name = cmp.Or(t.Name, t.Slug)
			t.Tagline = cmp.Or(t.Tagline, "(accroche à écrire)")
			t.Domain = cmp.Or(t.Domain, "domaine-a-completer.invalid")
			t.PriceDisplay = cmp.Or(t.PriceDisplay, t.Price, "(prix à compléter)")
			category(&t.Category)
		}
	}
	for i := range own.Retired {
		if r := &own.Retired[i]; r.Draft {
			r.Name, r.RetiredAt = cmp.Or(r.Name, r.Slug), cmp.Or(r.RetiredAt, today)
			category(&r.Category)
		}
	}
	for i := range own.Pages {
		own.Pages[i].Title = cmp.Or(own.Pages[i].Title, own.Pages[i].Slug)
	}
	for i := range own.Articles {
		a := &own.Articles[i]
		a.Title, a.Date = cmp.Or(a.Title, a.Slug), cmp.Or(a.Date, today)
	}
	for i := range own.Authors {
		own.Authors[i].Name = cmp.Or(own.Authors[i].Name, own.Authors[i].Slug)
	}
	if isNeeded && c.Category(uncategorized.Slug) == nil {
		c.Categories = append(slices.Clone(c.Categories), uncategorized)
		c.Categories[len(c.Categories)-1].Position = len(c.Categories) - 1
		c.Sort()
	}
	own.Comparisons = slices.DeleteFunc(own.Comparisons, func(x catalog.Comparison) bool {
		isShown := c.Tool(x.ToolA) != nil && c.Tool(x.ToolB) != nil
		if !isShown {
			left = append(left, content.Warning{
				File: "comparatifs/" + x.Slug + ".md", Line: 1, Text: problem.New("draft-without-sides"),
			})
		}
		return !isShown
	})
	for i := range own.Comparisons {
		x := &own.Comparisons[i]
		x.Draft, x.Published = x.Draft || !x.Published, true
		x.Title = cmp.Or(x.Title, x.Slug)
	}
	catalog.CarryOver(&catalog.Catalog{}, own, today)
	return left
}
