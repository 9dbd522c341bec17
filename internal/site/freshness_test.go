package site_test

import (
	"strings"
	"testing"

	"palmares/internal/catalog"
)

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
		{name: "read too long ago", read: "2026-08-03", want: "non confirmé depuis le 3 août 2026"},
		{name: "confirmed", read: "2026-08-03", confirmed: "2026-08-04", want: "confirmé le 4 août 2026 sur aube.example/tarifs"},
		{name: "confirmed too long ago", confirmed: "2026-08-03", want: "non confirmé depuis le 3 août 2026"},
		{name: "read after it was confirmed", read: "2026-10-20", confirmed: "2026-10-10", want: "relevé à la main le 20 octobre 2026"},
		{name: "confirmed too long ago for the catalogue", confirmed: "2026-10-02", change: func(c *catalog.Catalog) { c.Settings.PriceMaxAge = &month }, want: "non confirmé depuis le 2 octobre 2026"},
		{name: "read and confirmed before it changed", read: "2026-08-03", confirmed: "2026-10-10", change: func(c *catalog.Catalog) {
			c.Tools[0].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-10-11", OldPricing: "payant", OldPrice: "9 €/mois", NewPricing: "payant", NewPrice: "12 €/mois"}}
		}},
		{name: "confirmed on the day on which it changed, and not since", read: "2026-10-11", confirmed: "2026-10-11", change: func(c *catalog.Catalog) {
			c.Proofs[0].Result = "changed"
			c.Tools[0].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-10-11", OldPricing: "payant", OldPrice: "9 €/mois", NewPricing: "payant", NewPrice: "12 €/mois"}}
		}, want: "relevé à la main le 11 octobre 2026"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := tested()
			c.Tools[0].PriceCheckedAt = test.read
			if test.confirmed != "" {
				at := test.confirmed + "T02:00:00Z"
				c.Proofs = []catalog.Proof{{Slug: "aube", Result: catalog.Confirmed, CheckedAt: at, ConfirmedAt: at, URL: "https://aube.example/tarifs"}}
			}
			if test.change != nil {
				test.change(c)
			}
			s := open(t, c)
			short, _, _ := strings.Cut(test.want, " sur ")
			for path, want := range map[string]string{
				"/outils/aube": "Prix " + test.want, "/avis/aube": "Prix " + test.want, "/outils/aube.md": "prix " + test.want, "/prix": short, "/prix.md": short,
			} {
				body := plain(s.get(path).ok().body)
				if test.want != "" && !strings.Contains(body, want) {
					t.Errorf("%s does not say %q", path, want)
				}
				for _, other := range []string{"relevé à la main", "non confirmé", " confirmé le"} {
					if strings.Contains(body, other) && !strings.Contains(" "+test.want, other) {
						t.Errorf("%s says %q", path, other)
					}
				}
			}
		})
	}
}
