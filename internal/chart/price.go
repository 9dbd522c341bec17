package chart

import (
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
)

// PerMonth says what a price amounts to per month, which it must have: 29 € par mois et par
// utilisateur.
func PerMonth(price string) string {
	euros, _ := catalog.Monthly(price)
	if euros == 0 {
		return "gratuit"
	}
	text := french.Euros(euros)
	if euros < 0.01 || euros >= 1e15 {
		text = french.ShortEuros(euros)
	}
	text += " par mois"
	if each := Each(price); each != "" {
		text += " et par " + each
	}
	return text
}

// Each returns what a price per month is for besides, in words: utilisateur.
func Each(price string) string {
	if catalog.IsFree(price) {
		return ""
	}
	return strings.ReplaceAll(catalog.Each(price), "/", " et par ")
}
