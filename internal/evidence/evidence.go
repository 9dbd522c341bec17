// Package evidence keeps prices true by quotation. A person marks the words of a page that say a price, once; the
// program looks whether the words still stand there. It does not understand them: no words of any language, no plans,
// no tables, no dates. A page changed if the words stand there with other numbers; anything else is for a person.
package evidence

import (
	"cmp"
	"slices"
	"time"

	"palmares/internal/catalog"
)

// Stale is the state of a price that was neither confirmed nor read by somebody for longer than the catalogue allows,
// if nothing else is to be said of its source.
const Stale = "stale"

// A Listed is a source, with the last look at it.
type Listed struct {
	catalog.Proof        // only slug, address and quotation if nobody looked; "" for a page that only has to be there
	State         string `json:"state"`           // a result, Stale, or "" for nothing to be said
	Price         string `json:"price,omitempty"` // as recorded; "" if it is not that of a tool, or not public
	Line          int    `json:"-"`               // of the proof in its file; 1 if it has none
	tool          *catalog.Tool
}

// List returns the sources of a catalogue without its drafts, with their proofs among those of the file, in the order of
// the file: of tools and their announced prices, if they are quoted or not public; of obituaries. A public price without
// a quotation claims nothing.
func List(c *catalog.Catalog, proofs []catalog.Proof, today string) (list []Listed) {
	add := func(slug, address, quote string, t *catalog.Tool) {
		if address != "" {
			list = append(list, Listed{Proof: catalog.Proof{Slug: slug, URL: address, Quote: quote}, Line: 1, tool: t})
		}
	}
	for i := range c.Retired {
		for _, address := range c.Retired[i].Sources {
			if !c.Retired[i].Draft {
				add(c.Retired[i].Slug, address, "", nil)
			}
		}
	}
	for _, t := range c.Tools {
		if t.Draft {
			continue
		}
		if !catalog.IsPublic(t.Pricing, t.Price) {
			add(t.Slug, t.PriceSource, t.PriceQuote, nil)
		} else if t.PriceQuote != "" {
			add(t.Slug, t.PriceSource, t.PriceQuote, t)
		}
		for _, a := range t.Announced {
			add(t.Slug, cmp.Or(a.PriceSource, a.Source), a.PriceQuote, nil)
		}
	}
	order := func(a, b Listed) int { return catalog.CompareProofs(a.Proof, b.Proof) }
	slices.SortStableFunc(list, order)
	list = slices.CompactFunc(list, func(a, b Listed) bool { return order(a, b) == 0 })
	for i := range list {
		l := &list[i]
		if n, ok := slices.BinarySearchFunc(proofs, l.Proof, catalog.CompareProofs); ok {
			l.Proof, l.Line = proofs[n], n+1
		}
		if l.State = l.Result; l.tool != nil {
			l.Price = l.tool.Price
			known := c.FreshnessOf(l.tool, today)
			if (l.State == "" || l.State == catalog.Confirmed) && (known.Day == "" || known.IsOld) {
				l.State = Stale
			}
		}
	}
	return list
}

// Day returns the day of the look; "" if nobody looked.
func (l *Listed) Day() string { return l.CheckedAt[:min(len(l.CheckedAt), len(time.DateOnly))] }

// NewPrice returns the price that the found words say, in the form of the recorded one; "" if only a person can tell:
// the number of the recorded price is not in the quotation, or more than once, or the record shows other words than its
// price, or somebody read it since.
func (l *Listed) NewPrice() (price string) {
	if l.State != catalog.Changed || l.tool == nil || l.tool.PriceDisplay != "" || l.tool.Pricing == "gratuit" ||
		l.tool.PriceCheckedAt > l.Day() {
		return ""
	}
	quote, found := newScript(clean(l.Quote)), newScript(clean(l.Found))
	for i := range min(len(quote.numbers), len(found.numbers)) {
		if amount(quote.number(i)) != amount(catalog.PriceNumber(l.Price)) {
			continue
		}
		if price != "" {
			return ""
		}
		price = priceWith(l.Price, found.number(i))
	}
	return price
}
