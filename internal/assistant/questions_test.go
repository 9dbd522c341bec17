package assistant_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"palmares/internal/assistant"
	"palmares/internal/catalog"
)

// questions are asked as people ask an assistant, with the tools that answer.
var questions = []struct {
	text  string
	right []string
}{
	{"Quel outil pour transcrire mes réunions à moins de 20 € par mois ?", []string{"calepin-bavard"}},
	{"Je voudrais dicter mes courriels au lieu de les taper, que me conseillez-vous ?", []string{"dictaphrase"}},
	{"Comment ajouter des sous-titres à mes vidéos ?", []string{"lisere"}},
	{"Avec quoi monter une vidéo de vacances ?", []string{"bobine-libre", "rush-et-moi"}},
	{"Comment enlever le bruit de fond d'un enregistrement ?", []string{"souffle-coupe"}},
	{"Quel générateur d'images choisir ?", []string{"ocrelune", "mirabelle-pixel", "lavis-public", "trame-zero", "atelier-sanguine"}},
	{"J'ai besoin d'un logo pour mon association", []string{"pochoir-vif"}},
	{"Quel outil pour détourer des photos de produits ?", []string{"detourix"}},
	{"Peut-on restaurer les vieilles photos de mes grands-parents ?", []string{"grain-d-argent"}},
	{"Je cherche une voix de synthèse en français", []string{"castafiole", "porte-voix-local"}},
	{"Comment doubler mes vidéos en anglais ?", []string{"doublure-voix"}},
	{"Un standard téléphonique automatique pour un cabinet", []string{"allo-standard"}},
	{"Comment poser des questions en français à une base de données SQL ?", []string{"grenier-sql"}},
	{"Quel outil m'aide à écrire des formules dans un tableur ?", []string{"pivotin"}},
	{"Il me faut des données synthétiques pour mes tests", []string{"faux-semblant"}},
	{"Qui peut écrire les tests de mon code à ma place ?", []string{"trusquin"}},
	{"Un outil qui relit mon code avant de le fusionner", []string{"relecteur-tardif"}},
	{"Comment créer une application sans savoir coder ?", []string{"moufle-studio"}},
	{"Comment vérifier qu'une citation est vraie ?", []string{"sourcelot"}},
	{"Un moteur de réponses qui cite ses sources", []string{"boussolier", "oraclette"}},
}

// An assistant searches, reads the best answers and compares them.
func TestQuestionsOfPeopleAreAnswered(t *testing.T) {
	d := open(t, assistant.Config{})
	answered := 0
	for _, q := range questions {
		from := len(d.sizes)
		var found []string
		for _, id := range ids(d.ok("search", fmt.Sprintf(`{"query": %q, "limit": 3}`, q.text))["results"]) {
			if text := d.ok("fetch", fmt.Sprintf(`{"id": %q}`, id))["text"]; text == "" {
				t.Errorf("%s has no text", id)
			}
			slug, _, _ := strings.Cut(id, "#")
			found = append(found, slug)
		}
		if list, _ := json.Marshal(found); len(found) > 1 {
			d.ok("compare", fmt.Sprintf(`{"tools": %s}`, list))
		}
		isRight := slices.ContainsFunc(found, func(slug string) bool { return slices.Contains(q.right, slug) })
		if isRight {
			answered++
		}
		t.Logf("%s %q, right: %t; bytes of the answers: %v", q.text, found, isRight, d.sizes[from:])
	}
	if t.Logf("%d of %d questions", answered, len(questions)); answered < 18 {
		t.Errorf("%d of %d questions have a right answer among the first three", answered, len(questions))
	}
}

func TestAPriceThatIsNotPublicIsInWords(t *testing.T) {
	tool := &catalog.Tool{Slug: "plume", Name: "Plume", Domain: "plume.example", Category: "code", ICP: "mixte", Pricing: "payant", Price: "0 €/mois", Tagline: "Écrit.", Tier: 3, UpdatedAt: "2026-10-01"}
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}, Tools: []*catalog.Tool{tool}}
	tool.PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-10-01", OldPricing: "payant", OldPrice: "5 €/mois", NewPricing: "payant", NewPrice: "0 €/mois"}}
	other := *tool
	other.Slug, other.Name = "quille", "Quille"
	c.Tools = append(c.Tools, &other)
	d := openOn(t, c, assistant.Config{})
	for _, call := range [][2]string{
		{"search", `{"query": "plume"}`},
		{"fetch", `{"id": "plume"}`},
		{"compare", `{"tools": ["plume", "quille"]}`},
		{"prices", `{"tools": ["plume"]}`},
	} {
		if got := fmt.Sprint(d.ok(call[0], call[1])); !strings.Contains(got, "price:<nil>") || strings.Contains(got, "0 €/mois") {
			t.Errorf("%s %s: %s", call[0], call[1], got)
		}
	}
}
