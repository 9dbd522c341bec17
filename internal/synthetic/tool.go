package synthetic

import (
	"slices"

	"palmares/internal/catalog"
)

// tool invents one tool; earlier are those of the same catalogue before it.
func (m *maker) tool(earlier []catalog.Tool) catalog.Tool {
	name, slug := m.name(earlier)
	slug = m.claim(slug)
	k := &trades[m.below(len(trades))]
	day := m.between(daysCovered-900, daysCovered-1) // nothing about the tool is newer
	now := m.offer()
	t := catalog.Tool{
		Slug: slug, Name: name, Domain: slug + ".example", Category: k.slug,
		ICP: "mixte", Pricing: now.pricing, Price: now.price, Tier: 3,
		PriceHistory: m.history(now, day),
	}
	if m.chance(45) {
		t.ICP = pick(m, catalog.ICPs)
	}
	mean, known := 62, 4 // tenths of a point, percent of mainstream tools
	switch n := m.below(100); {
	case n < 1:
		t.Tier, mean, known = 1, 82, 60
	case n < 15:
		t.Tier, mean, known = 2, 70, 30
	}
	t.Mainstream = m.chance(known)
	if m.chance(85) {
		t.Score = m.figure(mean)
		if m.chance(92) {
			t.Verifiability = m.figure(58)
		}
		if m.chance(90) {
			t.TestedAt = m.days[day-m.below(200)]
		}
	}
	if m.chance(80) {
		t.Obsolescence = m.figure(40)
	}
	if m.chance(92) {
		t.UpdatedAt = m.days[day]
	}
	if m.chance(70) {
		t.PriceCheckedAt = m.days[day-m.below(15)] // after the last change
	}
	if m.chance(3) {
		t.CanonicalURL = "https://" + t.Domain + "/fr/"
	}
	if m.chance(2) {
		t.ReviewURL = "https://avis.synthetique.example/" + slug
	}
	if m.chance(2) {
		t.AlternativesURL = "https://synthetique.example/categories/" + k.slug + "?sauf=" + slug
	}
	for range m.below(4) {
		source := "https://" + pick(m, sources) + "/" + slug
		if !slices.Contains(t.Sources, source) {
			t.Sources = append(t.Sources, source)
		}
	}
	if m.chance(2) {
		t.Aliases = append(t.Aliases, m.claim(slug+"-beta"))
		if m.chance(40) {
			_, former := m.name(nil)
			t.Aliases = append(t.Aliases, m.claim(former))
		}
		slices.Sort(t.Aliases)
	}
	about := subject{trade: k, name: name, price: now.price}
	t.Tagline = m.line(pick(m, k.taglines), about)
	reviewed := 6 // percent; few write about what they did not test
	if t.Score != nil {
		reviewed = 70
	}
	if m.chance(reviewed) {
		t.Body = m.review(about, t.Score)
	}
	return t
}

// figure draws a mark from 0 to 10 with one decimal, bell-shaped around a mean
// in tenths. One in a hundred may be anything, so that both ends occur.
func (m *maker) figure(mean int) *float64 {
	tenths := m.below(101)
	if m.below(100) > 0 {
		tenths = mean
		for range 4 {
			tenths += m.between(-11, 11)
		}
	}
	mark := float64(min(max(tenths, 0), 100)) / 10
	return &mark
}
