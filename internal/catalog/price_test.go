package catalog

import (
	"fmt"
	"testing"
)

func TestPricesPerMonthAndPerYearCanBeCompared(t *testing.T) {
	for price, want := range map[string]float64{
		"18 €/mois":             18,
		"9,99 €/mois":           9.99,
		"14 €/utilisateur/mois": 14,
		"1\u202f200 €/an":       100,
		"240 €/siège/an":        20,
		"0 €/mois":              0,
		"0 €/image":             0,
		"10 €/Mois":             10,
		"10 €/mois/utilisateur": 10,
		"9 €/trimestre":         3,
		"30 €/poste/semestre":   5,
		"9 €/semaine":           39,
	} {
		if got, ok := Monthly("freemium", price); !ok || got != want {
			t.Errorf("%s is %g a month (known: %t), want %g", price, got, ok, want)
		}
	}
	for _, price := range []string{"0,04 €/image", "1 €/jour", "5 €/an/mois", "5 €/heure", "sur devis", ""} {
		if got, ok := Monthly("freemium", price); ok {
			t.Errorf("%q is %g a month", price, got)
		}
	}
}

func TestWhatCostsLessThanACentIsNotFree(t *testing.T) {
	for price, want := range map[string]float64{"0,004 €/mois": 0.004, "0,00456 €/mois": 0.0046, "0,014 €/mois": 0.01} {
		if got := (&Tool{Pricing: "freemium", Price: price}).EurosPerMonth(); got == nil || *got != want {
			t.Errorf("%s is %v a month, want %g", price, got, want)
		}
	}
}

func TestAPriceSaysWhatItIsForBesidesItsTime(t *testing.T) {
	for price, want := range map[string]string{
		"18 €/mois": "", "14 €/utilisateur/mois": "utilisateur", "14 €/mois/poste": "poste", "1 €/poste/site/an": "poste/site", "1 €/minute": "", "sur devis": "",
	} {
		if got := Each(price); got != want {
			t.Errorf("%s is for %q, want %q", price, got, want)
		}
	}
}

func TestAPriceIsReadInTheCurrencyThatItIsShownIn(t *testing.T) {
	for display, want := range map[string]string{
		"": "18.5 mois EUR true", "Dès 18,50 €": "18.5 mois EUR true", "20 $/mois": "20 mois USD true",
		"1 200,50\u00a0£/utilisateur/an, environ 1 400 €": "1200.5 utilisateur/an GBP true", "25 CHF/mois": "25 mois CHF true",
		"£10/mois": "10 mois GBP true", "$ 1.50 per month": "1.5 mois USD true", "20\u00a0$ par mois": "20 mois USD true", "USD 1 200/year": "1200 an USD true",
	} {
		tool := Tool{Pricing: Paid, Price: "18,50 €/mois", PriceDisplay: display}
		amount, period, code, ok := tool.Asked()
		if got := fmt.Sprint(amount, " ", period, " ", code, " ", ok); got != want {
			t.Errorf("%q is %s, not %s", display, got, want)
		}
	}
	for _, display := range []string{"20 $ CA/mois", "dès 20 $", "20 dollars par mois", "3 000 ¥/mois", "1 000 ₹/mois", "US$20"} {
		tool := Tool{Pricing: Paid, Price: "18,50 €/mois", PriceDisplay: display}
		if amount, _, code, ok := tool.Asked(); ok {
			t.Errorf("%q is read as %v %s", display, amount, code)
		}
	}
}
