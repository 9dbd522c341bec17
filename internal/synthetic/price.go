package synthetic

import (
	"strconv"

	"palmares/internal/catalog"
)

// An offer is the price of a tool at one time.
type offer struct {
	pricing catalog.Pricing
	price   string
}

func (m *generator) offer() offer {
	pricing := catalog.Pricing("freemium")
	switch n := m.below(100); {
	case n < 18:
		pricing = "gratuit"
	case n < 50:
		pricing = "payant"
	}
	return offer{pricing, m.price(pricing)}
}

// price generates prices in every form that catalog.IsPrice accepts.
func (m *generator) price(pricing catalog.Pricing) string {
	if pricing == "gratuit" || pricing == "freemium" && m.chance(15) {
		return "0 €/mois"
	}
	low, high, period := 3, 120, "mois"
	switch n := m.below(100); {
	case n < 20:
		low, high, period = 40, 4800, "an"
	case n < 38:
		low, high, period = 5, 90, "utilisateur/mois"
	case n < 42:
		low, high, period = 1, 30, pick(m, []string{"crédit", "heure", "siège/an"})
	case n < 44: // enterprise contracts
		low, high, period = 12_000, 1_500_000, "an"
	}
	amount := m.group(m.between(low, high))
	if high <= 120 && m.chance(40) {
		amount += pick(m, []string{",99", ",90", ",50", ",5"})
	}
	return amount + " €/" + period
}

// group formats a number with one of the three thousands separators, or sometimes
// none.
func (m *generator) group(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	space := pick(m, []string{" ", " ", "\u00a0", "\u202f", ""})
	digits := strconv.Itoa(n)
	grouped := digits[:(len(digits)-1)%3+1]
	for i := len(grouped); i < len(digits); i += 3 {
		grouped += space + digits[i:i+3]
	}
	return grouped
}

// history generates the price history that leads to an offer, newest first, all of
// it before day.
func (m *generator) history(now offer, day int) []catalog.PriceChange {
	if !m.chance(30) {
		return nil
	}
	changes := make([]catalog.PriceChange, 0, 3)
	for range m.between(1, 3) {
		day -= m.between(15, 240)
		before := m.offer()
		for before == now {
			before = m.offer()
		}
		changes = append(changes, catalog.PriceChange{
			ChangedAt:  m.days[day],
			OldPricing: before.pricing, OldPrice: before.price,
			NewPricing: now.pricing, NewPrice: now.price,
		})
		now = before
	}
	return changes
}
