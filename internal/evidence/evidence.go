// Package evidence keeps prices true by quotation. A person marks the words of a page that say a price, once; the
// program looks whether the words still stand there. It does not understand them: no words of any language, no plans,
// no tables, no dates. A page changed if the words stand there with other numbers; anything else is for a person.
package evidence

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
)

// A Source is a page to look at, and the words that should stand there.
type Source struct {
	Slug    string
	URL     string
	Quote   string // "" if the page only has to be there
	IsPrice bool   // of a public price; others are outside the figures
	tool    *catalog.Tool
}

// Sources returns the sources of a catalogue without its drafts, in the order of the file of proofs: of tools and their
// announced prices, if they are quoted or not public; of obituaries. A public price without a quotation claims nothing.
func Sources(c *catalog.Catalog) (list []Source) {
	for i := range c.Retired {
		for _, address := range c.Retired[i].Sources {
			if !c.Retired[i].Draft {
				list = append(list, Source{Slug: c.Retired[i].Slug, URL: address})
			}
		}
	}
	for _, t := range c.Tools {
		if t.Draft {
			continue
		}
		isPublic := catalog.IsPublic(t.Pricing, t.Price)
		if t.PriceSource != "" && (t.PriceQuote != "" || !isPublic) {
			list = append(list, Source{Slug: t.Slug, URL: t.PriceSource, Quote: t.PriceQuote, IsPrice: isPublic, tool: t})
		}
		for _, a := range t.Announced {
			if address := cmp.Or(a.PriceSource, a.Source); address != "" {
				list = append(list, Source{Slug: t.Slug, URL: address, Quote: a.PriceQuote})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Source) int { return a.compare(&catalog.Proof{Slug: b.Slug, URL: b.URL, Quote: b.Quote}) })
	return slices.CompactFunc(list, func(a, b Source) bool { return a.key() == b.key() })
}

// A key tells sources apart, and their proofs: slug, address, quotation.
type key [3]string

func (s *Source) key() key { return key{s.Slug, s.URL, s.Quote} }

func keyOf(p *catalog.Proof) key { return key{p.Slug, p.URL, p.Quote} }

func (s *Source) compare(p *catalog.Proof) int {
	return catalog.CompareProofs(catalog.Proof{Slug: s.Slug, URL: s.URL, Quote: s.Quote}, *p)
}
