package synthetic

import (
	"strings"

	"palmares/internal/catalog"
)

// addEditorial adds what a magazine writes around its records. It comes last and draws
// last, so that the records do not depend on it.
func (m *generator) addEditorial(c *catalog.Catalog) {
	c.Settings = catalog.Settings{
		Headline:     "Des outils qui n’existent pas, essayés pour de bon",
		Introduction: "Tout est inventé ici : les outils, leurs prix et nos avis.\nSeule la structure est vraie.",
		Description:  "Un catalogue synthétique, pour mesurer et pour essayer.",
		Contact:      "redaction@synthetique.example",
		Publisher:    "Les Éditions synthétiques",
	}
	c.Pages = []catalog.Page{
		{
			Slug: "methode", Title: "Notre méthode", Menu: catalog.MenuHeader,
			Description: "Comment les notes sont inventées.",
			Body:        "Chaque note est tirée au sort.\n\n## Les prix {#prix}\n\nEux aussi.",
		},
		{Slug: "mentions-legales", Title: "Mentions légales", Menu: catalog.MenuFooter, Body: "Ce catalogue est " +
			"généré. Personne ne l’édite."},
		{Slug: catalog.TransparencyPage, Title: "Transparence", Menu: catalog.MenuFooter, Body: "Certains liens sont affiliés. " +
			"Ils ne changent ni les notes ni l’ordre."},
	}
	m.addMagazine(c)
	for i := range c.Categories {
		k := &c.Categories[i]
		k.Position = i
		if i%2 == 0 {
			k.Description = "Les outils de la catégorie *" + strings.ToLower(k.Label) + "*."
			k.Aliases = []string{k.Slug + "-ia"}
		}
	}
	for i := range c.Tools {
		m.addEditorialFields(c.Tools[i])
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		x.Authors = m.authors()
		if former := "duel-" + x.Slug; m.chance(10) && catalog.IsSlug(former) {
			x.Aliases, x.FirstSlug = []string{former}, "match-"+x.Slug
		}
	}
	m.addTests(c)
}

// addMagazine adds articles and authors, without a draw.
func (m *generator) addMagazine(c *catalog.Catalog) {
	for i, name := range authorNames[:2] {
		c.Authors = append(c.Authors, catalog.Author{
			Slug: []string{"amelie-fournier", "baptiste-le-goff"}[i], Name: name, Role: "Essais", Links: []string{"https://" +
				"synthetique.example/equipe"}, Body: "Écrit sur des outils qui n’existent pas.",
		})
	}
	c.Articles = []catalog.Article{
		{
			Slug: "lire-les-notes", Title: "Lire les notes", Authors: authorNames[:1], Date: m.days[daysCovered-40],
			Description: "Ce qu’une note tirée au sort veut dire.", Aliases: []string{"les-notes"},
			Body: "Rien, sinon qu’elle existe.\n\n> [!NOTE]\n> Tout est inventé.",
		},
		{Slug: "un-an-de-prix", Title: "Un an de prix", Authors: authorNames[:2], Date: m.days[daysCovered-20], Sponsored: true, Body: "Ils ont changé."},
	}
	if len(c.Tools) > 0 {
		c.Articles[0].Tools, c.Articles[0].Category = []string{c.Tools[0].Slug}, c.Tools[0].Category
	}
}

var authorNames = []string{
	"Amélie Fournier", "Baptiste Le Goff", "Chiara Moretti", "Driss El Amrani",
	"Éléonore d’Aubigny", "Nguyễn Văn Minh",
}

func (m *generator) authors() []string {
	switch n := m.below(10); {
	case n < 4:
		return nil
	case n < 9:
		return []string{pick(m, authorNames)}
	}
	first := m.below(len(authorNames))
	return []string{authorNames[first], authorNames[(first+1)%len(authorNames)]}
}

var scoreNotes = []string{
	"La version de printemps répond plus vite.",
	"Deux de nos épreuves échouent depuis la dernière mise à jour.",
	"Les sources sont enfin citées.\nLa vérifiabilité suit.",
}

// addEditorialFields sets the authors, plans and the history of the figures of a tool.
func (m *generator) addEditorialFields(t *catalog.Tool) {
	t.Authors = m.authors()
	if t.Pricing != "gratuit" && m.chance(12) {
		t.Plans = []catalog.PlanRow{
			{Name: "Découverte", Price: "0 €"},
			{Name: "Équipe", Price: t.Price, Note: "facturé à l’année"},
			{Name: "Groupe", Price: "sur devis"},
		}
		if m.chance(50) {
			t.PriceDisplay = "Dès " + t.Price
		}
	}
	if len(t.PriceHistory) > 0 && m.chance(4) {
		t.PriceHistoryMode = catalog.HistoryReplace
	}
	if t.Score == nil || !m.chance(20) {
		return
	}
	day := m.between(daysCovered-1500, daysCovered-1000)
	change := catalog.ScoreChange{
		ChangedAt: m.days[day], OldScore: m.figure(60), NewScore: t.Score,
		OldVerifiability: t.Verifiability, NewVerifiability: t.Verifiability,
		OldObsolescence: t.Obsolescence, NewObsolescence: t.Obsolescence,
	}
	if m.chance(60) {
		t.ScoreNote = pick(m, scoreNotes)
		change.Note = t.ScoreNote
	}
	t.ScoreHistory = []catalog.ScoreChange{change}
	if len(t.Slug)%16 == 0 { // without another draw, as others follow
		t.ScoreHistoryMode = catalog.HistoryReplace
	}
}
