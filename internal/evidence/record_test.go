package evidence

import (
	"testing"
	"time"

	"palmares/internal/catalog"
)

func TestOneProofOfAPriceIsKept(t *testing.T) {
	const prices, other = "https://plume.example/tarifs", "https://plume.example/offres#pro"
	day := func(n int) time.Time { return time.Date(2026, 11, n, 3, 0, 0, 0, time.UTC) }
	seen := func(url string, n int, result Result, price string) Proof {
		p := Proof{Slug: "plume", URL: url, CheckedAt: day(n), Result: result, Price: price}
		if result == Confirmed {
			p.ConfirmedAt = day(n)
		}
		return p
	}
	for _, test := range []struct {
		name   string
		change func(*catalog.Tool)
		proofs []Proof
		want   string
	}{
		{"a confirmed price", nil, []Proof{seen(prices, 2, Confirmed, "19 €/mois")}, "confirmed 2026-11-02T03:00:00Z " + prices},
		{"the newest of several", nil, []Proof{seen(other, 1, Confirmed, "19 €/mois"), seen(prices, 2, Gone, "")}, "gone 2026-11-02T03:00:00Z " + prices},
		{"the newest of several, in any order", nil, []Proof{seen(other, 3, Confirmed, "19 €/mois"), seen(prices, 2, Gone, "")}, "confirmed 2026-11-03T03:00:00Z https://plume.example/offres"},
		{"the page of the price", func(t *catalog.Tool) { t.PriceSource = prices }, []Proof{seen(other, 3, Gone, ""), seen(prices, 2, Confirmed, "19 €/mois")}, "confirmed 2026-11-02T03:00:00Z " + prices},
		{"a price that was not written", nil, []Proof{seen(prices, 2, Confirmed, "")}, "confirmed 2026-11-02T03:00:00Z " + prices},
		{"the same price, in words", func(t *catalog.Tool) { t.PriceDisplay = "à « vie »" }, []Proof{seen(prices, 2, Confirmed, "19 €/mois; à « vie »")}, "confirmed 2026-11-02T03:00:00Z " + prices},
		{"other words since", func(t *catalog.Tool) { t.PriceDisplay = "30 $" }, []Proof{seen(prices, 2, Confirmed, "19 €/mois; 20 $")}, ""},
		{"another plan since", func(t *catalog.Tool) { t.PriceSourceHint = "Max" }, []Proof{seen(prices, 2, Confirmed, "19 €/mois; ; Pro")}, ""},
		{"the same plan", func(t *catalog.Tool) { t.PriceSourceHint = "Pro" }, []Proof{seen(prices, 2, Confirmed, "19 €/mois; ; Pro")}, "confirmed 2026-11-02T03:00:00Z " + prices},
		{"a longer price since", func(t *catalog.Tool) { t.Price = "19 €/mois" }, []Proof{seen(prices, 2, Confirmed, "19 €/mois/utilisateur")}, ""},
		{"another price since", func(t *catalog.Tool) { t.Price = "22 €/mois" }, []Proof{seen(prices, 2, Confirmed, "19 €/mois")}, ""},
		{"a source that is no more", func(t *catalog.Tool) { t.Sources = nil }, []Proof{seen(prices, 2, Confirmed, "19 €/mois")}, ""},
		{"a price on request", func(t *catalog.Tool) { t.Price = "0 €/mois" }, []Proof{seen(prices, 2, Confirmed, "")}, ""},
		{"a tool that is no more", func(t *catalog.Tool) { t.Slug = "stylo" }, []Proof{seen(prices, 2, Confirmed, "19 €/mois")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool := &catalog.Tool{Slug: "plume", Domain: "plume.example", Pricing: "payant", Price: "19 €/mois", Sources: []string{prices, other}}
			if test.change != nil {
				test.change(tool)
			}
			c := &catalog.Catalog{Tools: []*catalog.Tool{tool}}
			for _, p := range test.proofs {
				kept := catalog.Proof{Slug: p.Slug, Result: string(p.Result), CheckedAt: catalog.FormatTime(p.CheckedAt), URL: p.URL}
				if !p.ConfirmedAt.IsZero() {
					kept.ConfirmedAt = catalog.FormatTime(p.ConfirmedAt)
				}
				Add(c, &kept, p.line())
			}
			got := ""
			for _, p := range c.Proofs {
				got += p.Result + " " + p.CheckedAt + " " + p.URL
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
