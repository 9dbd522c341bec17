package synthetic

import (
	"fmt"
	"slices"
	"strconv"

	"palmares/internal/catalog"
)

// tool generates the next tool of a catalogue.
func (m *generator) tool(c *catalog.Catalog) *catalog.Tool {
	name, slug := m.name()
	if len(c.Tools) > 0 && m.below(200) == 0 { // the name of another
		twin := pick(m, c.Tools)
		name, slug = twin.Name, twin.Slug
	}
	slug = m.unique(slug)
	k := pick(m, c.Categories)
	day := m.between(daysCovered-900, daysCovered-1) // the newest date of the tool
	t := &catalog.Tool{
		Slug: slug, Name: name, Domain: slug + ".example", Category: k.Slug, Tier: 3, Authors: m.authors(),
		Usages: m.usages(k),
	}
	t.Pricing, t.Price = m.offer()
	t.PriceHistory = m.history(t.Pricing, t.Price, day)
	if m.chance(45) {
		t.ICP = pick(m, catalog.ICPs)
	}
	if m.chance(92) {
		t.UpdatedAt = m.days[day]
	}
	m.addRare(t)
	reviewed := 6 // percent; few untested tools have a review
	if m.chance(85) {
		reviewed = 70
		m.addTest(k, t, day)
	}
	about := subject{category: k.Slug, name: name, price: t.Price}
	t.Tagline = m.sentences(k.Slug+" taglines", about, 1)
	if m.chance(reviewed) {
		t.Body = m.review(about, t.Score)
	}
	return t
}

// addRare sets what few tools have.
func (m *generator) addRare(t *catalog.Tool) {
	if m.chance(12) {
		t.Plans = []catalog.PlanRow{
			{Name: "Découverte", Price: "0 €"},
			{Name: "Équipe", Price: t.Price, Note: "facturé à l’année"},
			{Name: "Groupe", Price: "sur devis"},
		}
		t.AddedAt, t.PriceDisplay = m.days[0], "Dès "+t.Price
	}
	if len(t.PriceHistory) > 0 && m.chance(4) {
		t.PriceHistoryMode = catalog.HistoryReplace
	}
	for range m.below(4) {
		source := "https://" + pick(m, texts["sources"]) + "/" + t.Slug
		if !slices.Contains(t.Sources, source) {
			t.Sources = append(t.Sources, source)
		}
	}
	site := "https://" + t.Domain
	if m.chance(10) {
		t.PriceSource, t.PriceQuote = site+"/tarifs", "Pro : "+t.Price
	}
	if m.chance(3) {
		t.AffiliateURL, t.TitleTag, t.Description = site+"/?partenaire=synthetique", t.Name+", testé", "Tout sur "+t.Name+"."
		t.CanonicalURL, t.ReviewURL, t.AlternativesURL = site+"/fr/", site+"/avis", site+"/rivaux"
	}
	if t.Pricing != "gratuit" && m.chance(3) { // so far ahead that it does not happen
		t.Announced = []catalog.Announcement{{From: "2099-01-01", Price: "99 €/mois", PriceSource: site, PriceQuote: "99 €/mois"}}
	}
	if m.chance(2) {
		t.Aliases = append(t.Aliases, m.unique(t.Slug+"-beta"))
		if m.chance(40) {
			t.Aliases = append(t.Aliases, m.unique(t.Slug+"-alpha"))
			t.FirstSlug = t.Aliases[0]
		}
		slices.Sort(t.Aliases)
	}
}

// addTest sets the figures of a tested tool, and what its test says.
func (m *generator) addTest(k catalog.Category, t *catalog.Tool, day int) {
	mean, mainstream := 62, 4 // tenths of a point, percent
	switch n := m.below(100); {
	case n < 1:
		t.Tier, mean, mainstream = 1, 82, 60
	case n < 15:
		t.Tier, mean, mainstream = 2, 70, 30
	}
	t.Mainstream, t.Score, t.TestedAt = m.chance(mainstream), m.figure(mean), m.days[day-m.below(200)]
	t.Summary, t.Access = pick(m, texts["verdicts"]), pick(m, catalog.Accesses)
	t.Pros, t.Cons = some(m, texts["pros"]), some(m, texts["cons"])
	if m.chance(92) {
		t.Verifiability, t.Obsolescence = m.figure(58), m.figure(40)
		t.PriceCheckedAt = m.days[day-m.below(15)] // after the last price change
	}
	if m.chance(40) {
		t.TestedVersion, t.TestedPlan = pick(m, []string{"1.4", "2.0 bêta", "2026-03"}), "Équipe"
	}
	if m.chance(5) {
		t.Interests, t.Protocol = "L’éditeur de "+t.Name+" est un ancien annonceur.", "2"
	}
	for _, x := range k.Criteria {
		if !m.chance(90) {
			continue
		}
		v := catalog.Value{Name: x.Slug, Number: *m.figure(62)}
		switch x.Is() {
		case catalog.KindYesNo:
			v.Number, v.IsFlag = float64(m.below(2)), true
		case catalog.KindMeasure:
			v.Number = float64(m.between(5, 220)) / 10
		}
		t.Criteria = append(t.Criteria, v)
	}
	slices.SortFunc(t.Criteria, catalog.Value.Compare)
	before := m.days[m.between(daysCovered-1500, daysCovered-1000)]
	if v, ok := t.Criteria.Of("exactitude"); ok && m.chance(10) {
		old := catalog.Value{Name: v.Name, Number: *m.figure(55)}
		t.CriteriaHistory = []catalog.CriteriaChange{{ChangedAt: before, Old: catalog.Values{old}, New: catalog.Values{v}}}
	}
	if m.chance(20) {
		t.ScoreNote = pick(m, texts["score notes"])
		t.ScoreHistory = []catalog.ScoreChange{{ChangedAt: before, OldScore: m.figure(60), NewScore: t.Score, Note: t.ScoreNote}}
		t.ScoreHistoryMode = catalog.HistoryMode(m.chance(10))
	}
}

// offer returns the price of a tool at one time.
func (m *generator) offer() (pricing catalog.Pricing, price string) {
	pricing = pick(m, []catalog.Pricing{"gratuit", "payant", "payant", "freemium", "freemium"})
	if pricing == "gratuit" || m.chance(8) && pricing == "freemium" {
		return pricing, "0 €/mois"
	}
	switch n := m.below(100); {
	case n < 20:
		return pricing, m.amount(40, 4800) + " €/an"
	case n < 40:
		return pricing, m.amount(5, 90) + " €/utilisateur/mois"
	case n < 44:
		return pricing, m.amount(1, 30) + " €/" + pick(m, []string{"crédit", "heure", "siège/an"})
	case n < 46: // enterprise contracts
		return pricing, m.amount(12_000, 95_000) + " €/an"
	}
	return pricing, m.amount(3, 120) + pick(m, []string{"", "", "", ",99", ",90", ",5"}) + " €/mois"
}

// amount returns a number, with one of the separators of thousands.
func (m *generator) amount(low, high int) string {
	n := m.between(low, high)
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d%s%03d", n/1000, pick(m, []string{" ", " ", "\u00a0", "\u202f", ""}), n%1000)
}

// history generates the price history that leads to an offer, newest first, all of
// it before day.
func (m *generator) history(pricing catalog.Pricing, price string, day int) (changes []catalog.PriceChange) {
	if !m.chance(30) {
		return nil
	}
	for range m.between(1, 3) {
		day -= m.between(15, 240)
		oldPricing, oldPrice := m.offer()
		if oldPricing == pricing && oldPrice == price {
			continue
		}
		changes = append(changes, catalog.PriceChange{
			ChangedAt: m.days[day], OldPricing: oldPricing, OldPrice: oldPrice, NewPricing: pricing, NewPrice: price,
		})
		pricing, price = oldPricing, oldPrice
	}
	return changes
}
