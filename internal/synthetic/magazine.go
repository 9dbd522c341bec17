package synthetic

import (
	"cmp"
	"strings"

	"palmares/internal/catalog"
)

// magazine returns a catalogue without tools: what a magazine writes around its records.
func (m *generator) magazine() *catalog.Catalog {
	c := &catalog.Catalog{Name: "Palmarès synthétique", URL: "https://synthetique.example"}
	c.Settings = catalog.Settings{
		Headline:     "Des outils qui n’existent pas, essayés pour de bon",
		Introduction: "Tout est inventé ici : les outils, leurs prix et nos avis.\nSeule la structure est vraie.",
		Description:  "Un catalogue synthétique, pour mesurer et pour essayer.",
		Contact:      "redaction@synthetique.example",
		Publisher:    "Les Éditions synthétiques",
	}
	for i, name := range texts["categories"] {
		slug, label, _ := strings.Cut(name, " ")
		c.Categories = append(c.Categories, m.category(i, slug, label))
	}
	c.Pages = []catalog.Page{
		{
			Slug: "methode", Title: "Notre méthode", Menu: catalog.MenuHeader,
			Description: "Comment les notes sont inventées.",
			Body:        "Chaque note est tirée au sort.\n\n## Les prix {#prix}\n\nEux aussi.",
		},
		{Slug: "mentions-legales", Title: "Mentions légales", Menu: catalog.MenuFooter, Body: "Ce catalogue est généré."},
		{
			Slug: catalog.TransparencyPage, Title: "Transparence", Menu: catalog.MenuFooter,
			Body: "Certains liens sont affiliés. Ils ne changent ni les notes ni l’ordre.",
		},
	}
	c.Authors = []catalog.Author{
		{Slug: "amelie-fournier", Name: "Amélie Fournier", Role: "Essais", Body: "Écrit sur des outils qui n’existent pas."},
		{Slug: "nguyen-van-minh", Name: "Nguyễn Văn Minh", Links: []string{"https://synthetique.example/equipe"}},
	}
	c.Articles = []catalog.Article{
		{
			Slug: "lire-les-notes", Title: "Lire les notes", Authors: texts["authors"][:1], Date: m.days[daysCovered-40],
			Description: "Ce qu’une note tirée au sort veut dire.", Aliases: []string{"les-notes"},
			Body: "Rien, sinon qu’elle existe.\n\n> [!NOTE]\n> Tout est inventé.",
		},
		{
			Slug: "un-an-de-prix", Title: "Un an de prix", Authors: texts["authors"][:2], Date: m.days[daysCovered-20],
			Sponsored: true, Body: "Ils ont changé.",
		},
	}
	return c
}

// category returns a category, every other one with a description, and the first ones with the way in which
// their tools are tested.
func (m *generator) category(i int, slug, label string) catalog.Category {
	k := catalog.Category{Slug: slug, Label: label, Position: i}
	if i%2 == 0 {
		k.Description, k.Aliases = "Les outils de la catégorie *"+strings.ToLower(label)+"*.", []string{slug + "-ia"}
	}
	if i < 5 {
		k.Usages = []catalog.Usage{{Slug: "seul", Label: "Travailler seul"}, {Slug: "en-equipe", Label: "Travailler en équipe"}}
		k.Protocol = []catalog.Protocol{{Version: "2", Page: "methode", Since: m.days[0]}}
		k.Criteria = []catalog.Criterion{
			{Slug: "exactitude", Label: "Exactitude", Description: "Réponses justes sur dix"},
			{Slug: "latence", Label: "Latence", Unit: "s", Better: catalog.BetterLower, Worst: new(20.0), Best: new(0.5)},
			{Slug: "hors-ligne", Label: "Fonctionne hors ligne", Kind: catalog.KindYesNo},
		}
		k.Profiles = []catalog.Profile{{Label: "Pressé", Weights: catalog.Values{
			{Name: "exactitude", Number: 1}, {Name: "latence", Number: 3},
		}}}
	}
	return k
}

// authors returns up to two authors.
func (m *generator) authors() []string {
	names := texts["authors"]
	first, count := m.below(len(names)-1), m.below(5)/2
	if count == 0 {
		return nil
	}
	return names[first : first+count : first+count]
}

// usages returns some usages of a category.
func (m *generator) usages(k catalog.Category) (usages []string) {
	for _, u := range k.Usages {
		if m.chance(40) {
			usages = append(usages, u.Slug)
		}
	}
	return usages
}

// comparisons generates up to count comparisons between tested tools of the same
// category.
func (m *generator) comparisons(tools []*catalog.Tool, count int) (all []catalog.Comparison) {
	rivals := map[string]*catalog.Tool{} // by category, the last tested tool
	drawn := make(map[string]bool, count)
	for range 2 * count {
		a := pick(m, tools)
		b := rivals[a.Category]
		if a.Score == nil || len(all) == count {
			continue
		}
		rivals[a.Category] = a
		if b == nil || a == b {
			continue
		}
		if b.Slug < a.Slug {
			a, b = b, a
		}
		if slug := a.Slug + "-vs-" + b.Slug; !drawn[slug] {
			drawn[slug] = true
			all = append(all, m.comparison(slug, a, b))
		}
	}
	return all
}

func (m *generator) comparison(slug string, a, b *catalog.Tool) catalog.Comparison {
	winner, loser := a, b
	if order := cmp.Compare(*a.Score, *b.Score); order < 0 || order == 0 && m.chance(50) {
		winner, loser = b, a
	}
	about := subject{category: a.Category, name: winner.Name, rival: loser.Name, price: winner.Price}
	x := catalog.Comparison{
		Slug: slug, ToolA: a.Slug, ToolB: b.Slug, Winner: winner.Slug, Authors: m.authors(),
		Title:      m.sentences("duel titles", subject{category: a.Category, name: a.Name, rival: b.Name}, 1),
		WinnerNote: m.sentences("duel notes", about, 1),
		Published:  m.chance(88),
	}
	if m.chance(90) {
		x.UpdatedAt = m.days[m.between(daysCovered-600, daysCovered-1)]
	}
	if m.chance(50) {
		x.Body = m.sentences("duel", about, m.between(2, 5))
	}
	if former := "duel-" + slug; m.chance(10) && catalog.IsSlug(former) {
		x.Aliases, x.FirstSlug = []string{former}, "match-"+slug
	}
	return x
}

// retired generates a retired tool of a catalogue that has tools. Some have one of them as successor.
func (m *generator) retired(c *catalog.Catalog, reason catalog.Reason) catalog.Retired {
	name, slug := m.name()
	successor := pick(m, c.Tools)
	r := catalog.Retired{
		Slug: m.unique(slug), Name: name, Category: successor.Category, Reason: reason,
		RetiredAt: m.days[m.between(daysCovered-1000, daysCovered-1)], Usages: m.usages(*c.Category(successor.Category)),
	}
	if reason != "mort" && m.chance(70) {
		r.Successor = successor.Slug
	}
	if m.chance(30) {
		r.Sources, r.FirstSlug = []string{"https://" + r.Slug + ".example/fin"}, r.Slug+"-beta"
		r.Leaving = "L’export complet reste ouvert trois mois, en JSON et en CSV."
	}
	if m.chance(80) {
		var pricing catalog.Pricing
		pricing, r.LastPrice = m.offer()
		r.LastScore, r.PriceHistory = m.figure(58), m.history(pricing, r.LastPrice, daysCovered-1200)
	}
	if r.LastScore != nil && m.chance(30) {
		r.ScoreHistory = []catalog.ScoreChange{{ChangedAt: m.days[900], OldScore: m.figure(60), NewScore: r.LastScore}}
	}
	about := subject{category: r.Category, name: name, rival: successor.Name}
	r.Note = m.sentences("retired "+string(reason), about, 1)
	if m.chance(60) {
		r.Note += "\n\n" + m.sentences("retired endings", about, 1)
	}
	// The only markup of a note is the emphasis of the name at its start.
	r.Body = "**" + name + "**" + strings.TrimPrefix(r.Note, name)
	return r
}
