package catalog

import (
	"cmp"
	"slices"
)

// TopSetSize is the maximum number of tools with embeddings.
const TopSetSize = 300

// TopSet returns the indexes in c.Tools of the tools that have embeddings: those
// with a score, a verifiability and a review that are tier 1, or score at least 8,
// or are tier 2 and mainstream; tier 1 first, then by descending score, then by
// slug.
func (c *Catalog) TopSet() []int {
	var set []int
	for i, t := range c.Tools {
		if t.Score != nil && t.Verifiability != nil && t.Body != "" &&
			(t.Tier == 1 || *t.Score >= 8 || t.Tier == 2 && t.Mainstream) {
			set = append(set, i)
		}
	}
	slices.SortFunc(set, func(i, j int) int {
		a, b := c.Tools[i], c.Tools[j]
		isLower := cmp.Compare(count(a.Tier != 1), count(b.Tier != 1))
		return cmp.Or(isLower, cmp.Compare(*b.Score, *a.Score), cmp.Compare(a.Slug, b.Slug))
	})
	return set[:min(len(set), TopSetSize)]
}
