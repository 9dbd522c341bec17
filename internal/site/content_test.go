package site_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

func TestAlternativesAreRankedWithTheirDifferences(t *testing.T) {
	v := open(t, small())
	r := v.get("/alternatives/abeille").ok().says(
		"Ce qui peut remplacer Abeille, noté 8,5/10\u00a0",
		"<li>Moins bien noté de 2,5 points</li>", "<li>Plus cher de 4,50\u00a0€/mois</li>", "<li>Freemium plutôt que payant</li>",
		"<li>Vise les seuls vibe coders</li>", "<li>Moins facile à vérifier (5,0 contre 9,0)</li>", `<a href="/comparatifs/abeille-vs-bourdon">Face à face</a>`,
		"<li>Pas encore testé</li>", "<li>Ne coûte rien, contre 10\u00a0€/mois</li>",
	)
	equal(t, "the order", headings(r), []string{"bourdon", "cigale"})
	v.get("/alternatives/bourdon").ok().says("<li>Mieux noté de 2,5 points</li>", "<li>Moins cher de 4,50\u00a0€/mois</li>", "<li>Vise les deux profils</li>")
	v.get("/alternatives/cigale").ok().says("Cigale, pas encore testé", "<li>Testé, lui\u00a0: 8,5/10</li>", "<li>Coûte 10\u00a0€/mois au lieu de rien</li>")
	v.get("/alternatives/drosophile").ok().says("Drosophile est seul dans sa catégorie")
}

func headings(r *reply) []string {
	var slugs []string
	tags := r.tags()
	for i, one := range tags {
		if one.name == "h2" && i+1 < len(tags) && tags[i+1].name == "a" {
			slugs = append(slugs, tags[i+1].attributes["href"][len("/outils/"):])
		}
	}
	return slugs
}

func TestAPriceHistoryIsDrawnAndDescribed(t *testing.T) {
	c := small()
	c.Tools[0].PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-03-01", OldPricing: "payant", OldPrice: "8 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"},
		{ChangedAt: "2025-06-15", OldPricing: "gratuit", OldPrice: "0 €/mois", NewPricing: "payant", NewPrice: "8 €/mois"},
	}
	// The model may have changed before the price did.
	c.Tools[1].PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-03-03", OldPricing: "payant", OldPrice: "15 €/mois", NewPricing: "payant", NewPrice: c.Tools[1].Price},
		{ChangedAt: "2025-05-12", OldPricing: "freemium", OldPrice: "15 €/mois", NewPricing: "payant", NewPrice: "15 €/mois"},
	}
	// Prices of different periods cannot be compared.
	c.Tools[3].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-02-01", OldPricing: "payant", OldPrice: "120 €/mois", NewPricing: "payant", NewPrice: "1 000 €/mois"}}
	v := open(t, c)
	const summary = "Prix de Abeille\u00a0: 0\u00a0€/mois jusqu’au 15\u00a0juin 2025, 10\u00a0€/mois aujourd’hui, 2\u00a0changements."
	v.get("/outils/abeille").ok().says(`aria-label="`+summary+`"`, `<path class="chart-line" d="M`, "1er\u00a0mars 2026", "8\u00a0€/mois")
	v.get("/prix").ok().says(`<a href="/outils/abeille#page.prix" title="`+summary+`"><svg class="spark"`, "chaque courbe à son échelle", `<a href="/donnees">`)
	v.get("/outils/abeille").ok().says(`id="page.prix"`)
	v.get("/outils/drosophile").ok().saysNot(`class="chart"`).says("120\u00a0€/mois", "1\u202f000\u00a0€/mois")
	v.get("/outils/bourdon").ok().says("Prix de Bourdon\u00a0: 15\u00a0€/mois jusqu’au 3\u00a0mars 2026, 14,50\u00a0€/mois aujourd’hui, 1\u00a0changement.")
	v.get("/outils/cigale").ok().saysNot(`class="chart"`, "page.prix", "Changements de prix")
}

func TestAComparisonShowsBothSides(t *testing.T) {
	open(t, small()).get("/comparatifs/abeille-vs-bourdon").ok().says(
		"<h1>Abeille ou Bourdon\u202f?</h1>", `<rect class="gauge-part" width="85" height="4"/>`, `<rect class="gauge-part" width="60" height="4"/>`,
		"Elle pique moins.", "10\u00a0€/mois", "14,50\u00a0€/mois", `<td role="cell" class="better"><span class="num">8,5</span>`, "Vibe coders",
	)
}

func TestTheListOfRetiredToolsExplainsReasons(t *testing.T) {
	v := open(t, small())
	v.get("/cimetiere").ok().says("Mort <span class=\"num\">12</span>", "Déprécié", "Le service a fermé", "À sa place\u00a0: <a href=\"/outils/abeille\">Abeille</a>", "60\u00a0outils disparus, page 1 sur 2")
	v.get("/cimetiere?reason=mort").ok().says("12\u00a0outils disparus<", `<option value="mort" selected>Mort</option>`)
}

func TestTheHomePageShowsChangesAndCategories(t *testing.T) {
	open(t, small()).get("/").ok().says(
		`action="/outils"`, "Dernières modifications", `<a href="/categories/chat">Discussion</a>`,
	)
}

func TestLongPricesFitNextToTheirChart(t *testing.T) {
	c := small()
	c.Tools[0].Price = "100 000 €/an"
	c.Tools[0].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-03-01", OldPricing: "payant", OldPrice: "8 €/an", NewPricing: "payant", NewPrice: "100 000 €/an"}}
	open(t, c).get("/outils/abeille").ok().says(`<text class="chart-label" x="67" dx="-6"`, ">100\u202f000\u00a0€</text>")
}

func TestAComparisonLinksToAnotherOfTheSameToolsOnce(t *testing.T) {
	c := small()
	c.Comparisons[1].Published = true
	if n := strings.Count(open(t, c).get("/comparatifs/abeille-vs-bourdon").ok().body, `href="/comparatifs/brouillon"`); n != 1 {
		t.Errorf("it is linked %d times", n)
	}
}

func TestTheFirstWordsOfATextKeepTheirMeaning(t *testing.T) {
	c := small()
	c.Pages = []catalog.Page{{Slug: "methode", Title: "Méthode", Menu: "none", Body: "Essais\n---\n\nOn ne teste ~~jamais~~ rien.\n"}}
	v := open(t, c)
	v.get("/methode").ok().says(`<meta name="description" content="On ne teste rien.">`)
}

func TestAPaidToolWithoutAPublicPriceIsNeverFree(t *testing.T) {
	c := small()
	hidden := c.Tools[0]
	c.Tools[2].Category = "code"
	hidden.Pricing, hidden.Price = "payant", "0 €/mois"
	hidden.PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-03-01", OldPricing: "payant", OldPrice: "8 €/mois", NewPricing: "payant", NewPrice: "0 €/mois"}}
	v := open(t, c)
	isFree := regexp.MustCompile(`(?i)gratuit[^e]|coûte rien|\b0\x{a0}€/mois|lieu de rien`)
	for _, path := range []string{"/outils/abeille", "/avis/abeille", "/comparatifs/abeille-vs-bourdon", "/comparer?outils=abeille,bourdon"} {
		markdown, query, _ := strings.Cut(path, "?")
		for _, form := range []string{path, markdown + ".md?" + query} {
			if found := isFree.FindString(v.get(form).ok().says("Sur devis").body); found != "" {
				t.Errorf("%s says %s", form, found)
			}
		}
	}
	v.get("/alternatives/bourdon").ok().says("Sur devis contre 14,50\u00a0€/mois")
	if all, _ := v.get("/carte").ok().marks(); all["abeille"] {
		t.Error("it is on the map")
	}
	v.get("/categories/chat").ok().saysNot("gratuit", "Gratuit,")
	v.get("/outils/abeille").ok().saysNot(`"offers"`)
	v.get("/outils/cigale").ok().says(`"offers":{"@type":"Offer","price":0,"priceCurrency":"EUR"}`)
}

func TestACategoryLeadsToAllItsRetiredTools(t *testing.T) {
	v := open(t, small())
	v.get("/categories/chat").ok().says(`<a href="/cimetiere?category=chat">Les 60 outils disparus de la catégorie</a>`)
	v.get("/categories/chat.md").ok().says("[Les 60 outils disparus de la catégorie](/cimetiere.md?category=chat)")
}

func TestAnAddressThatIsWrittenOtherwiseLeadsToItsPage(t *testing.T) {
	c := small()
	c.Pages = []catalog.Page{{Slug: "methode", Title: "Méthode", Body: "Ici."}}
	v := open(t, c)
	for from, to := range map[string]string{
		"/outils/Abeille": "/outils/abeille", "/outils/ABEILLE.md?a=b": "/outils/abeille.md?a=b", "/avis/Abeille": "/avis/abeille",
		"/alternatives/BOURDON": "/alternatives/bourdon", "/outils/Ancienne_Abeille": "/outils/abeille", "/categories/Chat": "/categories/chat",
		"/comparatifs/Abeille-vs-Bourdon": "/comparatifs/abeille-vs-bourdon", "/Outils/abeille": "/outils/abeille", "/PRIX": "/prix",
		"/Methode": "/methode", "/outils/Fantome-03": "/cimetiere/fantome-03",
	} {
		v.get(from).movesTo(to)
	}
	const meant = "Vouliez-vous dire «\u00a0%s\u00a0»\u202f?"
	for path, words := range map[string]string{
		"/outils/abeile": "Abeille", "/avis/Abeilles": "Abeille", "/alternatives/bourdom": "Bourdon", "/categories/chats": "Discussion",
		"/comparatifs/abeille-vs-bourdom": "Abeille ou Bourdon\u202f?",
		"/outils/fantome-03s":             "Fantôme 3", "/alternatives/fantom-03": "Fantôme 3", "/methodee": "Méthode", "/docs/assistant": "/docs/assistants",
		"/outilss": "/outils",
	} {
		v.get(path).answers(404).says(fmt.Sprintf(meant, words))
		v.get(path + ".md").answers(404).says("Vouliez-vous dire")
	}
	v.get("/alternatives/fantom-03").answers(404).says(`<li><a href="/cimetiere/fantome-03">Fantôme 3</a></li>`)
	v.get("/avis/abeile").answers(404).says(`<li><a href="/avis/abeille">Abeille</a></li>`)
	for _, path := range []string{"/outils/outil", "/outils/" + strings.Repeat("x", 5000), "/outils/zzz", "/categories/zzz", "/comparatifs/zzz", "/ZZZ", "/a", "/outils/%ff"} {
		v.get(path).answers(404).saysNot("Vouliez-vous dire")
	}
}
