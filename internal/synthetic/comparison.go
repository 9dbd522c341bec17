package synthetic

import (
	"cmp"

	"palmares/internal/catalog"
)

// comparisons generates up to count comparisons between tested tools of the same
// category: pairs that are drawn again are dropped.
func (m *generator) comparisons(tools []*catalog.Tool, count int) []catalog.Comparison {
	var tested []*catalog.Tool
	rivals := make(map[string][]*catalog.Tool, len(fields))
	for i := range tools {
		if t := tools[i]; t.Score != nil {
			tested = append(tested, t)
			rivals[t.Category] = append(rivals[t.Category], t)
		}
	}
	if len(tested) == 0 {
		return nil
	}
	drawn := make(map[string]bool, count)
	var all []catalog.Comparison
	for range count {
		a := pick(m, tested)
		b := pick(m, rivals[a.Category])
		if b.Slug < a.Slug {
			a, b = b, a
		}
		slug := a.Slug + "-vs-" + b.Slug
		if a == b || drawn[slug] {
			continue
		}
		drawn[slug] = true
		all = append(all, m.comparison(slug, a, b))
	}
	return all
}

func (m *generator) comparison(slug string, a, b *catalog.Tool) catalog.Comparison {
	winner, loser := a, b
	if order := cmp.Compare(*a.Score, *b.Score); order < 0 || order == 0 && m.chance(50) {
		winner, loser = b, a
	}
	k := fieldOf(a.Category)
	about := subject{field: k, name: winner.Name, rival: loser.Name, price: winner.Price}
	x := catalog.Comparison{
		Slug:  slug,
		Title: m.line(pick(m, texts["duel titles"]), subject{field: k, name: a.Name, rival: b.Name}),
		ToolA: a.Slug, ToolB: b.Slug, Winner: winner.Slug,
		WinnerNote: m.line(pick(m, texts["duel notes"]), about),
		Published:  m.chance(88),
	}
	if m.chance(90) {
		x.UpdatedAt = m.days[m.between(daysCovered-600, daysCovered-1)]
	}
	if m.chance(50) {
		x.Body = m.prose(texts["duel"], about, m.between(2, 5))
	}
	return x
}
