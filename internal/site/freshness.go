package site

import (
	"net/url"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// freshness is how the price of a tool is known, and since when.
type freshness struct {
	Words string // confirmé le
	Day   string
	Quote string  // the words that say the price; "" if that is long ago, or none are known
	Place *source // where they stood; nil without them
}

// Freshness returns how the price of a tool is known; nil if nothing is. What is long ago is by the
// day of the catalogue, as on all pages of a version.
func (row *toolRow) Freshness() *freshness {
	v, t := row.view, row.Tool
	known := v.snap.Catalog.FreshnessOf(t, v.snap.UpdatedAt)
	f, p := &freshness{Words: "confirmé le", Day: known.Day}, known.Proof
	switch {
	case known.Day == "":
		return nil
	case known.IsOld:
		f.Words = "non confirmé depuis le"
		return f
	case p == nil:
		f.Words, p = "relevé à la main le", v.quoted(t)
	}
	if p != nil {
		f.Quote, f.Place = p.Quote, &source{Text: hostOf(p.URL), Href: quotationURL(t, p)}
	}
	return f
}

// quoted returns the quotation of a price that somebody read, with the last look at it, if there was one; nil if there
// is none, or the look did not find it on that day or since.
func (v *view) quoted(t *catalog.Tool) *catalog.Proof {
	p, proofs := &catalog.Proof{Slug: t.Slug, URL: t.PriceSource, Quote: t.PriceQuote}, v.snap.Catalog.Proofs
	if i, ok := slices.BinarySearchFunc(proofs, *p, catalog.CompareProofs); ok {
		p = &proofs[i]
	}
	if p.IsOf(t) && catalog.IsQuoted(p.Quote, t.Pricing, t.Price, t.PriceDisplay) &&
		(p.Result == catalog.Confirmed || p.CheckedAt < t.PriceCheckedAt) {
		return p
	}
	return nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

// quotationURL returns the address of a source with the quotation of a price as a text fragment, at which browsers
// scroll and which they highlight. A directive cannot go over the end of a block: a quotation in several blocks has
// one for each, with the words before and behind, first the one for the block with the amount. While nobody knows its
// blocks, it has one for all its words and one for the amount with the words before and behind, which may be in others.
func quotationURL(t *catalog.Tool, p *catalog.Proof) string {
	blocks := []string{p.Quote}
	if p.Result == catalog.Confirmed && p.Found != "" {
		blocks = strings.Split(p.Found, "\n")
	}
	var directives []string
	for i, block := range blocks {
		directive := "text="
		if i > 0 {
			directive += escapeDirective(blocks[i-1]) + "-,"
		}
		directive += escapeDirective(block)
		if i < len(blocks)-1 {
			directive += ",-" + escapeDirective(blocks[i+1])
		}
		at := len(directives)
		if catalog.Quotes(block, t.Price) || catalog.Quotes(block, t.PriceDisplay) {
			at = 0
		}
		directives = slices.Insert(directives, at, directive)
	}
	if p.Result != catalog.Confirmed {
		directives = append(directives, amountDirectives(t, p.Quote)...)
	}
	if !strings.Contains(p.URL, "#") {
		return p.URL + "#:~:" + strings.Join(directives, "&")
	}
	return p.URL + ":~:" + strings.Join(directives, "&")
}

// amountDirectives returns the directive for the amount in a quotation of several words; none if it is not there.
func amountDirectives(t *catalog.Tool, quote string) []string {
	words := strings.Fields(quote)
	for size := 1; size < len(words); size++ {
		for at := range len(words) - size + 1 {
			end := at + size
			amount := strings.Join(words[at:end], " ")
			if !catalog.Quotes(amount, t.Price) && !catalog.Quotes(amount, t.PriceDisplay) {
				continue
			}
			if end < len(words) && words[end] == "€" {
				amount, end = amount+" €", end+1
			}
			directive := "text="
			if at > 0 {
				directive += escapeDirective(strings.Join(words[:at], " ")) + "-,"
			}
			directive += escapeDirective(amount)
			if end < len(words) {
				directive += ",-" + escapeDirective(strings.Join(words[end:], " "))
			}
			return []string{directive}
		}
	}
	return nil
}

// escapeDirective escapes a part of a text directive, where "-", "," and "&" have a meaning.
func escapeDirective(text string) string {
	return strings.NewReplacer("+", "%20", "-", "%2D").Replace(url.QueryEscape(text))
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
