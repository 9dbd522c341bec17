package synthetic

import (
	"slices"

	"palmares/internal/catalog"
)

// The draws of the functions below are in a fixed order: any other order is another
// catalogue.

// tool generates one tool; earlier are the previous tools of the catalogue.
func (m *generator) tool(earlier []*catalog.Tool) *catalog.Tool {
	name, slug := m.name(earlier)
	slug = m.unique(slug)
	k := &fields[m.below(len(fields))]
	day := m.between(daysCovered-900, daysCovered-1) // the newest date of the tool
	now := m.offer()
	t := &catalog.Tool{
		Slug: slug, Name: name, Domain: slug + ".example", Category: k.slug,
		Pricing: now.pricing, Price: now.price, Tier: 3,
		PriceHistory: m.history(now, day),
	}
	if m.chance(45) {
		t.ICP = pick(m, catalog.ICPs)
	}
	m.addFigures(t, day)
	m.addURLs(t)
	if m.chance(2) {
		t.Aliases = append(t.Aliases, m.unique(slug+"-beta"))
		if m.chance(40) {
			_, former := m.name(nil)
			t.Aliases = append(t.Aliases, m.unique(former))
			t.FirstSlug = slices.Max(t.Aliases)
		}
		slices.Sort(t.Aliases)
	}
	about := subject{field: k, name: name, price: now.price}
	t.Tagline = m.line(pick(m, k.taglines), about)
	reviewed := 6 // percent; few untested tools have a review
	if t.Score != nil {
		reviewed = 70
	}
	if m.chance(reviewed) {
		t.Body = m.review(about, t.Score)
	}
	return t
}

// addFigures sets the tier, the figures and the dates of a tool.
func (m *generator) addFigures(t *catalog.Tool, day int) {
	mean, mainstream := 62, 4 // tenths of a point, percent
	switch n := m.below(100); {
	case n < 1:
		t.Tier, mean, mainstream = 1, 82, 60
	case n < 15:
		t.Tier, mean, mainstream = 2, 70, 30
	}
	t.Mainstream = m.chance(mainstream)
	if m.chance(85) {
		t.Score = m.figure(mean)
		if m.chance(92) {
			t.Verifiability = m.figure(58)
		}
		t.TestedAt = m.days[day-m.below(200)]
	}
	if m.chance(80) {
		t.Obsolescence = m.figure(40)
	}
	if m.chance(92) {
		t.UpdatedAt = m.days[day]
		if len(t.Slug)%7 == 0 { // without another draw
			t.AddedAt = m.days[max(day-400, 0)]
		}
	}
	if m.chance(70) {
		t.PriceCheckedAt = m.days[day-m.below(15)] // after the last price change
	}
}

// addURLs sets the URLs and the sources of a tool.
func (m *generator) addURLs(t *catalog.Tool) {
	if m.chance(3) {
		t.CanonicalURL = "https://" + t.Domain + "/fr/"
	}
	if m.chance(2) {
		t.ReviewURL = "https://avis.synthetique.example/" + t.Slug
	}
	if m.chance(2) {
		t.AlternativesURL = "https://synthetique.example/categories/" + t.Category + "?sauf=" + t.Slug
	}
	for range m.below(4) {
		source := "https://" + pick(m, texts["sources"]) + "/" + t.Slug
		if !slices.Contains(t.Sources, source) {
			t.Sources = append(t.Sources, source)
		}
	}
	// Without a draw, as others follow; what is announced, so far ahead that it does not happen.
	if len(t.Sources) == 2 && len(t.Slug)%4 == 0 {
		t.PriceSource, t.PriceQuote = "https://"+t.Domain+"/tarifs", "Pro : "+t.Price
	}
	if len(t.Sources) == 1 && len(t.Slug)%8 == 0 {
		t.AffiliateURL = "https://" + t.Domain + "/?partenaire=synthetique"
		t.TitleTag, t.Description = t.Name+", testé", "Tout sur "+t.Name+"."
	}
	if len(t.Sources) == 3 && len(t.Slug)%16 == 0 {
		t.Announced = []catalog.Announcement{{From: "2099-01-01", Price: "99 €/mois", PriceSource: "https://" + t.Domain + "/prix", PriceQuote: "99 €/mois"}}
	}
}

// figure returns a figure from 0 to 10 with one decimal, roughly normally
// distributed around a mean in tenths. One in a hundred is uniform, so that both
// ends occur.
func (m *generator) figure(mean int) *float64 {
	tenths := m.below(101)
	if m.below(100) > 0 {
		tenths = mean
		for range 4 {
			tenths += m.between(-11, 11)
		}
	}
	x := float64(min(max(tenths, 0), 100)) / 10
	return &x
}
