package snapshot

import "palmares/internal/catalog"

// Whoever shows records instead of sending them as JSON needs the records
// themselves; these give them in the very order of the API's answers.

// IDs are the places of the records of a page: in Catalog.Tools for tools and
// prices, in Published for comparisons, in Catalog.Retired and Catalog.Categories
// for the others. They must not be changed.
func (p *Page) IDs() []int32 { return p.ids }

// Published gives the comparisons that are public, in the order in which the IDs
// of a page of comparisons count them.
func (s *Snapshot) Published() []*catalog.Comparison {
	public := make([]*catalog.Comparison, 0, len(s.comparisonBySlug))
	for i := range s.Catalog.Comparisons {
		if x := &s.Catalog.Comparisons[i]; x.Published {
			public = append(public, x)
		}
	}
	return public
}
