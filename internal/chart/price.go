package chart

import (
	"cmp"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// Price returns a price of the catalogue as visitors see it.
func Price(pricing catalog.Pricing, price string) string {
	if !catalog.IsPublic(pricing, price) {
		return "Sur devis"
	}
	return french.Price(price)
}

// PriceOf returns a price that a tool has or had as visitors see it. That of a tool whose price is in
// another currency is known only as what it was converted to.
func PriceOf(t *catalog.Tool, pricing catalog.Pricing, price string) string {
	return About(t, Price(pricing, price), catalog.IsFree(price))
}

// PricesOf returns the prices before and after a change as visitors saw them, the amounts in euros besides if only
// these changed.
func PricesOf(t *catalog.Tool, e *catalog.PriceChange) (old, now string) {
	old, now = PriceOf(t, e.OldPricing, e.OldPrice), PriceOf(t, e.NewPricing, e.NewPrice)
	if e.IsConversion() {
		shown := markdown.NoBreak(e.NewDisplay)
		return shown + ", " + old, shown + ", " + now
	}
	return markdown.NoBreak(cmp.Or(e.OldDisplay, old)), markdown.NoBreak(cmp.Or(e.NewDisplay, now))
}

// About returns an amount of a tool in euros, which is approximate unless it is nothing or the tool has
// its price in euros. It may break behind environ: some columns are narrow on a phone.
func About(t *catalog.Tool, amount string, isFree bool) string {
	if t.IsConverted() && !isFree {
		return "environ " + amount
	}
	return amount
}

// PerMonth says what a tool costs per month, which it must have: 29 € par mois et par
// utilisateur.
func PerMonth(t *catalog.Tool) string {
	euros, _ := catalog.Monthly(t.Pricing, t.Price)
	if euros == 0 {
		return "gratuit"
	}
	text := french.Euros(euros)
	if euros < 0.01 || euros >= 1e15 {
		text = french.ShortEuros(euros)
	}
	text = About(t, text, false) + " par mois"
	if each := Each(t.Price); each != "" {
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
