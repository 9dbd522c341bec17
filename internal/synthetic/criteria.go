package synthetic

import (
	"slices"

	"palmares/internal/catalog"
)

// addTests adds what categories and tools say about tests. It draws last, too.
func (m *generator) addTests(c *catalog.Catalog) {
	byCategory := map[string]*catalog.Category{}
	for i := range c.Categories {
		k := &c.Categories[i]
		byCategory[k.Slug] = k
		if i == len(c.Categories)-1 { // not every category declares how its tools are tested
			continue
		}
		worst, best := 20.0, 0.5
		k.Usages = []catalog.Usage{{Slug: "seul", Label: "Travailler seul"}, {Slug: "en-equipe", Label: "Travailler en équipe"}}
		k.Protocol = []catalog.Protocol{{Version: "2", Page: "methode", Since: m.days[0]}}
		k.Criteria = []catalog.Criterion{
			{Slug: "exactitude", Label: "Exactitude", Description: "Réponses justes sur dix"},
			{Slug: "latence", Label: "Latence", Unit: "s", Better: catalog.BetterLower, Worst: &worst, Best: &best},
			{Slug: "hors-ligne", Label: "Fonctionne hors ligne", Kind: catalog.KindYesNo},
		}
		k.Profiles = []catalog.Profile{{Label: "Pressé", Weights: catalog.Values{
			{Name: "exactitude", Number: 1}, {Name: "latence", Number: 3},
		}}}
	}
	for _, t := range c.Tools {
		m.addTest(byCategory[t.Category], t)
	}
	for i := range c.Retired {
		if r := &c.Retired[i]; m.chance(80) {
			r.LastScore, r.LastPrice = m.figure(58), m.offer().price
		}
	}
	for i := range c.Retired {
		m.addPast(byCategory[c.Retired[i].Category], &c.Retired[i])
	}
}

// addPast adds what a retired tool had, and how its users leave.
func (m *generator) addPast(k *catalog.Category, r *catalog.Retired) {
	if m.chance(50) {
		r.Leaving = "L’export complet reste ouvert trois mois, en JSON et en CSV."
	}
	for _, u := range k.Usages {
		if m.chance(40) {
			r.Usages = append(r.Usages, u.Slug)
		}
	}
	if m.chance(50) {
		r.PriceHistory = m.history(m.offer(), 1000)
	}
	if r.LastScore != nil && m.chance(30) {
		r.ScoreHistory = []catalog.ScoreChange{{ChangedAt: m.days[900], OldScore: m.figure(60), NewScore: r.LastScore}}
	}
}

var (
	praise     = []string{"Réponses rapides.", "Sources toujours citées.", "Prise en main en dix minutes.", "Export complet."}
	complaints = []string{"Cher au-delà de trois personnes.", "Aucun mode hors ligne.", "Support lent.", "Textes parfois plats."}
	verdicts   = []string{
		"Le plus sûr de sa catégorie, à condition d’en payer le prix.", "Un bon second choix, rapide et honnête.",
		"Prometteur, mais trop de nos épreuves échouent encore.",
	}
)

func (m *generator) addTest(k *catalog.Category, t *catalog.Tool) {
	for _, u := range k.Usages {
		if m.chance(40) {
			t.Usages = append(t.Usages, u.Slug)
		}
	}
	if t.Score == nil {
		return
	}
	t.Summary, t.Access = pick(m, verdicts), pick(m, catalog.Accesses)
	t.Pros, t.Cons = m.some(praise), m.some(complaints)
	if m.chance(50) {
		t.TestedVersion = pick(m, []string{"1.4", "2.0 bêta", "2026-03"})
	}
	if m.chance(30) {
		t.TestedPlan = "Équipe"
	}
	if m.chance(5) {
		t.Interests = "L’éditeur de " + t.Name + " est un ancien annonceur."
	}
	if m.chance(5) {
		t.Protocol = "2"
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
	if v, ok := t.Criteria.Of("exactitude"); ok && m.chance(10) {
		before := v
		before.Number = *m.figure(55)
		t.CriteriaHistory = []catalog.CriteriaChange{{
			ChangedAt: m.days[m.between(daysCovered-1500, daysCovered-1000)],
			Old:       catalog.Values{before}, New: catalog.Values{v},
		}}
	}
}

// some returns up to three of the given lines.
func (m *generator) some(lines []string) (some []string) {
	for _, line := range lines {
		if len(some) < 3 && m.chance(45) {
			some = append(some, line)
		}
	}
	return some
}
