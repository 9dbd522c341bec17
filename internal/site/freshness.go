package site

import "palmares/internal/catalog"

// freshness is how the price of a tool is known, and since when.
type freshness struct {
	Words string // confirmé le
	Day   string
	Place *source // where the price stood; nil if somebody read it, or if that is long ago
}

// freshness returns how the price of a tool is known; nil if nothing is. What is long ago is by the
// day of the catalogue, as on all pages of a version.
func (v *view) freshness(t *catalog.Tool) *freshness {
	known := v.snap.Catalog.FreshnessOf(t, v.snap.UpdatedAt)
	f := &freshness{Day: known.Day}
	switch {
	case known.Day == "":
		return nil
	case known.IsOld:
		f.Words = "non confirmé depuis le"
	case known.URL != "":
		f.Words, f.Place = "confirmé le", new(newSource(known.URL))
	default:
		f.Words = "relevé à la main le"
	}
	return f
}

// A confirmedRow says how many prices are confirmed, in all or in a category.
type confirmedRow struct {
	Label string
	catalog.ConfirmedPrices
}

// confirmed returns how many prices are confirmed, of all and of each category in its order; nil if
// nobody has looked.
func (v *view) confirmed() (rows []confirmedRow) {
	c := v.snap.Catalog
	if len(c.Proofs) == 0 {
		return nil
	}
	all, byCategory := c.ConfirmedPrices(v.snap.UpdatedAt)
	rows = append(rows, confirmedRow{"Tout le catalogue", all})
	for _, category := range c.InOrder().Categories {
		if n, ok := byCategory[category.Slug]; ok {
			rows = append(rows, confirmedRow{category.Label, n})
		}
	}
	return rows
}
