package dataapi_test

import (
	"testing"
	"time"

	"palmares/internal/catalog"
)

// Only what the last look confirmed counts, for the price that is recorded now.
func TestTheFigureOfConfirmedPricesCannotBeEmbellished(t *testing.T) {
	now := time.Now()
	ago := func(days int) string { return catalog.FormatTime(now.AddDate(0, 0, -days)) }
	for _, test := range []struct {
		name                 string
		proof                catalog.Proof
		change               func(*catalog.Tool)
		prices, month, three int
	}{
		{name: "nothing was seen", prices: 3},
		{name: "today", proof: catalog.Proof{Result: "confirmed", ConfirmedAt: ago(0)}, prices: 3, month: 1, three: 1},
		{name: "thirty days", proof: catalog.Proof{Result: "confirmed", ConfirmedAt: ago(30)}, prices: 3, month: 1, three: 1},
		{name: "31 days", proof: catalog.Proof{Result: "confirmed", ConfirmedAt: ago(31)}, prices: 3, three: 1},
		{name: "91 days", proof: catalog.Proof{Result: "confirmed", ConfirmedAt: ago(91)}, prices: 3},
		{name: "changed since", proof: catalog.Proof{Result: "changed", ConfirmedAt: ago(1)}, prices: 3},
		{name: "unreadable since", proof: catalog.Proof{Result: "unreadable", ConfirmedAt: ago(1)}, prices: 3},
		{name: "never", proof: catalog.Proof{Result: "gone"}, prices: 3},
		{
			name: "another price since", proof: catalog.Proof{Result: "confirmed", ConfirmedAt: ago(2)}, prices: 3,
			change: func(tool *catalog.Tool) { tool.Price = "9999 €/mois" },
		},
		{
			name: "on request", proof: catalog.Proof{Result: "confirmed", ConfirmedAt: ago(2)}, prices: 2,
			change: func(tool *catalog.Tool) { tool.Pricing, tool.Price = "payant", "0 €/mois" },
		},
		{
			name: "read by somebody", prices: 3,
			change: func(tool *catalog.Tool) { tool.PriceCheckedAt = ago(0)[:10] },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := small()
			if p := test.proof; p.Result != "" {
				p.Slug, p.CheckedAt, p.URL, p.Quote = "a", ago(0), "https://a.example/prix", "Pro : "+c.Tools[0].Price
				c.Tools[0].PriceSource, c.Tools[0].PriceQuote = p.URL, p.Quote
				c.Proofs = []catalog.Proof{p}
			}
			if test.change != nil {
				test.change(c.Tools[0])
			}
			var got struct {
				Data struct {
					catalog.ConfirmedPrices
					Categories []struct {
						Slug string
						catalog.ConfirmedPrices
					}
				}
				Meta struct{ Day string }
			}
			serve(t, c, nil).get("/data/v1/freshness").OK().Into(&got)
			want := catalog.ConfirmedPrices{Prices: test.prices, Within30: test.month, Within90: test.three}
			if got.Data.ConfirmedPrices != want || len(got.Data.Categories) != 1 || got.Data.Categories[0].ConfirmedPrices != want ||
				got.Data.Categories[0].Slug != "code" || got.Meta.Day != catalog.Day(now) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
