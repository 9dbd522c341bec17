package catalog

import (
	"cmp"
	"slices"
)

// TopSetSize is how many tools the embeddings operation covers at most.
const TopSetSize = 300

// TopSet gives the indexes in c.Tools of the tools that have embeddings: those with
// score, verifiability and a review that are tier 1, or score at least 8, or
// tier 2 and mainstream; tier 1 first, then by score descending, then by slug.
func (c *Catalog) TopSet() []int {
	var set []int
	for i := range c.Tools {
		t := &c.Tools[i]
		if t.Score == nil || t.Verifiability == nil || t.Body == "" {
			continue
		}
		if t.Tier == 1 || *t.Score >= 8 || t.Tier == 2 && t.Mainstream {
			set = append(set, i)
		}
	}
	below := func(t *Tool) int {
		if t.Tier == 1 {
			return 0
		}
		return 1
	}
	slices.SortFunc(set, func(i, j int) int {
		a, b := &c.Tools[i], &c.Tools[j]
		return cmp.Or(cmp.Compare(below(a), below(b)), cmp.Compare(*b.Score, *a.Score), cmp.Compare(a.Slug, b.Slug))
	})
	return set[:min(len(set), TopSetSize)]
}
