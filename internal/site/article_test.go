package site_test

import (
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// written is small with two articles, one of them sponsored, and an author.
func written() *catalog.Catalog {
	c := small()
	c.Authors = []catalog.Author{{Slug: "ada", Name: "Ada <b>", Role: "Essais", Links: []string{"https://ada.example/"}, Body: "Une vie."}}
	c.Articles = []catalog.Article{
		{
			Slug: "voix", Title: "La voix", Authors: []string{"Ada <b>", "Inconnu"}, Date: "2026-10-01", Tools: []string{"abeille"}, Aliases: []string{"vieux"}, Category: "chat",
			Body: "Un [lien](../outils/abeille.md) dans une phrase.\n\n[Abeille](../outils/abeille.md)\n\n[Notre *préférée*](../outils/abeille.md)\n\n[Duel](../comparatifs/abeille-vs-bourdon.md)\n\n[Abeille ou bourdon](../comparatifs/abeille-vs-bourdon.md)\n\n> [!WARNING]\n> Prenez *garde*.\n\n> Une citation.",
		},
		{Slug: "paye", Title: "Payé", Authors: []string{"Ada <b>"}, Date: "2025-10-02", Tools: []string{"abeille"}, Sponsored: true, Body: "Oui."},
	}
	c.Pages = append(c.Pages, catalog.Page{Slug: "salon", Title: "Salon", Menu: catalog.MenuFooter, Authors: []string{"Ada <b>"}, Date: "2026-10-03", Aliases: []string{"foire"}, Body: "Oui."})
	return c
}

func TestAParagraphThatIsALinkIsACardWithTodaysScoreAndPrice(t *testing.T) {
	c := written()
	v := open(t, c)
	tool := c.Tool("abeille")
	page := v.get("/articles/voix").ok().says(`dans une phrase`, `<ul class="ranks">`, `<ul class="matches">`, `<p><a href="/outils/abeille">Notre <em>préférée</em></a></p>
<ul class="ranks">`, `<aside class="callout callout-warning"><p class="kicker">Attention</p>`, "<em>garde</em>", "<blockquote>", ">Duel</a></p>").saysNot(">Abeille ou bourdon</a></p>") // which the card says
	if n := strings.Count(page.body, `class="ranks-facts"`); n != 3 { // the cards, and the list at the end
		t.Errorf("%d cards", n)
	}
	v.get("/articles/voix.md").ok().says("[Abeille](/outils/abeille.md)", "> [!WARNING]")
	dearer := written()
	dearer.Tool("abeille").Price, dearer.Tool("abeille").Score = "77 €/mois", new(4.2)
	v.publish(dearer, 2)
	v.get("/articles/voix").ok().says("77\u00a0€/mois", "4,2").saysNot(`>` + tool.Price + `<`)
}

func TestASponsoredArticleIsSaidToBeOneWhereverItIsListed(t *testing.T) {
	c := written()
	c.Retired = nil // which are newer
	v := open(t, c)
	for _, path := range []string{"/", "/articles", "/articles.md", "/articles/paye", "/articles/paye.md", "/outils/abeille", "/auteurs/ada", "/auteurs/ada.md", "/flux.atom", "/llms.txt", "/outils?q=Paye"} {
		if page := v.get(path).ok(); !strings.Contains(strings.ToLower(page.body), "article sponsorisé") {
			t.Errorf("%s does not say it", path)
		}
	}
	v.get("/articles/paye").ok().says("<title>Article sponsorisé\u00a0: Payé", `og:title" content="Article sponsorisé`, `og:description" content="Article sponsorisé`,
		`og:image:alt" content="Article sponsorisé`, "<h1>Payé</h1>")
	v.get("/articles/paye").ok().says(`"genre":"Article sponsorisé"`, "ni les notes ni les classements n’en dépendent")
	v.get("/flux.atom").ok().says("ni les notes ni les classements n’en dépendent")
	v.get("/articles/voix").ok().saysNot("sponsorisé")
}

func TestArticlesAndAuthorsLeadToEachOther(t *testing.T) {
	v := open(t, written())
	v.get("/articles").ok().says(`id="page.2026"`, `id="page.2025"`)
	v.get("/articles?annee=2025").ok().says("Payé").saysNot("La voix")
	v.get("/articles?annee=1999").answers(404)
	v.get("/articles/voix").ok().says(`<a href="/auteurs/ada" rel="author">Ada &lt;b&gt;</a> et Inconnu`, `"@type":"Article"`, `/auteurs/ada"}`, `href="/articles" aria-current="true"`)
	v.get("/articles/vieux").movesTo("/articles/voix")
	v.get("/articles/rien").answers(404)
	v.get("/foire").movesTo("/salon")
	v.get("/salon").ok().says(`Par <a href="/auteurs/ada"`, "3\u00a0octobre 2026")
	v.get("/auteurs/ada").ok().says("La voix", "Payé", `href="/salon"`, `"@type":"Person"`, `"jobTitle":"Essais"`, `"sameAs":["https://ada.example/"]`)
	v.get("/auteurs/personne").answers(404)
	v.get("/auteurs").ok().says(`<a href="/auteurs/ada">Ada &lt;b&gt;, essais</a>`)
	v.get("/auteurs.md").ok().says("](/auteurs/ada.md)")
	v.get("/").ok().says(`href="/auteurs"`)
	v.get("/sitemap.xml").ok().says("/articles</loc>", "/articles/voix</loc><lastmod>2026-10-01</lastmod>", "/auteurs</loc>", "/auteurs/ada</loc>")
	v.get("/outils?q=voix").ok().says(`<a href="/articles/voix">La voix</a>`)
	v.get("/outils?q=citations").ok().says(`<a href="/articles/voix">La voix</a>`) // a word of its text
	v.get("/articles/voix").ok().says(`<a href="/categories/chat">`)
	v.get("/articles/voix.md").ok().says("](/categories/chat.md)")
	v.get("/categories/chat").ok().says(`href="/articles/voix"`).saysNot(`href="/articles/paye"`)
	v.get("/categories/chat.md").ok().says("](/articles/voix.md)")
	v.get("/llms.txt").ok().says("/articles.md)", "/auteurs/ada.md)")
	v.get("/outils?q=Ada").ok().says(`<a href="/auteurs/ada">Ada &lt;b&gt;</a>`)
	without := open(t, small())
	without.get("/").ok().saysNot(`href="/articles"`)
	without.get("/sitemap.xml").ok().saysNot("/articles", "/auteurs")
	without.get("/auteurs").answers(404)
}

func TestArticlesAreListedWithTheirPicture(t *testing.T) {
	c := written()
	c.Articles[0].Image = "medias/voix.png"
	c.Pictures = map[string]catalog.Picture{"medias/voix.png": {Hash: "0123456789abcdef", Ext: "png", Width: 800, Height: 600}}
	v := open(t, c)
	for _, path := range []string{"/", "/articles", "/outils/abeille", "/categories/chat"} {
		v.get(path).ok().says(`alt="" width="800" height="600" `)
	}
}
