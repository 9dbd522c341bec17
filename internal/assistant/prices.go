package assistant

import (
	"time"

	"palmares/internal/catalog"
)

type pricedTool struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	URL       string          `json:"url"`
	Pricing   catalog.Pricing `json:"pricing"`
	Price     *string         `json:"price"`                   // null if it is not public
	Display   string          `json:"price_display,omitempty"` // as its maker says it
	CheckedAt string          `json:"checked_at,omitempty"`
	Freshness string          `json:"freshness,omitempty"` // how the price is known
	Quote     string          `json:"quote,omitempty"`     // the words of the source that confirm it
	History   []changedPrice  `json:"history"`             // newest first

	Announced []catalog.Announcement `json:"announced,omitempty"`
}

// A changedPrice is an entry of a history; prices that are not public are null.
type changedPrice struct {
	IsConverted bool `json:"converted,omitempty"` // from another currency, which the price of the tool is in

	ChangedAt  string          `json:"changed_at"`
	OldPricing catalog.Pricing `json:"old_pricing"`
	OldPrice   *string         `json:"old_price"`
	NewPricing catalog.Pricing `json:"new_pricing"`
	NewPrice   *string         `json:"new_price"`
}

type pricesResult struct {
	Prices  []pricedTool `json:"prices"`
	Unknown []unknown    `json:"unknown,omitempty"`
	Next    *int         `json:"next"` // how much was given
	Credit  string       `json:"credit"`
}

// listPrices returns prices with their history.
func listPrices(c *call) (any, error) {
	var args struct {
		Tools []string `json:"tools"`
		Next  int      `json:"next"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	listed, missing, err := c.tools(args.Tools)
	if len(listed) == 0 {
		return nil, err
	}
	result := pricesResult{Prices: []pricedTool{}, Unknown: missing, Credit: c.credit()}
	result.show(c, listed, args.Next)
	return result, nil
}

// announced returns the next changes that are announced for a tool.
func announced(t *catalog.Tool, hasSources bool) (list []catalog.Announcement) {
	for _, a := range t.Announced[:min(len(t.Announced), 3)] {
		if !hasSources {
			a.Source, a.PriceSource, a.PriceQuote, a.PriceCheckedAt = "", "", "", ""
		}
		a.Source, a.PriceSource, a.PriceQuote = clip(a.Source, 200), clip(a.PriceSource, 200), clip(a.PriceQuote, 200)
		if !catalog.IsPublic(a.Pricing, a.Price) {
			a.Price = ""
		}
		list = append(list, a)
	}
	return list
}

// freshness says how the price of a tool is known, and quotes the source that confirms it; "" for nothing.
func (c *call) freshness(t *catalog.Tool) (how, quote string) {
	known := c.snap.Catalog.FreshnessOf(t, catalog.Day(time.Now()))
	switch {
	case known.Day == "":
		return "", ""
	case known.IsOld:
		return "non confirmé depuis le " + known.Day, ""
	case known.Proof != nil:
		return "confirmé le " + known.Day + " sur " + clip(known.Proof.URL, 120), clip(known.Proof.Quote, 400)
	}
	return "relevé à la main le " + known.Day, ""
}

func newChangedPrice(t *catalog.Tool, e *catalog.PriceChange) changedPrice {
	return changedPrice{
		t.IsConverted(), e.ChangedAt, e.OldPricing, catalog.PublicPrice(e.OldPricing, e.OldPrice),
		e.NewPricing, catalog.PublicPrice(e.NewPricing, e.NewPrice),
	}
}

// show adds tools with their history. Every tool, and every change of its price, counts as
// one of those that earlier responses gave; a tool whose history goes on is shown again.
func (r *pricesResult) show(c *call, listed []*catalog.Tool, given int) {
	room, n := newRoom(r), 0
	for _, t := range listed {
		end := n + 1 + len(t.PriceHistory)
		if end <= given {
			n = end
			continue
		}
		var rest []changedPrice
		for i := max(given-n-1, 0); i < len(t.PriceHistory); i++ {
			rest = append(rest, newChangedPrice(t, &t.PriceHistory[i]))
		}
		how, quote := c.freshness(t)
		p := pricedTool{
			ID: t.Slug, Name: nameOf(t), URL: c.snap.Catalog.CanonicalURLOf(t), Pricing: t.Pricing,
			Price: catalog.PublicPrice(t.Pricing, t.Price), Display: t.PriceDisplay, CheckedAt: t.CheckedAt(),
			Freshness: how, Quote: quote, Announced: announced(t, true),
			History: append([]changedPrice{}, rest[:min(1, len(rest))]...),
		}
		if !room.takes(p) {
			r.Next = &n
			return
		}
		for len(p.History) < len(rest) && room.takes(rest[len(p.History)]) {
			p.History = append(p.History, rest[len(p.History)])
		}
		r.Prices = append(r.Prices, p)
		if len(p.History) < len(rest) {
			r.Next = new(end - len(rest) + len(p.History))
			return
		}
		n = end
	}
}
