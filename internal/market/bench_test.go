package market_test

import (
	"fmt"
	"testing"

	"palmares/internal/market"
	"palmares/internal/synthetic"
)

// BenchmarkMarket computes what the first page of a version that needs it waits for.
func BenchmarkMarket(b *testing.B) {
	for _, tools := range []int{2000, 100_000} {
		c := synthetic.Catalog(tools, 1)
		b.Run(fmt.Sprintf("Maps/%d", tools), func(b *testing.B) {
			for b.Loop() {
				market.NewMaps(c)
			}
		})
		b.Run(fmt.Sprintf("Trends/%d", tools), func(b *testing.B) {
			for b.Loop() {
				market.NewTrends(c, "2026-06-30")
			}
		})
	}
}
