package catalog

import "slices"

// Undated returns the slugs of the records that d changes while their UpdatedAt stays
// on an earlier day: their editors gave the date and probably forgot it. today is the
// day of CarryOver, which dates the records that give none.
func (d *Diff) Undated(old, next *Catalog, today string) (tools, comparisons []string) {
	for _, slug := range slices.Concat(d.Of(ToolKind).Added, d.Of(ToolKind).Changed) { // a renamed tool is an added one
		t := next.Tool(slug)
		if prior := old.prior(next, t); prior != nil && t.UpdatedAt == prior.UpdatedAt && t.UpdatedAt != today {
			tools = append(tools, slug)
		}
	}
	for _, slug := range d.Of(ComparisonKind).Changed {
		x, prior := next.Comparison(slug), old.Comparison(slug)
		if x.Published && x.UpdatedAt == prior.UpdatedAt && x.UpdatedAt != today {
			comparisons = append(comparisons, slug)
		}
	}
	return tools, comparisons
}
