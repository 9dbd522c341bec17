package site_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

var columnPattern = regexp.MustCompile(`<th role="columnheader" scope="col">.*?<a href="/outils/([^"]+)">`)

// columns returns the tools of a comparison, in order.
func (r *reply) columns() []string {
	slugs := []string{}
	for _, m := range columnPattern.FindAllStringSubmatch(r.body, -1) {
		slugs = append(slugs, m[1])
	}
	return slugs
}

func TestChosenToolsStandSideBySide(t *testing.T) {
	c := small()
	c.Tools[0].TestedAt = "2026-09-01"
	c.Tools[0].Pros, c.Tools[0].Summary = []string{"Rapide", "Claire : très"}, "Bien."
	c.Tools[1].Cons, c.Tools[1].Summary = []string{"Le bruit", "Le poids"}, "Moyen."
	v := open(t, c)
	r := v.get("/comparer?outils=drosophile,abeille,bourdon,cigale").ok()
	equal(t, "columns", r.columns(), []string{"drosophile", "abeille", "bourdon", "cigale"})
	r.says(
		"<h1>Drosophile, Abeille, Bourdon et Cigale</h1>", `<td role="cell"><span class="unfolded">Abeille</span><span class="num">8,5</span>`,
		"1\u202f200\u00a0€/an", "100\u00a0€</td>", "14,50\u00a0€</td>", "0\u00a0€</td>", "Freemium", "Développement", "1er\u00a0septembre 2026", "non mesuré",
		"<li>Rapide</li><li>Claire\u00a0: très</li>", "<p>Bien.</p>", "<li>Le bruit</li><li>Le poids</li>", "<p>Moyen.</p>", `href="/avis/abeille"`, "pas encore",
		`<a href="/comparatifs/abeille-vs-bourdon">Abeille ou Bourdon`+"\u202f?</a>", "Elle pique moins.",
		`<a class="without" href="/comparer?outils=drosophile,bourdon,cigale"`, "Notes de bancs d’essai différents",
	).saysNot("Brouillon", `class="better"`)
	v.get("/comparer.md?outils=abeille,drosophile").ok().is("Content-Type", "text/markdown; charset=utf-8").
		is("Link", `<https://essai.example/comparer?outils=abeille,drosophile>; rel="canonical"`).
		says("| Prix | 10\u00a0€/mois | 1\u202f200\u00a0€/an |", "| Par mois | 10\u00a0€ | 100\u00a0€ |", "| Points forts | Rapide ; Claire\u00a0: très | — |", "(/api/v1/pricing/drosophile)")
	v.get("/comparer?outils=abeille,bourdon").ok().saysNot("Par mois", `class="without"`) // both prices are per month, and two must remain
}

func TestAComparisonSaysFirstWhatDiffers(t *testing.T) {
	c := tested()
	c.Tools[1].Price = "10 €/mois"
	c.Tools[1].Criteria = catalog.Values{{Name: "exactitude", Number: 8}, {Name: "hors-ligne", IsFlag: true}, {Name: "latence", Number: 9}}
	v := open(t, c)
	const path = "/comparer?outils=aube,brume"
	r := v.get(path).ok().says(
		"<li>brume face à aube\u00a0: moins bien noté de 2,0 points, moins bon en «\u00a0Hors ligne\u00a0» (non contre oui), moins cher de 2\u00a0€/mois.</li>",
		`<a href="/comparer?outils=aube,brume&amp;differences=1" rel="nofollow">Ne montrer que les différences</a>`,
		"<td role=\"cell\" class=\"better\"><span class=\"unfolded\">aube</span><span class=\"num\">2,5\u00a0s</span>",
		`<td role="cell" class="better"><span class="unfolded">aube</span><span class="num">oui</span></td>`,
		"<li>Juste &lt;b&gt;</li>", "<li>Lente</li>", "<p>À prendre\u00a0: sûre.</p>").saysNot("bancs d’essai différents")
	table, folded, _ := strings.Cut(r.body, "<details")
	for _, same := range []string{"Exactitude", "Catégorie", "Testé le"} { // is said of both
		if strings.Contains(table, ">"+same+"<") || !strings.Contains(folded, "<dt>"+same+"</dt>") {
			t.Errorf("%s is not folded", same)
		}
	}
	v.get(path+"&differences=1").ok().says(`<a href="/comparer?outils=aube,brume" rel="nofollow">`).saysNot("<details", "Exactitude")
	v.get("/comparer?outils=aube&outils=brume&differences=1").movesTo(path + "&differences=1")
	v.get("/comparer.md?outils=aube,brume").ok().says("| Latence | 2,5\u00a0s | 9\u00a0s |", "- Exactitude : 8\u00a0sur\u00a010", "- brume face à aube")
}

func TestAComparisonHasOneAddressPerSetAndIsNotIndexed(t *testing.T) {
	v := open(t, small())
	for _, order := range []string{"bourdon,abeille,cigale", "cigale,bourdon,abeille", "abeille%2Cbourdon%2Ccigale", "abeille,cigale,bourdon&utm_source=x"} {
		v.get("/comparer?outils="+order).ok().says(
			`<link rel="canonical" href="https://essai.example/comparer?outils=abeille,bourdon,cigale">`, `<meta name="robots" content="noindex">`,
			`<link rel="alternate" type="text/markdown" href="/comparer.md?outils=`)
	}
	v.get("/comparer").ok().says(`<meta name="robots" content="noindex">`, `<link rel="canonical" href="https://essai.example/comparer">`, `<option value="Abeille">`)
	v.get("/sitemap.xml").ok().saysNot("comparer")
	v.get("/").ok().says(`<a href="/comparer">`)
	v.get("/comparer.md").ok().says("/comparer.md?outils=a,b,c")
}

func TestChoicesLeadToTheirAddress(t *testing.T) {
	v := open(t, small())
	for query, address := range map[string]string{
		"outils=ancienne-abeille,bourdon":            "abeille,bourdon",
		"outils=bourdon&outils=abeille":              "bourdon,abeille", // as a form sends it
		"outils=Bourdon&outils=Abeille&outils=":      "bourdon,abeille",
		"outils=+bourdon+,,abeille,":                 "bourdon,abeille",
		"outils=BOURDON,ABEILLE":                     "bourdon,abeille",
		"outils=cigale,ancienne-abeille&outils=%20,": "cigale,abeille",
	} {
		v.get("/comparer?" + query).movesTo("/comparer?outils=" + address)
		v.get("/comparer.md?" + query).movesTo("/comparer.md?outils=" + address)
	}
	c := small()
	c.Tools[1].Name = "Grand Bourdon" // unlike its slug
	v = open(t, c)
	v.get("/comparer?outils=grand+bourdon,abeille").movesTo("/comparer?outils=bourdon,abeille")
	v.get("/comparer?outils=bourdon,abeille").ok().says(`value="Grand Bourdon"`, `value="Abeille"`)
	for _, name := range []string{"Cigale", "Fantôme 3", "Bourdon, le grand", "Ancienne abeille"} { // which lead elsewhere
		c := small()
		c.Tools[1].Name = name
		open(t, c).get("/comparer?outils=bourdon,abeille").ok().says(`value="bourdon"`)
	}
}

func TestAChoiceThatCannotBeShownSaysWhy(t *testing.T) {
	v := open(t, small())
	for _, test := range []struct {
		query  string
		status int
		words  []string
	}{
		{"outils=", 400, []string{"Choisissez au moins deux outils"}},
		{"outils=,,,&outils=+", 400, []string{"Choisissez au moins deux outils"}},
		{"outils=abeille", 400, []string{"vous n’en avez choisi qu’un", `value="Abeille"`}},
		{"outils=abeille;bourdon", 400, []string{"Cette adresse est mal écrite. Séparez les outils par des virgules"}},
		{"outils=abeille,%zz", 400, []string{"Cette adresse est mal écrite"}},
		{"outils=abeille,bourdon,cigale,drosophile,abeille", 400, []string{"Quatre outils au plus", "choisi 5", `<a class="button" href="/comparer?outils=abeille,bourdon,cigale,drosophile"`}},
		{"outils=abeille,abeille", 400, []string{"Abeille est nommé deux fois"}},
		{"outils=abeille,ancienne-abeille,cigale", 400, []string{"Abeille est nommé deux fois", `<a class="button" href="/comparer?outils=abeille,cigale"`}},
		{"outils=abeille,zzz", 404, []string{"Aucun outil n’est connu sous le nom «\u00a0zzz\u00a0»"}},
		{"outils=abeile,bourdon", 404, []string{"«\u00a0abeile\u00a0»", "Vouliez-vous dire Abeille\u202f?", `<a class="button" href="/comparer?outils=abeille,bourdon"`}},
		{"outils=abeille,fantome-03", 404, []string{"Fantôme 3 a quitté le catalogue", "Il n’est plus.", `<h3><a href="/cimetiere/fantome-03">Fantôme 3</a></h3>`, "À sa place\u00a0: <a href=\"/outils/abeille\">"}},
		{"outils=" + strings.Repeat(",", 10_000), 400, []string{"trop longue"}},
		{"outils=abeille," + strings.Repeat("x", 1500), 404, []string{"«\u00a0" + strings.Repeat("x", 100) + "…\u00a0»"}},
		{"outils=%3Cscript%3E,%ff%00", 404, []string{"&lt;script&gt;"}},
	} {
		for _, form := range []string{"/comparer", "/comparer.md"} {
			r := v.get(form+"?"+test.query).answers(test.status).is("Cache-Control", "no-store")
			if form == "/comparer" {
				r.says(test.words...).says(`<form class="choose"`, `name="robots" content="noindex"`).saysNot("<table", `rel="canonical"`, "<script>")
			} else {
				r.is("Content-Type", "text/markdown; charset=utf-8").is("Link", "").saysNot("| Prix |")
			}
		}
	}
}

func TestANameThatTwoToolsHaveIsNotGuessed(t *testing.T) {
	c := small()
	c.Tools[0].Name, c.Tools[1].Name = "Jumeau", "Jumeau"
	v := open(t, c)
	v.get("/comparer?outils=jumeau,cigale").answers(400).says("Plusieurs outils s’appellent «\u00a0Jumeau\u00a0»", `<a href="/outils/abeille">Jumeau</a>`, "<code>abeille</code>", "<code>bourdon</code>", `value="Cigale"`)
	v.get("/comparer.md?outils=jumeau,cigale").answers(400).says("(/outils/abeille.md)", "(/outils/bourdon.md)")
	v.get("/comparer?outils=bourdon,cigale").ok()
}

func TestAComparisonInAnEmptyCatalogueSaysWhy(t *testing.T) {
	v := open(t, &catalog.Catalog{Name: "Vide", URL: essai})
	v.get("/comparer").ok().saysNot("<table")
	v.get("/comparer?outils=a,b").answers(404).saysNot("<table")
}

func TestListsAndToolsOfferToCompare(t *testing.T) {
	v := open(t, small())
	for _, path := range []string{"/outils", "/outils?q=abeille", "/categories/chat"} {
		r := v.get(path).ok().says(`<form id="page.comparer" class="ticked" action="/comparer" method="get"`)
		boxes := 0
		for _, one := range r.tags() {
			if one.name == "input" && one.attributes["type"] == "checkbox" && one.attributes["name"] == "outils" {
				boxes++
			}
		}
		if boxes == 0 {
			t.Errorf("%s has no box to tick", path)
		}
	}
	v.get("/outils/abeille").ok().says(`href="/comparer?outils=abeille,bourdon"`)
	v.get("/outils?q=zzzz").ok().saysNot("page.comparer")
}

// There are more choices than anybody could keep: none of them is, and none costs more than
// other pages, whatever the size of the catalogue.
func TestComparisonsAreNotKeptAndCostWhatOtherPagesCost(t *testing.T) {
	v := open(t, large())
	list := v.cost("/outils?limit=50&x=%d", "identity", 200)
	for path, status := range map[string]int{
		"/comparer?outils=outil-%d,abeille,bourdon,outil-1%d": 200,
		"/comparer?outils=outil-%d":                           400,
		"/comparer?outils=invention-%d,abeille":               404,
		"/comparer?outils=invention-%d,abeille&%d":            404,
	} {
		if took := v.cost(path, "identity", status); took > list {
			t.Errorf("%s takes %d kB, a list of tools %d kB", path, took/1000, list/1000)
		}
	}
	before := v.site.CachedPages()
	for i := range 50 {
		v.get(fmt.Sprintf("/comparer?outils=outil-%d,abeille", i)).ok()
		v.get(fmt.Sprintf("/comparer?outils=invention-%d,abeille", i)).answers(404)
		v.get(fmt.Sprintf("/comparer?outils=ancienne-abeille,outil-%d", i)).answers(301)
	}
	if after := v.site.CachedPages(); after != before {
		t.Errorf("%d bytes of pages are cached, %d before", after, before)
	}
}

func TestAFormProposesNamesHoweverManyToolsThereAre(t *testing.T) {
	open(t, small()).get("/comparer").ok().says(`<datalist id="page.noms"><option value="Abeille">`, `list="page.noms"`)
	many := open(t, synthetic.Catalog(300, 1)).get("/comparer").ok().says(`<datalist id="page.noms">`, `list="page.noms"`)
	if n := strings.Count(many.body, "<option "); n != 200 {
		t.Errorf("%d names are proposed", n)
	}
}
