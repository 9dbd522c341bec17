package site_test

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
)

// tested returns a catalogue with three tested tools in one category with criteria.
func tested() *catalog.Catalog {
	worst, best := 10.0, 0.0
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example",
		Pages: []catalog.Page{{Slug: "banc", Title: "Le banc", Menu: catalog.MenuNone, Body: "Voilà."}},
		Categories: []catalog.Category{{
			Slug: "voix", Label: "Voix",
			Protocol: []catalog.Protocol{{Version: "2026-2", Page: "banc", Since: "2026-09-01"}},
			Criteria: []catalog.Criterion{
				{Slug: "exactitude", Label: "Exactitude", Description: "Mots justes"},
				{Slug: "latence", Label: "Latence", Unit: "s", Worst: &worst, Best: &best},
				{Slug: "hors-ligne", Label: "Hors ligne", Kind: catalog.KindYesNo},
			},
		}},
	}
	for i, slug := range []string{"aube", "brume", "cime"} {
		score := 9 - 2*float64(i)
		c.Tools = append(c.Tools, &catalog.Tool{
			Slug: slug, Name: slug, Domain: slug + ".example", Category: "voix", ICP: "mixte", Pricing: "payant", Price: "12 €/mois",
			Tagline: "x", Tier: 3, UpdatedAt: "2026-10-20", Score: &score, TestedAt: "2026-10-12",
			Criteria: catalog.Values{{Name: "exactitude", Number: 8 - float64(i)}, {Name: "latence", Number: 2.5 + float64(i)}},
		})
	}
	t := c.Tools[0]
	t.Criteria = append(t.Criteria[:1:1], catalog.Value{Name: "hors-ligne", Number: 1, IsFlag: true}, t.Criteria[1])
	t.Summary, t.Pros, t.Cons = "À prendre : sûre.", []string{"Juste <b>"}, []string{"Lente"}
	t.TestedVersion, t.TestedPlan, t.Access, t.Interests = "3.2", "Équipe", "paid", "Aucun contrat."
	t.Authors, t.Body = []string{"Camille Roux"}, "Il était une fois."
	t.PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-03-03", OldPricing: "payant", OldPrice: "10 €/mois", NewPricing: "payant", NewPrice: "12 €/mois"}}
	return c
}

var tags = regexp.MustCompile(`<[^>]*>`)

// plain returns the text of a page, with plain spaces.
func plain(body string) string {
	text := html.UnescapeString(tags.ReplaceAllString(body, ""))
	return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(text)
}

func TestThePageOfAToolSaysWhatDecidesFirst(t *testing.T) {
	s := open(t, tested())
	body := plain(s.get("/outils/aube").body)
	at := 0
	for _, want := range []string{
		"Excellent à partir de 8,5.", "Comment nous notons", "À prendre : sûre.", "12 €/mois", "+20 % depuis mars 2026",
		"Testé le 12 octobre 2026, version 3.2, offre Équipe, payée par nous, par Camille Roux.", "Aucun contrat.",
		"Points forts", "Juste <b>", "Points faibles", "Lente", "Lire l’avis complet",
		"Exactitude", "8 sur 10", "médiane de la catégorie : 7 sur 10", "Latence", "2,5 s", "Hors ligne", "oui", "Protocole 2026-2",
		"Changements de prix",
	} {
		i := strings.Index(body[at:], want)
		if i < 0 {
			t.Fatalf("%q does not follow in %s", want, body[at:])
		}
		at += i
	}
	other := plain(s.get("/outils/cime").body)
	for _, said := range []string{"Notre verdict", "Points forts", "intérêts", "payé", "version", "% depuis"} {
		if strings.Contains(other, said) {
			t.Errorf("the page of a tool without it says %q", said)
		}
	}
	for _, want := range []string{"Faible", "non mesuré"} {
		if !strings.Contains(other, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, want := range []string{"À prendre : sûre.", "| Latence | 2,5 s |", "payée par nous"} {
		if md := plain(s.get("/outils/aube.md").body); !strings.Contains(md, want) {
			t.Errorf("%q is not in %s", want, md)
		}
	}
}

func TestAToolThatWasTestedLongAgoSaysSo(t *testing.T) {
	c := tested()
	c.Tools[0].TestedAt, c.Tools[0].Protocol = "2025-08-12", "2025"
	body := plain(open(t, c).get("/outils/aube").body)
	for _, want := range []string{"Testé le 12 août 2025, il y a 14 mois,", "Protocole 2025, remplacé depuis."} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in %s", want, body)
		}
	}
}

func TestStructuredDataHasNotesAndARatingPerCriterion(t *testing.T) {
	body := open(t, tested()).get("/outils/aube").body
	_, text, _ := strings.Cut(body, `<script type="application/ld+json">`)
	text, _, _ = strings.Cut(text, "</script>")
	var found []struct {
		Type   string `json:"@type"`
		Review struct {
			Rating []struct {
				Aspect string  `json:"reviewAspect"`
				Value  float64 `json:"ratingValue"`
				Best   float64 `json:"bestRating"`
			} `json:"reviewRating"`
			Pros struct{ ItemListElement []struct{ Name string } } `json:"positiveNotes"`
			Cons struct{ ItemListElement []struct{ Name string } } `json:"negativeNotes"`
		}
		ItemListElement []struct{ Name, Item string }
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) != 2 {
		t.Fatal(err, text)
	}
	r := found[0].Review
	if len(r.Rating) != 3 || r.Rating[0].Value != 9 || r.Rating[1].Aspect != "Exactitude" || r.Rating[1].Value != 8 || r.Rating[2].Value != 7.5 ||
		r.Pros.ItemListElement[0].Name != "Juste <b>" || r.Cons.ItemListElement[0].Name != "Lente" {
		t.Errorf("%+v", r)
	}
	if crumbs := found[1]; crumbs.Type != "BreadcrumbList" || crumbs.ItemListElement[1].Item != "https://essai.example/categories/voix" {
		t.Errorf("%+v", crumbs)
	}
}

func TestChartsSayTheirValuesAndTheirSource(t *testing.T) {
	c := tested()
	score := 7.5
	c.Tools[0].ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-05-02", OldScore: &score, NewScore: c.Tools[0].Score}}
	v := open(t, c)
	v.get("/outils/aube").ok().says("Source : Essai (https://essai.example)",
		"<g class=\"point named\" tabindex=\"0\" role=\"img\" aria-label=\"10\u00a0€ auparavant\">", "aria-label=\"12\u00a0€ depuis le 3\u00a0mars 2026\"", ">12\u00a0€</text>",
		"aria-label=\"9,0 depuis le 2\u00a0mai 2026\"")
}

func TestBarsOfCriteriaHaveTheMedianOfTheirCategory(t *testing.T) {
	c := tested()
	v := open(t, c)
	const tick, line = `<rect class="gauge-median" x="%s"`, "Le trait dans une barre est la médiane de la catégorie."
	exact, quick := fmt.Sprintf(tick, "70"), fmt.Sprintf(tick, "65") // 7 of 10; 3.5 s from 10 to 0
	v.get("/outils/aube").ok().says(`<rect class="gauge-part" width="80" height="4"/>`+exact, `<rect class="gauge-part" width="75" height="4"/>`+quick)
	v.get("/comparer?outils=aube,cime").ok().says(`<rect class="gauge-part" width="60" height="4"/>`+exact, quick, line)
	for _, other := range c.Tools[1:] {
		other.Criteria = nil
	}
	v = open(t, c) // where one tool alone is no median
	v.get("/outils/aube").ok().says(`<rect class="gauge-part" width="80" height="4"/>`).saysNot("gauge-median", "médiane")
	v.get("/comparer?outils=aube,cime").ok().saysNot("gauge-median", line)
}

func TestValuesInAChartAreApart(t *testing.T) {
	c := tested()
	tool := c.Tools[0]
	tool.Price, tool.PriceHistory = "12 345,67 €/mois", nil
	price := tool.Price
	for day := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC); len(tool.PriceHistory) < 30; day = day.AddDate(0, 0, -25) {
		old := fmt.Sprintf("%d €/mois", 1000+(7919*len(tool.PriceHistory))%9000)
		tool.PriceHistory = append(tool.PriceHistory, catalog.PriceChange{ChangedAt: day.Format(time.DateOnly), OldPricing: "payant", OldPrice: old, NewPricing: "payant", NewPrice: price})
		price = old
	}
	body := open(t, c).get("/outils/aube").ok().body
	if n := strings.Count(body, `<g class="point`); n != 31 {
		t.Errorf("%d of 31 values are in the chart", n)
	}
	// Of so many, only the ends are written at all times.
	if n := strings.Count(body, `<g class="point named"`); n != 2 {
		t.Errorf("%d values are written", n)
	}
}
