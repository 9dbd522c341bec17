package catalog

import "testing"

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

func TestAPriceSaysWhatItIsForBesidesItsTime(t *testing.T) {
	for price, want := range map[string]string{
		"18 €/mois": "", "14 €/utilisateur/mois": "utilisateur", "14 €/mois/poste": "poste", "1 €/poste/site/an": "poste/site", "1 €/minute": "", "sur devis": "",
	} {
		if got := Each(price); got != want {
			t.Errorf("%s is for %q, want %q", price, got, want)
		}
	}
}
