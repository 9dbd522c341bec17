package catalog_test

import (
	"testing"
	"time"

	"palmares/internal/catalog"
)

func TestAQuotationHasTheAmountHoweverItIsWritten(t *testing.T) {
	for _, test := range []struct {
		quote, price string
		want         bool
	}{
		{"Pro 19 € par mois", "19 €/mois", true},
		{"Pro 19,00 € par mois", "19 €/mois", true},
		{"Pro $19.9 a month", "19,90 €/mois", true},
		{"1.200 € par an", "1 200 €/an", true},
		{"CHF 1’200.–", "1 200 €/an", true},
		{"1 200 € par an", "1 200 €/an", true},
		{"Pack 10 199 €", "199 €/mois", true},
		{"Dès 20 $", "Dès 20 $ par mois", true},
		{"Pro 12€90 par mois", "12,90 €/mois", true},
		{"Pro 12€90 par mois", "Dès 12€90", true},
		{"Pro 12€90 par mois", "12 €/mois", false},
		{"Max 5 €49 par mois", "49 €/mois", true},
		{"Pro 1 € par mois", "100 €/mois", false},
		{"Pro 1900 €", "19 €/mois", false},
		{"Pro 19,99 €", "19 €/mois", false},
		{"Pro 19,99 €", "99 €/mois", false},
		{"Contactez-nous", "19 €/mois", false},
		{"Pro 19 €", "", false},
	} {
		if got := catalog.Quotes(test.quote, test.price); got != test.want {
			t.Errorf("%q has %q: %t", test.quote, test.price, got)
		}
	}
}

func TestAPriceIsConfirmedByItsPresentQuotationAtItsPresentSource(t *testing.T) {
	const source, quote, day = "https://plume.example/tarifs", "Pro 19 € par mois", "2026-11-15"
	for _, test := range []struct {
		name   string
		change func(*catalog.Tool, *catalog.Proof)
		want   string // the day; "" for nothing known
		isOld  bool
	}{
		{"as it is", func(*catalog.Tool, *catalog.Proof) {}, "2026-11-10", false},
		{"never found", func(_ *catalog.Tool, p *catalog.Proof) { p.ConfirmedAt, p.Result = "", catalog.Unreadable }, "", false},
		{"unreadable since", func(_ *catalog.Tool, p *catalog.Proof) { p.Result = catalog.Unreadable }, "2026-11-10", false},
		{"changed since", func(_ *catalog.Tool, p *catalog.Proof) { p.Result = catalog.Changed }, "2026-11-10", true},
		{"gone since", func(_ *catalog.Tool, p *catalog.Proof) { p.Result = catalog.Gone }, "2026-11-10", true},
		{"another source", func(tool *catalog.Tool, _ *catalog.Proof) { tool.PriceSource += "-2027" }, "", false},
		{"another quotation", func(tool *catalog.Tool, _ *catalog.Proof) { tool.PriceQuote += " et par personne" }, "", false},
		{"no quotation", func(tool *catalog.Tool, p *catalog.Proof) { tool.PriceQuote, p.Quote = "", "" }, "", false},
		{"another price, the same quotation", func(tool *catalog.Tool, _ *catalog.Proof) { tool.Price = "25 €/mois" }, "", false},
		{"another currency", func(tool *catalog.Tool, _ *catalog.Proof) { tool.Price, tool.PriceDisplay = "17 €/mois", "19 $/mois" }, "2026-11-10", false},
		{"not public", func(tool *catalog.Tool, _ *catalog.Proof) { tool.Price = catalog.NoPrice }, "2026-11-10", false},
		{"the history has the day of a later publication", func(tool *catalog.Tool, _ *catalog.Proof) {
			tool.PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-11-12", OldPricing: "payant", OldPrice: "15 €/mois", NewPricing: "payant", NewPrice: "19 €/mois"}}
		}, "2026-11-10", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool := &catalog.Tool{Slug: "plume", Category: "code", Pricing: "payant", Price: "19 €/mois", PriceSource: source, PriceQuote: quote}
			p := catalog.Proof{Slug: "plume", URL: source, Quote: quote, Result: catalog.Confirmed, CheckedAt: "2026-11-14T03:00:00Z", ConfirmedAt: "2026-11-10T03:00:00Z"}
			test.change(tool, &p)
			c := &catalog.Catalog{Tools: []*catalog.Tool{tool}, Proofs: []catalog.Proof{p}}
			if got := c.FreshnessOf(tool, day); got.Day != test.want || got.IsOld != test.isOld || (got.Proof == nil) != (test.want == "") {
				t.Errorf("got %+v", got)
			}
			isConfirmed := test.want != "" && p.Result == catalog.Confirmed && tool.Price != catalog.NoPrice
			if all, _ := c.ConfirmedPrices(day); (all.Within30 == 1) != isConfirmed {
				t.Errorf("%d prices are confirmed", all.Within30)
			}
		})
	}
}

// On its day an announced price has the words that announced it. Those of the former price go in any case.
func TestAnAnnouncedPriceComesWithItsQuotation(t *testing.T) {
	const old = "https://plume.example/tarifs"
	for _, test := range []struct {
		name string
		a    catalog.Announcement
		want [3]string // source, quotation, day
	}{
		{"quoted", catalog.Announcement{Price: "25 €/mois", PriceSource: old + "-2027", PriceQuote: "25 € en 2027", PriceCheckedAt: "2026-11-01"}, [3]string{old + "-2027", "25 € en 2027", "2026-11-01"}},
		{"without a quotation", catalog.Announcement{Price: "25 €/mois"}, [3]string{old, "", "2026-10-01"}},
		{"the file says it already", catalog.Announcement{Price: "19 €/mois"}, [3]string{old, "Pro 19 €", "2026-10-01"}},
	} {
		test.a.From = "2027-01-01"
		c := &catalog.Catalog{
			Categories: []catalog.Category{{Slug: "code"}},
			Tools: []*catalog.Tool{{
				Slug: "plume", Category: "code", Pricing: "payant", Price: "19 €/mois", PriceSource: old, PriceQuote: "Pro 19 €", PriceCheckedAt: "2026-10-01",
				Announced: []catalog.Announcement{test.a},
			}},
			Proofs: []catalog.Proof{{Slug: "plume", URL: old, Quote: "Pro 19 €", Result: catalog.Confirmed, CheckedAt: "2026-11-10T03:00:00Z", ConfirmedAt: "2026-11-10T03:00:00Z"}},
		}
		c.Advance(time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC))
		tool := c.Tools[0]
		if got := [3]string{tool.PriceSource, tool.PriceQuote, tool.PriceCheckedAt}; got != test.want || (len(c.Proofs) == 1) != (tool.PriceQuote == "Pro 19 €") {
			t.Errorf("%s: got %q with %d proofs", test.name, got, len(c.Proofs))
		}
	}
}
