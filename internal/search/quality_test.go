package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
)

// reviews returns n tools whose reviews follow one plan and that nobody searches for.
func reviews(n int) []*catalog.Tool {
	var tools []*catalog.Tool
	for i := range n {
		tools = append(tools, tool(fmt.Sprintf("Banal %c%c", 'a'+i/26, 'a'+i%26), "Un logiciel de gestion pour les boulangers",
			"## Présentation\n\nPour créer un compte, il suffit du site. Le rendu est soigné, l’accès internet requis.\n\n## Points forts\n\nOn peut tout faire et l’utiliser partout.\n"))
	}
	return tools
}

func among(t *testing.T, own ...*catalog.Tool) *Index {
	t.Helper()
	x, _ := index(t, append(reviews(60), own...)...)
	return x
}

func TestAHeadingOfEveryReviewSaysNothing(t *testing.T) {
	x := among(t, tool("Vue", "Des présentations à projeter", ""), tool("Diapo", "Présente vos idées", "## Forces\n\nUne présentation soignée."))
	for _, query := range []string{"présentations", "présentation", "créer des présentations", "faire une présentation"} {
		if got := find(x, query); len(got) != 2 {
			t.Errorf("%q finds %q", query, got)
		}
	}
	if got := find(x, "points forts"); len(got) > 2 {
		t.Errorf("the plan of all reviews is found: %d tools", len(got))
	}
}

func TestAHeadingOfOneReviewIsFound(t *testing.T) {
	if got := find(among(t, tool("Seul", "", "## Parapluie\n\nRien.")), "parapluie "); !slices.Equal(got, []string{"Seul"}) {
		t.Errorf("got %q", got)
	}
}

func TestTheLabelOfACategoryFindsItsTools(t *testing.T) {
	c := &catalog.Catalog{Categories: []catalog.Category{
		{Slug: "argent", Label: "Comptabilité et finance", Aliases: []string{"compta-pro"}}, {Slug: "code", Label: "Développement"},
	}, Tools: reviews(40)}
	for i := range 10 {
		c.Tools = append(c.Tools, &catalog.Tool{Slug: fmt.Sprintf("z%d", i), Name: fmt.Sprintf("Outil %d", i), Tagline: "Rien", Category: c.Categories[i%2].Slug})
	}
	c.Sort()
	x, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for query, category := range map[string]string{
		"comptabilité": "argent", "finance": "argent", "Comptabilité et finance": "argent", "argent": "argent",
		"logiciel comptable": "argent", "développement": "code", "code": "code", "développeur": "code",
	} {
		r := x.Search(Query{Text: query, Limit: 20})
		if r.Total != 5 || slices.ContainsFunc(r.Hits, func(h Hit) bool { return c.Tools[h.Tool].Category != category }) {
			t.Errorf("%q finds %q", query, find(x, query))
		}
	}
}

func TestEverydayWordsNeitherDecideNorExclude(t *testing.T) {
	x := among(t, tool("Bâtisseur", "Votre site internet avant midi", ""), tool("Faiseur", "Faire et créer, utiliser et refaire", ""))
	for _, query := range []string{"faire un site internet", "créer un site internet", "quel est le meilleur outil pour faire un site internet ?"} {
		if got := find(x, query); len(got) == 0 || got[0] != "Bâtisseur" {
			t.Errorf("%q finds %q", query, got)
		}
	}
	if got := find(x, "utiliser "); !slices.Contains(got, "Faiseur") {
		t.Errorf("an everyday word alone finds %q", got)
	}
}

func TestWordsOfAPhraseBelongTogether(t *testing.T) {
	x := among(t,
		tool("Secrétaire", "Rien", "Les comptes rendus arrivent par courriel."),
		tool("Banque", "Un compte soigné, un beau rendu", ""),
		tool("Toile", "Un site web pour artisans", ""),
		tool("Ouvert", "Un moteur libre", ""),
	)
	for query, want := range map[string]string{
		"compte rendu": "Secrétaire", "faire des comptes-rendus": "Secrétaire", "procès verbal": "Secrétaire",
		"site internet": "Toile", "open source": "Ouvert", "opensource ": "Ouvert",
	} {
		if got := find(x, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %q", query, got[:min(len(got), 3)])
		}
	}
}

func TestAPhraseMayHaveAnEverydayWordWithin(t *testing.T) {
	x := among(t, tool("Lego", "Vos idées, sans code", ""), tool("Éditeur", "Écrit du code, du code et du code", ""))
	for _, query := range []string{"sans savoir coder", "sans devoir coder", "no code "} {
		if got := find(x, query); len(got) == 0 || got[0] != "Lego" {
			t.Errorf("%q finds %q", query, got)
		}
	}
}

func TestAWordOfAPhraseDoesNotStandForIt(t *testing.T) {
	x := among(t, tool("Fermé", "Le générateur d’images", "Aucune source n’est citée : la source manque."), tool("Offert", "Des images, en logiciel libre", ""))
	if got := find(x, "images open source"); len(got) == 0 || got[0] != "Offert" {
		t.Errorf("got %q", got)
	}
	if got := find(x, "open source"); !slices.Equal(got, []string{"Offert"}) {
		t.Errorf("got %q", got)
	}
}

func TestAWordFindsWhatItEvokesLast(t *testing.T) {
	x := among(t,
		tool("Greffier", "Le compte rendu de vos entretiens", ""),
		tool("Scribe", "La transcription de vos entretiens", ""),
		tool("Salle", "Des entretiens, encore des entretiens", ""),
	)
	if diff := cmp.Diff([]string{"Scribe", "Greffier"}, find(x, "transcrire des entretiens ")[:2]); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAQuerySaysTwiceCountsOnce(t *testing.T) {
	x := among(t, tool("Ermite", "Un chatbot hors ligne", ""), tool("Cantine", "La cantine locale, en local et hors ligne", ""))
	score := func(query string) float64 { return x.Search(Query{Text: query, Limit: 1}).Hits[0].Score }
	if got := find(x, "chatbot local sans internet "); got[0] != "Ermite" {
		t.Errorf("got %q", got)
	}
	if once, twice := score("hors ligne "), score("hors ligne, sans internet "); once != twice {
		t.Errorf("said once it counts %v, twice %v", once, twice)
	}
}

func TestFamiliesOfWords(t *testing.T) {
	s := newStemmer()
	for _, family := range []string{
		"transcrire transcrit transcription transcripteur transcriptions retranscrire",
		"traduire traduit traduction traducteur traductrice traducteurs",
		"présenter présentation présentateur", "résumer résumé résumés", "rédiger rédaction rédacteur rédige",
		"corriger correction correcteur", "monter montage monteur", "doubler doublage doubleur", "détourer détourage",
		"nettoyer nettoyage nettoie nettoyeur", "programmer programmation programmeur", "développer développement développeur",
		"recruter recrutement recruteur", "planifier planification planning", "vérifier vérification",
		"automatiser automatisation automatique", "comptabilité comptable compta", "apprendre apprentissage",
		"lire lecture lecteur", "écrire écriture", "répondre réponse", "vendre vente vendeur", "extraire extraction extracteur",
		"sous-titrage sous-titrer sous-titres", "héberger hébergement hébergeur", "détecter détection détecteur",
		"musique musicien musical", "médecin médical", "décorer décoration décorateur", "gérer gestion",
	} {
		var roots []string
		for word := range strings.FieldsSeq(family) {
			key, _ := nameKey(word)
			roots = append(roots, rootOf(s.stem(key)))
		}
		if len(slices.Compact(slices.Clone(roots))) > 1 {
			t.Errorf("%s: the roots are %q", family, roots)
		}
	}
	for _, pair := range []string{
		"image imaginer", "compte comptable", "partager part", "message messe", "avantage avant", "ouvrage ouvrir", "personnage personne",
		"moteur mot", "auteur auto", "agent agence", "note notaire", "format former", "poste postuler", "langage lange", "conversation conversion", "reunir reunion",
	} {
		a, b, _ := strings.Cut(pair, " ")
		if rootOf(s.stem(a)) == rootOf(s.stem(b)) {
			t.Errorf("%s and %s are one family", a, b)
		}
	}
}

func TestAWordFindsItsFamilyAfterItself(t *testing.T) {
	x := among(t, tool("Nom", "Transcription de réunions", ""), tool("Verbe", "Transcrire les réunions", ""))
	if diff := cmp.Diff([]string{"Verbe", "Nom"}, find(x, "transcrire une réunion")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Nom", "Verbe"}, find(x, "transcription reunion ")); diff != "" {
		t.Error(diff)
	}
}

func TestATaglineAboutHalfOfAQueryPrecedesAReviewThatMentionsItInPassing(t *testing.T) {
	x := among(t,
		tool("Orchestre", "Compose de la musique", ""),
		tool("Bavard", "Rien", "Il n’y a ni générateur ni musique ici."),
	)
	if diff := cmp.Diff([]string{"Orchestre", "Bavard"}, find(x, "générateur de musique ")); diff != "" {
		t.Error(diff)
	}
}

func TestAMentionOfACommonWordInPassingIsNoMatch(t *testing.T) {
	x := among(t, tool("Vitrine", "Un site pour artisans", "Le site d’abord, le site toujours."))
	if got := find(x, "site "); len(got) != 1 {
		t.Errorf("found %d tools, most of which only mention a site", len(got))
	}
}

func TestFiltersChooseAmongAllThatMatches(t *testing.T) {
	cheap := tool("Robot", "Un chatbot", "")
	cheap.Pricing, cheap.Price = "payant", "5 €/mois"
	x := among(t, cheap, tool("Idéal", "Un chatbot pour boutique", ""), tool("Loin", "", "Ni chatbot, ni boutique."))
	query := Query{Text: "chatbot boutique ", Limit: 9, Constraints: []Constraint{{PriceMax: 10}}}
	if r := x.Search(query); r.Total != 1 || x.tools[r.Hits[0].Tool].Name != "Robot" || !r.Partial {
		t.Errorf("with a constraint: %+v", r)
	}
	query.Constraints, query.Keep = nil, func(i int) bool { return x.tools[i].Name == "Robot" }
	if r := x.Search(query); r.Total != 1 {
		t.Errorf("with a filter: %+v", r)
	}
}

func TestAnUnknownWordIsReplacedByASuggestionThatIsSpelledAsInTheCatalogue(t *testing.T) {
	x := among(t, tool("Parleur", "Un chatbot pour la réunion d’été", ""), tool("Ocrelune", "", ""))
	for query, want := range map[string]string{
		"chatbto":             "chatbot",
		"Chatbto, reuniom !":  "chatbot, réunion !",
		"ocrelume":            "Ocrelune",
		"chatbot":             "",
		"chatb":               "", // unfinished
		"zzzzzzzz":            "",
		"chatbto hippopotame": "chatbot hippopotame",
	} {
		if got := x.Search(Query{Text: query, Limit: 1, Offset: 0}).Suggestion; got != want {
			t.Errorf("%q: the suggestion is %q, want %q", query, got, want)
		}
		if _, r := x.Matches(Query{Text: query}); r.Suggestion != want {
			t.Errorf("%q: the suggestion of the set is %q, want %q", query, r.Suggestion, want)
		}
	}
	if r := x.Search(Query{Text: "chatbto", Limit: 5, Verbatim: true}); r.Total != 0 || r.Suggestion != "" {
		t.Errorf("as it is typed: %+v", r)
	}
}

func TestASuggestionIsOfAWordThatTheAnswersHave(t *testing.T) {
	x := among(t, tool("Sépia", "Des couleurs pour la photo de famille", ""), tool("Marmite", "", "Une recette."))
	if r := x.Search(Query{Text: "remettre en couleur une photo de famille ", Limit: 5}); r.Total != 1 || r.Suggestion != "" {
		t.Errorf("%+v", r)
	}
}

func TestConstraintsExcludeToolsUnlessTheQueryAsksAboutOne(t *testing.T) {
	priced := func(name string, pricing catalog.Pricing, price string) *catalog.Tool {
		one := tool(name, "Un carnet", "")
		one.Pricing, one.Price = pricing, price
		return one
	}
	x, _ := index(t, priced("Libelle", "gratuit", "0 €/mois"), priced("Mixte", "freemium", "12 €/mois"), priced("Hublot", "payant", "240 €/an"), priced("Compteur", "payant", "0,05 €/minute"), priced("Inconnu", "", ""),
		priced("Carnet Rank", "payant", "9 €/mois"), priced("Sur Devis", "payant", "0 €/mois"))
	for query, want := range map[string][]string{
		"carnet gratuit":          {"Libelle", "Mixte"},
		"gratuit":                 {"Libelle", "Mixte"},
		"meilleur outil gratuit":  {"Libelle", "Mixte"},
		"carnet à moins de 12 €":  {"Carnet Rank", "Libelle", "Mixte"},
		"carnet moins de 20 €":    {"Carnet Rank", "Hublot", "Libelle", "Mixte"},
		"moins de 239 € par an":   {"Carnet Rank", "Libelle", "Mixte"},
		"carnet payant":           {"Carnet Rank", "Compteur", "Hublot", "Sur Devis"},
		"Hublot est-il gratuit ?": {"Hublot"},
		"carnet rank gratuit":     {"Carnet Rank"},
		"carnet hublot gratuit":   {"Libelle", "Mixte"},
		"hippopotame gratuit":     nil,
		"carnet gratuit à 1000 €": {"Libelle", "Mixte"},
	} {
		r := x.ReadRequest(query, nil)
		var got []string
		for _, hit := range x.Search(Query{Text: r.Text, Constraints: r.Constraints, Limit: 9}).Hits {
			got = append(got, x.tools[hit.Tool].Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}
