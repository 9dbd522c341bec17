package site_test

import (
	"html"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// confirm makes a quotation, which may stand in several blocks, one that was found.
func confirm(c *catalog.Catalog, day, quote, blocks string) {
	t, at := c.Tools[0], day+"T02:00:00Z"
	t.PriceSource, t.PriceQuote = "https://aube.example/tarifs", quote
	c.Proofs = []catalog.Proof{{Slug: t.Slug, URL: t.PriceSource, Quote: quote, Found: blocks, Result: catalog.Confirmed, CheckedAt: at, ConfirmedAt: at}}
}

// The encoding is that of https://wicg.github.io/scroll-to-text-fragment/.
func TestTheLinkToASourceHighlightsTheQuotation(t *testing.T) {
	const unknown = "?" // nobody has looked
	for _, test := range []struct{ quote, blocks, want string }{
		{"Pro 12 €/mois", "", "text=Pro%2012%20%E2%82%AC%2Fmois"},
		{"Pro-plus, 12 € & 1+1 : 5% #x", "", "text=Pro%2Dplus%2C%2012%20%E2%82%AC%20%26%201%2B1%20%3A%205%25%20%23x"},
		{"Pro 12 € par mois", "Pro\n12 €\npar mois", "text=Pro-,12%20%E2%82%AC,-par%20mois&amp;text=Pro,-12%20%E2%82%AC&amp;text=12%20%E2%82%AC-,par%20mois"},
		{"Pro 12 € par mois", unknown, "text=Pro%2012%20%E2%82%AC%20par%20mois&amp;text=Pro-,12%20%E2%82%AC,-par%20mois"},
		{"12€/mois", unknown, "text=12%E2%82%AC%2Fmois"},
	} {
		c := tested()
		confirm(c, "2026-11-01", test.quote, test.blocks)
		if test.blocks == unknown {
			c.Proofs, c.Tools[0].PriceCheckedAt = nil, "2026-11-01"
		}
		s := open(t, c)
		link := "https://aube.example/tarifs#:~:" + test.want
		for _, path := range []string{"/outils/aube", "/avis/aube"} {
			s.get(path).ok().says(`<a href="` + link + `" rel="noopener nofollow">`)
		}
		s.get("/outils/aube.md").ok().says("](<" + html.UnescapeString(link) + ">)")
	}
}

// Nothing is claimed of a source without a quotation.
func TestASourceWithoutAQuotationIsALink(t *testing.T) {
	c := tested()
	c.Tools[0].PriceSource = "https://aube.example/tarifs"
	s := open(t, c)
	s.get("/outils/aube").ok().says(`<li><a href="https://aube.example/tarifs" rel="noopener nofollow">`)
	s.get("/outils/aube.md").ok().says("- Source\u00a0: https://aube.example/tarifs\n")
}

// The day of these catalogues is 2026-11-02.
func TestAPageSaysHowItsPriceIsKnownAndSinceWhenItIsNot(t *testing.T) {
	month := 30.0
	for _, test := range []struct {
		name      string
		read      string // price_checked_at
		confirmed string // the day on which it was found at its source
		change    func(*catalog.Catalog)
		want      string
	}{
		{name: "nothing is known"},
		{name: "read", read: "2026-08-04", want: "relevé à la main le 4 août 2026"},
		{name: "quoted, and not looked at", read: "2026-08-04", confirmed: "2026-08-04", change: func(c *catalog.Catalog) {
			c.Proofs = nil
		}, want: "relevé à la main le 4 août 2026 : « Pro 12 € » sur aube.example"},
		{name: "quoted for another price", read: "2026-08-04", confirmed: "2026-08-04", change: func(c *catalog.Catalog) {
			c.Tools[0].PriceQuote = "Pro 15 €"
		}, want: "relevé à la main le 4 août 2026"},
		{name: "not found on that day", read: "2026-10-11", confirmed: "2026-10-11", change: func(c *catalog.Catalog) {
			c.Proofs[0].Result, c.Proofs[0].ConfirmedAt = catalog.Unreadable, ""
		}, want: "relevé à la main le 11 octobre 2026"},
		{name: "read too long ago", read: "2026-08-03", want: "non confirmé depuis le 3 août 2026"},
		{name: "confirmed", read: "2026-08-03", confirmed: "2026-08-04", want: "confirmé le 4 août 2026 : « Pro 12 € » sur aube.example"},
		{name: "confirmed too long ago", confirmed: "2026-08-03", want: "non confirmé depuis le 3 août 2026"},
		{name: "read after it was confirmed", read: "2026-10-20", confirmed: "2026-10-10", want: "relevé à la main le 20 octobre 2026 : « Pro 12 € » sur aube.example"},
		{name: "confirmed too long ago for the catalogue", confirmed: "2026-10-02", change: func(c *catalog.Catalog) { c.Settings.PriceMaxAge = &month }, want: "non confirmé depuis le 2 octobre 2026"},
		{name: "read before it changed, with the quotation of another price", read: "2026-08-03", confirmed: "2026-10-10", change: func(c *catalog.Catalog) {
			c.Tools[0].Price = "15 €/mois"
			c.Tools[0].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-10-11", OldPricing: "payant", OldPrice: "12 €/mois", NewPricing: "payant", NewPrice: "15 €/mois"}}
		}},
		{name: "confirmed, and not public", confirmed: "2026-10-11", change: func(c *catalog.Catalog) {
			c.Tools[0].Pricing, c.Tools[0].Price = catalog.Paid, catalog.NoPrice
		}, want: "confirmé le 11 octobre 2026 : « Pro 12 € » sur aube.example"},
		{name: "read, not public, and not quoted", read: "2026-10-11", change: func(c *catalog.Catalog) {
			c.Tools[0].Pricing, c.Tools[0].Price = catalog.Paid, catalog.NoPrice
		}},
		{name: "changed since", read: "2026-10-11", confirmed: "2026-10-11", change: func(c *catalog.Catalog) {
			c.Proofs[0].Result, c.Proofs[0].Found = catalog.Changed, "Pro 15 €"
		}, want: "non confirmé depuis le 11 octobre 2026"},
		{name: "read after it changed", read: "2026-10-12", confirmed: "2026-10-11", change: func(c *catalog.Catalog) {
			c.Proofs[0].Result, c.Proofs[0].Found = catalog.Changed, "Pro 15 €"
		}, want: "relevé à la main le 12 octobre 2026 : « Pro 12 € » sur aube.example"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := tested()
			c.Tools[0].PriceCheckedAt = test.read
			if test.confirmed != "" {
				confirm(c, test.confirmed, "Pro 12 €", "")
			}
			if test.change != nil {
				test.change(c)
			}
			s := open(t, c)
			short, _, _ := strings.Cut(test.want, " : ")
			for path, want := range map[string]string{
				"/outils/aube": "Prix " + test.want, "/avis/aube": "Prix " + test.want, "/outils/aube.md": "prix " + strings.Replace(test.want, "aube.example", "[aube.example](", 1), "/prix": short, "/prix.md": short,
			} {
				body := plain(s.get(path).ok().body)
				if test.want != "" && !strings.Contains(body, want) {
					t.Errorf("%s does not say %q", path, want)
				}
				for _, other := range []string{"relevé à la main", "non confirmé", " confirmé le", "« Pro 1"} {
					if strings.Contains(body, other) && !strings.Contains(" "+test.want, other) {
						t.Errorf("%s says %q", path, other)
					}
				}
			}
		})
	}
}
