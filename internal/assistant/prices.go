package assistant

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
)

type pricedTool struct {
	ID        string                `json:"id"`
	Name      string                `json:"name"`
	URL       string                `json:"url"`
	Pricing   catalog.Pricing       `json:"pricing"`
	Price     string                `json:"price"`
	CheckedAt string                `json:"checked_at,omitempty"`
	History   []catalog.PriceChange `json:"history"` // newest first
}

type priceChange struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	URL  string `json:"url"`
	catalog.PriceChange
}

type pricesResult struct {
	Prices  []pricedTool  `json:"prices,omitempty"`
	Changes []priceChange `json:"changes,omitempty"`
	Next    *int          `json:"next"`
	Credit  string        `json:"credit"`
}

// listPrices returns prices with their history, or the changes since a day.
func listPrices(c *call) (any, error) {
	var args struct {
		Tools []string `json:"tools"`
		Since string   `json:"since"`
		Next  int      `json:"next"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	switch {
	case (len(args.Tools) == 0) == (args.Since == ""):
		return nil, refuse("Donnez soit tools, jusqu’à dix id, soit since, un jour.")
	case len(args.Tools) > 10:
		return nil, refuse("tools peut avoir dix id au plus.")
	case args.Since != "" && !catalog.IsDate(args.Since):
		return nil, refuse("since doit être un jour\u00a0: AAAA-MM-JJ.")
	case args.Next < 0:
		return nil, refuse("next doit être le next d’une réponse précédente.")
	}
	result := pricesResult{Credit: c.credit()}
	room := newRoom(result)
	if args.Since != "" {
		changes := c.priceChanges(args.Since)
		for n := min(args.Next, len(changes)); n < len(changes); n++ {
			if !room.takes(changes[n]) {
				result.Next = &n
				break
			}
			result.Changes = append(result.Changes, changes[n])
		}
		return result, nil
	}
	for n := min(args.Next, len(args.Tools)); n < len(args.Tools); n++ {
		t, err := c.tool(args.Tools[n])
		if err != nil {
			return nil, err
		}
		p := pricedTool{
			ID: t.Slug, Name: t.Name, URL: c.snap.Catalog.CanonicalURLOf(t), Pricing: t.Pricing, Price: t.Price, CheckedAt: t.PriceCheckedAt,
			History: append([]catalog.PriceChange{}, t.PriceHistory...),
		}
		if !room.takes(p) && len(result.Prices) > 0 {
			result.Next = &n
			break
		}
		result.Prices = append(result.Prices, p)
	}
	return result, nil
}

// priceChanges returns the changes of prices since a day, newest first.
func (c *call) priceChanges(since string) (changes []priceChange) {
	for i := range c.snap.Catalog.Tools {
		t := &c.snap.Catalog.Tools[i]
		for _, change := range t.PriceHistory {
			if change.ChangedAt >= since {
				changes = append(changes, priceChange{t.Slug, t.Name, c.snap.Catalog.CanonicalURLOf(t), change})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b priceChange) int { return cmp.Compare(b.ChangedAt, a.ChangedAt) })
	return changes
}
