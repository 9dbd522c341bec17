package newsletter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
)

// A step happens on a day of a script, a minute after the one before.
type step struct {
	day int
	do  func(m *month) // before a publication; nil if the last version is undone
}

// hour is a step that nobody publishes: what was announced happens.
func hour(m *month) {
	if _, err := m.db.Catalogue.Advance(m.t.Context(), func() time.Time { return m.now }); err != nil {
		m.t.Fatal(err)
	}
	m.load()
	m.tools["plume"].Announced, m.tools["plume"].Price = nil, "35 €/mois" // as editors write it afterwards
}

func price(slug, amount string) func(m *month) {
	return func(m *month) { m.tools[slug].Price = amount + " €/mois" }
}

func renamed(from, to, name string) func(m *month) {
	return func(m *month) { m.rename(from, to, name) }
}

func announced(days ...string) func(m *month) {
	return func(m *month) {
		m.tools["plume"].Announced = nil
		for _, day := range days {
			m.tools["plume"].Announced = append(m.tools["plume"].Announced, catalog.Announcement{From: day, Price: "35 €/mois"})
		}
	}
}

func retired(slug, reason string) func(m *month) {
	return func(m *month) {
		delete(m.tools, slug)
		m.c.Retired = []catalog.Retired{{
			Slug: slug, Name: "Encre", Category: "code", Reason: catalog.Reason(reason), RetiredAt: "2026-11-01", Body: "Fin.", Note: "Fin.",
		}}
	}
}

func restored(m *month) { m.tools["encre"], m.c.Retired = tool("encre", "Encre", "code", "5"), nil }

func written(slug, body string) func(m *month) {
	return func(m *month) {
		m.c.Articles = []catalog.Article{{Slug: slug, Title: "Essai", Authors: []string{"Ada"}, Date: "2026-11-10", Body: body, Tools: []string{"plume"}}}
	}
}

func noArticle(m *month) { m.c.Articles = nil }

func scored(figure float64, note string) func(m *month) {
	return func(m *month) {
		m.tools["plume"].Score, m.tools["plume"].ScoreNote = &figure, note
		m.tools["plume"].TestedAt, m.tools["plume"].Body = "2026-11-16", "Bien."
	}
}

func planned(names ...string) func(m *month) {
	return func(m *month) {
		m.tools["plume"].Plans = nil
		for _, name := range names {
			m.tools["plume"].Plans = append(m.tools["plume"].Plans, catalog.PlanRow{Name: name, Price: "50 €"})
		}
	}
}

var scripts = map[string]struct {
	steps []step
	told  string // in the end, oldest first
}{
	"undone the next day": {
		[]step{{1, price("plume", "29")}, {2, nil}},
		"Plume : 26 → 29 €/mois | Plume : 29 → 26 €/mois",
	},
	"undone, and that undone, each on its day": {
		[]step{{1, price("plume", "29")}, {2, nil}, {3, nil}, {4, nil}},
		"Plume : 26 → 29 €/mois | Plume : 29 → 26 €/mois | Plume : 26 → 29 €/mois | Plume : 29 → 26 €/mois",
	},
	"undone, and that undone, on one day": {
		[]step{{1, price("plume", "29")}, {1, nil}, {1, nil}, {1, price("plume", "30")}, {2, nil}},
		"Plume : 26 → 30 €/mois | Plume : 30 → 29 €/mois",
	},
	"undone on its day, and again the next": {
		[]step{{1, price("plume", "29")}, {1, nil}, {2, nil}},
		"Plume : 26 → 29 €/mois",
	},
	"renamed twice and back": {
		[]step{
			{1, renamed("plume", "calame", "Calame")},
			{1, price("calame", "27")},
			{2, renamed("calame", "stylet", "Stylet")},
			{2, price("stylet", "28")},
			{3, renamed("stylet", "plume", "Plume")},
			{3, price("plume", "29")},
		},
		"Plume → Calame : nouveau nom | Calame : 26 → 27 €/mois | Calame → Stylet : nouveau nom | Stylet : 27 → 28 €/mois | " +
			"Stylet → Plume : nouveau nom | Plume : 28 → 29 €/mois",
	},
	"renamed and back on one day": {
		[]step{{1, renamed("plume", "calame", "Calame")}, {1, price("calame", "27")}, {1, renamed("calame", "plume", "Plume")}},
		"Calame : 26 → 27 €/mois",
	},
	"a former slug taken by another": {
		[]step{
			{1, renamed("plume", "calame", "Calame")},
			{2, func(m *month) {
				m.tools["calame"].Aliases = nil
				m.tools["plume"] = tool("plume", "Autre", "code", "3")
			}},
			{3, price("calame", "27")},
			{3, price("plume", "4")},
			{4, func(m *month) { delete(m.tools, "calame") }},
			{5, price("plume", "5")},
		},
		"Plume → Calame : nouveau nom | Autre : nouvel outil | Calame : 26 → 27 €/mois | Autre : 3 → 4 €/mois | " +
			"Calame : retiré du catalogue | Autre : 4 → 5 €/mois",
	},
	"a former slug taken on the same day": {
		[]step{
			{1, renamed("plume", "calame", "Calame")},
			{1, func(m *month) {
				m.tools["calame"].Aliases = nil
				m.tools["plume"] = tool("plume", "Autre", "texte", "3")
			}},
			{1, price("calame", "27")},
			{1, price("plume", "4")},
			{2, price("plume", "5")},
			{3, nil},
		},
		"Plume → Calame : nouveau nom | Autre : nouvel outil | Calame : 26 → 27 €/mois | Autre : 4 → 5 €/mois | Autre : 5 → 4 €/mois",
	},
	"retired, restored and retired again": {
		[]step{{1, retired("encre", "mort")}, {2, restored}, {3, retired("encre", "mort")}, {4, restored}, {4, retired("encre", "mort")}},
		"Encre : retiré, fermé | Encre : de retour dans le catalogue | Encre : retiré, fermé",
	},
	"retired and restored on one day": {
		[]step{{1, retired("encre", "mort")}, {1, restored}, {2, retired("encre", "acquis")}},
		"Encre : retiré, racheté",
	},
	"removed and back at another price": {
		[]step{{1, func(m *month) { delete(m.tools, "encre") }}, {2, restored}, {2, price("encre", "7")}},
		"Encre : retiré du catalogue | Encre : de retour dans le catalogue | Encre : 5 → 7 €/mois",
	},
	"the obituary removed": {
		[]step{{1, retired("encre", "mort")}, {2, func(m *month) { m.c.Retired = nil }}, {3, restored}},
		"Encre : retiré, fermé | Encre : retiré du catalogue | Encre : de retour dans le catalogue",
	},
	"renamed, retired and restored": {
		[]step{{1, renamed("encre", "plumier", "Plumier")}, {2, retired("plumier", "mort")}, {3, func(m *month) {
			m.tools["plumier"], m.c.Retired = tool("plumier", "Plumier", "code", "6"), nil
		}}, {4, price("plumier", "7")}},
		"Encre → Plumier : nouveau nom | Encre : retiré, fermé | Plumier : de retour dans le catalogue | " +
			"Plumier : 5 → 6 €/mois | Plumier : 6 → 7 €/mois",
	},
	"merged into another": {
		[]step{{1, func(m *month) { delete(m.tools, "encre"); m.tools["plume"].Aliases = []string{"encre"} }}, {2, price("plume", "30")}},
		"Encre : réuni à Plume | Plume : 26 → 30 €/mois",
	},
	"a new tool undone the next day, and that undone": {
		[]step{{1, func(m *month) { m.tools["neuf"] = tool("neuf", "Neuf", "code", "3") }}, {2, nil}, {3, nil}},
		"Neuf : nouvel outil | Neuf : retiré du catalogue | Neuf : de retour dans le catalogue",
	},
	"a new tool that did not last": {
		[]step{{1, func(m *month) { m.tools["neuf"] = tool("neuf", "Neuf", "code", "3") }}, {1, price("neuf", "4")}, {1, func(m *month) { delete(m.tools, "neuf") }}},
		"",
	},
	"two kinds with one slug": {
		[]step{{1, written("plume", "Un.")}, {2, price("plume", "27")}, {3, noArticle}, {4, price("plume", "28")}},
		"Article publié : Essai | Plume : 26 → 27 €/mois | Article retiré : Essai | Plume : 27 → 28 €/mois",
	},
	"an article that comes and goes": {
		[]step{
			{1, written("essai", "Un.")},
			{2, noArticle},
			{3, written("essai", "Un.")},
			{4, written("essai", "Deux.")},
			{4, written("essai", "Un.")},
			{5, written("essai", "Trois.")},
			{6, nil},
		},
		"Article publié : Essai | Article retiré : Essai | Article publié : Essai | Article réécrit : Essai | Article réécrit : Essai",
	},
	"an announcement moved on its day": {
		[]step{{1, announced("2027-03-01")}, {1, announced("2027-04-01")}},
		"Plume : 26 → 35 €/mois, annonce pour le 1er avril 2027",
	},
	"an announcement moved later": {
		[]step{{1, announced("2027-03-01")}, {2, announced("2027-04-01")}, {3, nil}, {4, announced()}},
		"Plume : 26 → 35 €/mois, annonce pour le 1er mars 2027 | Plume : annonce retirée : 35 €/mois le 1er mars 2027 | " +
			"Plume : 26 → 35 €/mois, annonce pour le 1er avril 2027 | Plume : annonce retirée : 35 €/mois le 1er avril 2027 | " +
			"Plume : 26 → 35 €/mois, annonce pour le 1er mars 2027 | Plume : annonce retirée : 35 €/mois le 1er mars 2027",
	},
	"a test undone the next day": {
		[]step{{1, scored(7, "Rapide.")}, {2, nil}, {3, scored(8, "Très rapide.")}, {3, scored(8, "Sûr.")}},
		"Plume : première note, 7,0/10 | Plume : test publié | Plume : note 7,0 → — | Plume : test retiré | " +
			"Plume : test publié | Plume : première note, 8,0/10",
	},
	"a plan that comes and goes": {
		[]step{{1, planned("Équipe")}, {1, planned("Équipe", "Solo")}, {1, planned("Solo")}, {2, planned()}},
		"Plume : nouvelle offre Solo, 50 € | Plume : offre Solo retirée",
	},
	"a tool that moves": {
		[]step{
			{1, price("plume", "27")},
			{2, func(m *month) { m.tools["plume"].Category = "texte" }},
			{3, price("plume", "28")},
			{4, price("plume", "29")},
			{4, func(m *month) { m.tools["plume"].Category = "code" }},
		},
		"Plume : 26 → 27 €/mois | Plume : 27 → 28 €/mois | Plume : 28 → 29 €/mois",
	},
	"an announcement that comes true": {
		[]step{{1, announced("2026-11-20")}, {3, hour}, {4, price("plume", "36")}},
		"Plume : 26 → 35 €/mois, annonce pour le 20 novembre 2026 | Plume : 26 → 35 €/mois | Plume : 35 → 36 €/mois",
	},
	"a price that editors date, undone": {
		[]step{{2, func(m *month) {
			m.tools["plume"].Price = "29 €/mois"
			m.tools["plume"].PriceHistory = []catalog.PriceChange{{
				ChangedAt: "2026-11-18", OldPricing: "payant", OldPrice: "26 €/mois", NewPricing: "payant", NewPrice: "29 €/mois",
			}}
		}}, {2, nil}, {3, price("plume", "30")}},
		"Plume : 26 → 30 €/mois",
	},
	"comparisons and pages": {
		[]step{{1, func(m *month) {
			scored(7, "")(m)
			figure := 6.0
			m.tools["encre"].Score, m.tools["encre"].TestedAt = &figure, "2026-11-16"
			m.c.Comparisons = []catalog.Comparison{{
				Slug: "duel", Title: "Duel", ToolA: "plume", ToolB: "encre", Winner: "plume", WinnerNote: "Net.", Body: "Texte.",
			}}
			m.c.Pages = []catalog.Page{{Slug: "aide", Title: "Aide", Body: "Voici."}}
		}}, {2, func(m *month) { m.c.Comparisons[0].Published, m.c.Pages[0].Menu = true, "header" }}, {3, func(m *month) {
			m.rename("plume", "calame", "Plume")
			m.c.Comparisons[0].ToolA, m.c.Comparisons[0].Winner = "calame", "calame"
		}}, {4, func(m *month) {
			m.tools["calame"].Body, m.c.Pages[0].Slug, m.c.Pages[0].Aliases = "Très bien.", "guide", []string{"aide"}
		}}, {5, func(m *month) { m.c.Pages[0].Body, m.c.Comparisons = "Voilà.", nil }}, {6, func(m *month) { m.tools["calame"].Body = "" }}},
		"Encre : première note, 6,0/10 | Encre : test publié | Plume : première note, 7,0/10 | Plume : test publié | " +
			"Page publiée : Aide | Comparatif publié : Duel | Plume : avis réécrit | Comparatif retiré : Duel | " +
			"Page réécrite : Aide | Plume : avis retiré",
	},
	"a history written later": {
		[]step{{1, func(m *month) {
			m.tools["plume"].PriceHistory = []catalog.PriceChange{{
				ChangedAt: "2026-10-01", OldPricing: "payant", OldPrice: "20 €/mois", NewPricing: "payant", NewPrice: "26 €/mois",
			}}
		}}, {1, price("plume", "27")}, {2, price("plume", "28")}},
		"Plume : 26 → 27 €/mois | Plume : 27 → 28 €/mois",
	},
}

// Whatever happens in whatever order, everybody is told the same, and mails add up to it.
func TestScriptsAreToldAlikeEverywhere(t *testing.T) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			m, began := newMonth(t, databases.OpenDSN(t, databases.SQLite(t)))
			start, steps := m.now, script.steps
			for day := range 20 {
				m.now = start.AddDate(0, 0, day)
				m.write()
				for ; len(steps) > 0 && steps[0].day == day; steps = steps[1:] {
					m.now = m.now.Add(time.Minute)
					if steps[0].do == nil {
						m.undo(m.version)
					} else {
						steps[0].do(m)
						m.publish()
					}
					m.write()
				}
			}
			m.check(began)
			var told []string
			for _, e := range chronicle.Latest(m.snap) {
				if e.Position > began && e.At != "" {
					told = append([]string{strings.ReplaceAll(chronicle.Title(&e, problem.French), "\u00a0", " ")}, told...)
				}
			}
			if diff := cmp.Diff(strings.Split(script.told, " | "), told); diff != "" && len(told) > 0 || len(told) == 0 && script.told != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A day has more versions than can be undone, and its morning is known all the same.
func TestALongDayHasItsMorning(t *testing.T) {
	m, began := newMonth(t, databases.OpenDSN(t, databases.SQLite(t)))
	for _, day := range []int{1, 2} {
		m.now = m.now.AddDate(0, 0, day)
		for i := range 60 {
			m.now = m.now.Add(time.Second)
			price("plume", fmt.Sprint(27+i%3, ",", 10+day))(m)
			m.publish()
		}
		m.write()
	}
	m.now = m.now.AddDate(0, 0, 20)
	m.write()
	if got, want := m.check(began), []string{"outil/plume/price/2026-11-18", "outil/plume/price/2026-11-20"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	kept, err := sqldb.Value[int](t.Context(), m.db.SQL.Reads(), `SELECT count(DISTINCT until) FROM former_records`)
	if err != nil || kept != 60 {
		t.Errorf("what %d versions replaced is kept, %v", kept, err)
	}
}
