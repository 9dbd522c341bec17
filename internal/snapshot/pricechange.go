package snapshot

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
)

// A PriceChange is a change of the price of a tool.
type PriceChange struct {
	Tool   *catalog.Tool
	Change *catalog.PriceChange
}

func priceChanges(c *catalog.Catalog) (list []PriceChange) {
	for i := range c.Tools {
		t := c.Tools[i]
		for j := range t.PriceHistory {
			list = append(list, PriceChange{t, &t.PriceHistory[j]})
		}
	}
	slices.SortStableFunc(list, func(a, b PriceChange) int { return cmp.Compare(b.Change.ChangedAt, a.Change.ChangedAt) })
	return list
}
