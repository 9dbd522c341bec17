package french_test

import (
	"testing"

	"palmares/internal/french"
)

func TestNumbersDatesAndPricesAreFrench(t *testing.T) {
	for got, want := range map[string]string{
		french.Date("2026-03-01"):                "1er\u00a0mars 2026",
		french.Date("2026-08-14"):                "14\u00a0août 2026",
		french.Date("bientôt"):                   "bientôt",
		french.Count(999):                        "999",
		french.Count(1234567):                    "1\u202f234\u202f567",
		french.Figure(8):                         "8,0",
		french.Figure(7.256):                     "7,26",
		french.Plural(0, "outil", "outils"):      "0\u00a0outil",
		french.Plural(1, "outil", "outils"):      "1\u00a0outil",
		french.Plural(1000, "outil", "outils"):   "1\u202f000\u00a0outils",
		french.Price("1 234,50 €/mois"):          "1\u202f234,50\u00a0€/mois",
		french.Price("sur devis"):                "sur devis",
		french.Bytes(320):                        "320\u00a0o",
		french.Bytes(12_345):                     "12,3\u00a0ko",
		french.Bytes(999_960):                    "1,0\u00a0Mo",
		french.Bytes(4_496_000_000):              "4\u202f496,0\u00a0Mo",
		french.Euros(18):                         "18\u00a0€",
		french.Euros(7.5):                        "7,50\u00a0€",
		french.Euros(1199.999):                   "1\u202f200\u00a0€",
		french.ShortEuros(0):                     "gratuit",
		french.ShortEuros(0.004):                 "<\u00a00,01\u00a0€",
		french.ShortEuros(7.5):                   "7,50\u00a0€",
		french.ShortEuros(2_600_000):             "3\u00a0M€",
		french.ShortEuros(4e9):                   "4\u00a0Md€",
		french.Capital("payant"):                 "Payant",
		french.Capital("") + french.Capital("a"): "A",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
