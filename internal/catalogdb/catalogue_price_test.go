package catalogdb

import (
	stdcmp "cmp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/catalog"
)

func change(day, from, to string) catalog.PriceChange {
	return catalog.PriceChange{ChangedAt: day, OldPricing: "payant", OldPrice: from + " €/mois", NewPricing: "payant", NewPrice: to + " €/mois"}
}

func history(t *testing.T, s *kit, slug string, want ...catalog.PriceChange) {
	t.Helper()
	c := loaded(t, s).Catalog
	now := stdcmp.Or(c.Tool(slug), c.Past[slug], &catalog.Tool{})
	if diff := cmp.Diff(want, now.PriceHistory, cmpopts.IgnoreFields(catalog.PriceChange{}, "Automatic")); diff != "" {
		t.Errorf("price history of %s (-want +got):\n%s", slug, diff)
	}
}

// A price in another currency is kept as it was shown, too, which no document has.
func TestAPriceIsKeptInItsOwnCurrency(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		shown := func(euros, dollars string) *catalog.Catalog {
			a := tool("a", euros+" €/mois")
			a.PriceDisplay = dollars
			return catalogue(a)
		}
		in := func(e catalog.PriceChange, before, since string) catalog.PriceChange {
			e.OldDisplay, e.NewDisplay = before, since
			return e
		}
		publish(t, s, shown("18", "20 $/mois"), monday)
		publish(t, s, shown("21", "22 $/mois"), day(1))
		publish(t, s, shown("22", "25 $/mois"), day(1))
		publish(t, s, shown("23", "25 $/mois"), day(2))
		rise := in(change("2026-11-17", "18", "22"), "20 $/mois", "25 $/mois")
		conversion := in(change("2026-11-18", "22", "23"), "25 $/mois", "25 $/mois")
		history(t, s, "a", conversion, rise)
		if rise.IsConversion() || !conversion.IsConversion() {
			t.Error("which is a conversion?")
		}
		if _, err := s.Catalogue.Publish(t.Context(), catalogue(), PublishOptions{Now: at(day(2)), AllowRemovals: true}); err != nil {
			t.Fatal(err)
		}
		publish(t, s, shown("24", ""), day(3)) // it came back, in euros
		history(t, s, "a", in(change("2026-11-19", "23", "24"), "25 $/mois", ""), conversion, rise)

		publish(t, s, shown("25", "26 $/mois"), day(4))
		publish(t, s, shown("25", "30 $/mois"), day(5)) // with a warning: it is not converted yet
		publish(t, s, shown("25", "30 $/mois"), day(6))
		publish(t, s, shown("29", "30 $/mois"), day(7))
		got := loaded(t, s).Catalog.Tool("a").PriceHistory[0]
		if got != in(automatic(change("2026-11-23", "25", "29")), "26 $/mois", "30 $/mois") {
			t.Errorf("%+v", got)
		}
		other := in(change("2026-11-24", "29", "28"), "30 $/mois", "$30 par mois") // in other words
		if !other.IsConversion() {
			t.Error("other words are another price")
		}
	})
}

func automatic(e catalog.PriceChange) catalog.PriceChange {
	e.Automatic = true
	return e
}

func TestAChangeOfModelAloneIsAPriceChange(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, catalogue(tool("a", "1 €/mois")), monday)
		freemium := tool("a", "1 €/mois")
		freemium.Pricing = "freemium"
		publish(t, s, catalogue(freemium), day(1))
		want := change("2026-11-17", "1", "1")
		want.NewPricing = "freemium"
		history(t, s, "a", want)
	})
}

func TestAPriceHistorySurvivesRetirementAndRemoval(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, catalogue(tool("a", "1 €/mois"), tool("b", "1 €/mois")), monday)
		publish(t, s, catalogue(tool("a", "2 €/mois"), tool("b", "2 €/mois")), day(1))
		first := change("2026-11-17", "1", "2")

		without := catalogue()
		without.Retired = []catalog.Retired{retired("a")}
		if _, err := s.Catalogue.Publish(t.Context(), without, PublishOptions{Now: at(day(2)), AllowRemovals: true}); err != nil {
			t.Fatal(err)
		}
		history(t, s, "a", first)
		history(t, s, "b", first)

		publish(t, s, catalogue(tool("a", "3 €/mois"), tool("b", "3 €/mois")), day(3))
		history(t, s, "a", change("2026-11-19", "2", "3"), first) // it came back at another price
		publish(t, s, catalogue(tool("a", "4 €/mois"), tool("b", "3 €/mois")), day(4))
		history(t, s, "a", change("2026-11-20", "3", "4"), change("2026-11-19", "2", "3"), first)
		if past := loaded(t, s).Catalog.Past; len(past) != 0 {
			t.Errorf("past prices of active tools: %v", past)
		}
	})
}
