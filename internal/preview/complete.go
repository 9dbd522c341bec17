package preview

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/content"
)

// uncategorized is the category of drafts that have none yet.
var uncategorized = catalog.Category{Slug: "sans-categorie", Label: "Sans catégorie"}

// complete makes a catalogue with drafts fit to be shown: what drafts lack is filled in
// with words that say so. Comparisons without two tools cannot be shown; it returns a
// warning for each.
func complete(c *catalog.Catalog, today string) (left []content.Warning) {
	isNeeded := false
	category := func(slug *string) {
		if *slug == "" {
			*slug, isNeeded = uncategorized.Slug, true
		}
	}
	for i := range c.Tools {
		if t := c.Tools[i]; t.Draft {
			t.Name = cmp.Or(t.Name, t.Slug)
			t.Tagline = cmp.Or(t.Tagline, "(accroche à écrire)")
			t.Domain = cmp.Or(t.Domain, "domaine-a-completer.invalid")
			t.PriceDisplay = cmp.Or(t.PriceDisplay, t.Price, "(prix à compléter)")
			category(&t.Category)
		}
	}
	for i := range c.Retired {
		if r := &c.Retired[i]; r.Draft {
			r.Name, r.RetiredAt = cmp.Or(r.Name, r.Slug), cmp.Or(r.RetiredAt, today)
			category(&r.Category)
		}
	}
	for i := range c.Pages {
		c.Pages[i].Title = cmp.Or(c.Pages[i].Title, c.Pages[i].Slug)
	}
	for i := range c.Articles {
		a := &c.Articles[i]
		a.Title, a.Date = cmp.Or(a.Title, a.Slug), cmp.Or(a.Date, today)
	}
	for i := range c.Authors {
		c.Authors[i].Name = cmp.Or(c.Authors[i].Name, c.Authors[i].Slug)
	}
	if isNeeded {
		c.Categories = append(c.Categories, uncategorized)
		c.Categories[len(c.Categories)-1].Position = len(c.Categories) - 1
		c.Sort()
	}
	c.Comparisons = slices.DeleteFunc(c.Comparisons, func(x catalog.Comparison) bool {
		isShown := c.Tool(x.ToolA) != nil && c.Tool(x.ToolB) != nil
		if !isShown {
			left = append(left, content.Warning{
				File: "comparatifs/" + x.Slug + ".md", Line: 1, Text: "a draft without tool_a and tool_b cannot be shown yet",
			})
		}
		return !isShown
	})
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		x.Draft, x.Published = x.Draft || !x.Published, true
		x.Title = cmp.Or(x.Title, x.Slug)
	}
	catalog.CarryOver(&catalog.Catalog{}, c, today)
	return left
}
