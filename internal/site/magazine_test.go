package site_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// pictures is a source of pictures that counts what is read.
type pictures struct {
	files map[string][]byte
	reads atomic.Int64
	fails atomic.Bool

	// If wait is not nil, the first read closes started, and reads wait until wait is
	// closed.
	started, wait chan struct{}
}

func (p *pictures) Read(ctx context.Context, hash string) ([]byte, error) {
	n := p.reads.Add(1)
	if p.wait != nil {
		if n == 1 {
			close(p.started)
		}
		select {
		case <-p.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if p.fails.Load() {
		return nil, errors.New("the database is unreachable")
	}
	return p.files[hash], nil
}

func hashOf(digit string) string { return strings.Repeat(digit, 64) }

// magazine is a catalogue that uses everything.
func magazine() *catalog.Catalog {
	c := small()
	c.Settings = catalog.Settings{
		Headline: "Les outils du bureau", Introduction: "Un mot d’**accueil**, et [la méthode](pages/methode.md).", Description: "Le guide des bureaux.",
		Contact: "redaction@essai.example", Publisher: "Presse Essai", Logo: "images/titre.png",
	}
	c.Categories = []catalog.Category{
		{Slug: "chat", Label: "Discussion", Position: 1, Aliases: []string{"bavardage"}, Description: "Pour *parler*."},
		{Slug: "code", Label: "Développement", Position: 0},
	}
	c.Pages = []catalog.Page{
		{Slug: "a-propos", Title: "À propos", Menu: "header", Description: "Qui nous sommes", Body: "Bonjour.\n\n![Le bureau](../images/bureau.jpg \"Notre bureau\")\n"},
		{Slug: "mentions-legales", Title: "Mentions légales", Menu: "footer", Body: "Voir [Abeille](../outils/abeille.md)."},
		{Slug: "methode", Title: "Méthode", Menu: "none", Image: "images/bureau.jpg", Body: "## Les essais\n\nTrois jours[^1].\n\n[^1]: Parfois quatre.\n"},
	}
	c.Pictures = map[string]catalog.Picture{
		"images/titre.png":  {Path: "images/titre.png", Hash: hashOf("a"), Ext: "png", Width: 300, Height: 100},
		"images/logo.png":   {Path: "images/logo.png", Hash: hashOf("b"), Ext: "png", Width: 512, Height: 512, Variants: []catalog.Variant{{Name: hashOf("c"), Ext: "png", Width: 96, Height: 96}, {Name: hashOf("f"), Ext: "png", Width: 192, Height: 192}}},
		"images/bureau.jpg": {Path: "images/bureau.jpg", Hash: hashOf("d"), Ext: "jpg", Width: 2000, Height: 1000, Variants: []catalog.Variant{{Name: hashOf("e"), Ext: "jpg", Width: 960, Height: 480}}},
	}
	t := c.Tools[0]
	t.Authors, t.Logo, t.Image = []string{"Ada L.", "Alan T."}, "images/logo.png", "images/bureau.jpg"
	t.PriceDisplay = "Sur devis, dès 10 €/mois"
	t.Plans = []catalog.PlanRow{{Name: "Solo", Price: "3 $/M tokens"}, {Name: "Équipe", Price: "sur devis", Note: "à partir de dix"}}
	t.ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-09-01", OldScore: number(7), NewScore: number(8.5), OldVerifiability: number(9), NewVerifiability: number(9), Note: "Version 2 : plus sûre"}}
	c.Comparisons[0].Aliases, c.Comparisons[0].Authors = []string{"ancien-duel"}, []string{"Grace H."}
	c.Retired[0].Body, c.Retired[0].Note = "Il **n’est** plus, voir [Abeille](../outils/abeille.md).", "Il n’est plus, voir Abeille."
	return c
}

func openMagazine(t *testing.T, c *catalog.Catalog) (*server, *pictures) {
	t.Helper()
	p := &pictures{files: map[string][]byte{}}
	for i, digit := range []string{"a", "b", "c", "d", "e", "f"} {
		p.files[hashOf(digit)] = bytes.Repeat([]byte{byte('0' + i)}, 1000)
	}
	v := listen(t, site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, Pictures: p})
	v.publish(c, 1)
	return v, p
}

func TestThePublishersPagesAreServedListedAndLinked(t *testing.T) {
	v, _ := openMagazine(t, magazine())
	v.get("/a-propos").ok().says(
		"<h1>À propos</h1>", `<meta name="description" content="Qui nous sommes">`, `<link rel="canonical" href="https://essai.example/a-propos">`,
		`<link rel="alternate" type="text/markdown" href="/a-propos.md"`, `<img src="/media/`+hashOf("d")+`.jpg" alt="Le bureau" width="2000" height="1000" loading="lazy"`, "<figcaption>Notre bureau</figcaption>",
	)
	v.get("/methode").ok().says(`<meta property="og:image" content="https://essai.example/media/`+hashOf("d")+`.jpg">`, `<meta name="twitter:card" content="summary_large_image">`, `<meta name="description" content="Trois jours`, "Parfois quatre.")
	v.get("/mentions-legales").ok().says(`<a href="/outils/abeille">Abeille</a>`)
	v.get("/mentions-legales.md").ok().is("Content-Type", "text/markdown; charset=utf-8").says("# Mentions légales\n", "[Abeille](/outils/abeille.md)")
	v.get("/a-propos.md").ok().says("![Le bureau](/media/" + hashOf("d") + ".jpg")
	home := v.get("/").ok().says(`<li><a href="/a-propos">À propos</a></li>`, `<li><a href="/mentions-legales">Mentions légales</a></li>`).saysNot(`<li><a href="/methode">`)
	if header, _, _ := strings.Cut(home.body, "<main"); !strings.Contains(header, "/a-propos") || strings.Contains(header, "/mentions-legales") {
		t.Error("the menus are mixed up")
	}
	v.get("/sitemap.xml").ok().says("https://essai.example/a-propos<", "https://essai.example/methode<")
	v.get("/llms.txt").ok().says("/methode.md)")
	v.get("/a-propos/").movesTo("/a-propos")
	v.get("/inconnue").answers(404)
	v.get("/inconnue.md").answers(404)
}

func TestThePublisherMayReplaceTheTerms(t *testing.T) {
	c := magazine()
	for _, slug := range []string{"confidentialite", "licence", "tarifs"} {
		c.Pages = append(c.Pages, catalog.Page{Slug: slug, Title: "Nos règles : " + slug, Body: "Texte de " + slug + "."})
	}
	v, _ := openMagazine(t, c)
	for _, slug := range []string{"confidentialite", "licence", "tarifs"} {
		v.get("/"+slug).ok().says("Texte de "+slug+".", "<h1>Nos règles\u00a0: "+slug+"</h1>").saysNot("libres de droits", "99\u00a0€", "Aucun cookie")
		v.get("/" + slug + ".md").ok().says("Texte de " + slug + ".")
	}
	const credit = "Source : Essai (https://essai.example)"
	v.get("/licence").ok().says(`<code id="page.credit">` + credit + `</code>`)
	v.get("/licence.md").ok().says("    " + credit)
	v.get("/").ok().saysNot("Données libres").says(`<a href="/licence">Nos règles`)
	for _, path := range []string{"/llms.txt", "/docs", "/docs.md", "/api/v1/openapi.json"} {
		v.get(path).ok().saysNot("libres de droits")
	}
	v.get("/docs").ok().says("Les conditions de réutilisation sont à l’adresse /licence. Qui reprend les données affiche la ligne <code>")
	v.get("/api/v1/openapi.json").ok().says("Nos règles : licence")
	m := readSitemap(t, v.get("/sitemap.xml"))
	count := 0
	for _, u := range m.URLs {
		if strings.HasSuffix(u.Loc, "/licence") {
			count++
		}
	}
	if count != 1 {
		t.Errorf("the sitemap has /licence %d times", count)
	}
}

func TestSettingsAreShown(t *testing.T) {
	v, _ := openMagazine(t, magazine())
	v.get("/").ok().says(
		">Les outils du bureau</h1>", "<strong>accueil</strong>", `<a href="/methode">la méthode</a>`, `<meta name="description" content="Le guide des bureaux.">`,
		"<p>Le guide des bureaux.</p>", "publié par Presse Essai", `<a href="mailto:redaction@essai.example">redaction@essai.example</a>`,
		`<img class="brand-logo" src="/media/`+hashOf("a")+`.png"`, `<link rel="icon" href="/media/`+hashOf("a")+`.png" type="image/png">`,
	)
	v.get("/confidentialite").ok().says("écrivez à Presse Essai")
	v.get("/outils/abeille").ok().says(`"publisher":{"@type":"Organization","name":"Presse Essai","url":"https://essai.example","logo":"https://essai.example/media/` + hashOf("a") + `.png"}`)
}

func TestCategoriesAreInTheOrderOfThePublisher(t *testing.T) {
	v, _ := openMagazine(t, magazine())
	body := v.get("/").ok().body
	if code, chat := strings.Index(body, `<a href="/categories/code">`), strings.LastIndex(body, `<a href="/categories/chat">`); code < 0 || chat < code {
		t.Error("categories are not in the order of catalogue.yaml")
	}
	v.get("/categories/chat").ok().says("<p>Pour <em>parler</em>.</p>", `href="/categories/chat.atom"`)
	v.get("/categories/bavardage").movesTo("/categories/chat")
	v.get("/categories/bavardage.md?a=b").movesTo("/categories/chat.md?a=b")
	v.get("/categories/bavardage.atom").movesTo("/categories/chat.atom")
	v.get("/comparatifs/ancien-duel").movesTo("/comparatifs/abeille-vs-bourdon")
	v.get("/comparatifs/ancien-duel.md").movesTo("/comparatifs/abeille-vs-bourdon.md")
}

func TestAToolShowsAllItHas(t *testing.T) {
	v, _ := openMagazine(t, magazine())
	v.get("/outils/abeille").ok().says(
		"<strong>Sur devis, dès 10\u00a0€/mois</strong>", `scope="row">Solo</th><td role="cell">3 $/M tokens</td>`, `<td role="cell">à partir de dix</td>`,
		"Par Ada L. et Alan T.", `"author":[{"@type":"Person","name":"Ada L."},{"@type":"Person","name":"Alan T."}]`,
		"7,0 → 8,5", "Version 2\u00a0: plus sûre", `aria-label="Note de Abeille`, `<meta property="og:image" content="https://essai.example/media/`+hashOf("d")+`.jpg">`,
		`<img class="logo" src="/media/`+hashOf("c")+`.png"`, `srcset="/media/`+hashOf("e")+`.jpg 960w, /media/`+hashOf("d")+`.jpg 2000w"`,
	).saysNot(`scope="col">Vérifiabilité</th>`, "10\u00a0€/mois</strong> <span>payant</span> 10")
	v.get("/outils/abeille.md").ok().says("| Solo | 3 $/M tokens |", "- Par\u00a0: Ada L. et Alan T.", "7,0 → 8,5")
	v.get("/outils").ok().says("Sur devis, dès 10\u00a0€/mois", `<img class="logo" src="/media/`+hashOf("c")+`.png"`, `width="96" height="96" loading="lazy"`, `<span class="logo initial" aria-hidden="true">B</span>`)
	open(t, small()).get("/outils").ok().saysNot("logo initial", "with-logo")
	v.get("/comparatifs/abeille-vs-bourdon").ok().says("Par Grace H.", "Sur devis, dès 10\u00a0€/mois")
	v.get("/alternatives/abeille").ok().says("14,50\u00a0€/mois contre sur devis")
}

func TestAScoreWithoutADateOfTestSaysNothingOfTests(t *testing.T) {
	c := small()
	c.Tools[1].TestedAt = "2026-05-01"
	v := open(t, c)
	v.get("/outils/abeille").ok().saysNot("pas encore", "Testé")
	v.get("/outils/bourdon").ok().says("Testé le 1er\u00a0mai 2026")
	v.get("/outils/cigale").ok().says("<dt>Testé</dt><dd>pas encore</dd>").saysNot("—</span><span")
}

func TestAChartBreaksWhereTheUnitChanges(t *testing.T) {
	c := small()
	c.Tools[0].Price = "19 €/mois"
	c.Tools[0].PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-06-01", OldPricing: "payant", OldPrice: "180 €/an", NewPricing: "payant", NewPrice: "19 €/mois"},
		{ChangedAt: "2026-03-01", OldPricing: "payant", OldPrice: "15 €/mois", NewPricing: "payant", NewPrice: "180 €/an"},
	}
	r := open(t, c).get("/outils/abeille").ok().says("L’unité du prix a changé\u00a0: la courbe, interrompue, ne montre que les prix en €/mois.", `<rect class="chart-break"`)
	for _, one := range r.tags() {
		if one.name == "path" && one.attributes["class"] == "chart-line" && strings.Count(one.attributes["d"], "M") != 2 {
			t.Errorf("the line is %s, want two pieces", one.attributes["d"])
		}
	}
}

func TestTheNoteOnARetiredToolKeepsItsFormat(t *testing.T) {
	v, _ := openMagazine(t, magazine())
	v.get("/cimetiere").ok().says(`<p>Il <strong>n’est</strong> plus, voir <a href="/outils/abeille">Abeille</a>.</p>`)
	v.get("/cimetiere.md").ok().says("Il **n’est** plus, voir [Abeille](/outils/abeille.md).")
}

func TestProIsNotMentionedIfThePublisherHidesIt(t *testing.T) {
	c := small()
	c.Settings.Pro = catalog.ProHide
	v := open(t, c)
	for _, path := range []string{"/", "/outils", "/outils/abeille", "/docs", "/docs.md", "/tarifs", "/licence", "/confidentialite", "/llms.txt"} {
		v.get(path).ok().saysNot("Pro ", "Pro.", "Pro,", "Pro<", "Pro)", "`pro`", "<code>pro</code>", "99\u00a0€", "Stripe")
	}
	open(t, small()).get("/tarifs").ok().says("Pro", "99\u00a0€")
}

func TestPicturesAreServedForEver(t *testing.T) {
	v, p := openMagazine(t, magazine())
	path := "/media/" + hashOf("b") + ".png"
	r := v.get(path).ok().is("Content-Type", "image/png").is("Cache-Control", "public, max-age=31536000, immutable").is("X-Content-Type-Options", "nosniff").is("Content-Length", "1000")
	if r.wire != 1000 || r.header.Get("ETag") == "" || r.header.Get("Content-Encoding") != "" {
		t.Errorf("%d bytes, %v", r.wire, r.header)
	}
	v.get(path, "If-None-Match: "+r.header.Get("ETag")).answers(304)
	v.get(path, "Range: bytes=10-19").answers(206).is("Content-Range", "bytes 10-19/1000")
	if head := v.do("HEAD", path).ok().is("Content-Length", "1000"); head.wire != 0 {
		t.Error("HEAD has a body")
	}
	v.do("POST", path).answers(405)
	if n := p.reads.Load(); n != 1 {
		t.Errorf("%d reads, want one", n)
	}
	for _, wrong := range []string{hashOf("9") + ".png", hashOf("b") + ".jpg", hashOf("b"), hashOf("b") + ".png.png", "x", strings.ToUpper(hashOf("b")) + ".png"} {
		v.get("/media/" + wrong).answers(404)
	}
	v.get("/media/").answers(301)
	if n := p.reads.Load(); n != 1 {
		t.Errorf("%d reads: a wrong address was looked up", n)
	}
}

func TestAnUnreachableDatabaseLeavesThePicturesThatWereRead(t *testing.T) {
	v, p := openMagazine(t, magazine())
	v.get("/media/" + hashOf("b") + ".png").ok()
	p.fails.Store(true)
	v.get("/media/" + hashOf("b") + ".png").ok()
	v.get("/media/"+hashOf("c")+".png").answers(503).is("Cache-Control", "no-store").is("ETag", "").is("Retry-After", "5")
	v.get("/outils/abeille").ok()
	p.fails.Store(false)
	v.get("/media/" + hashOf("c") + ".png").ok()
}

func TestRequestsForOnePictureAtOnceReadItOnce(t *testing.T) {
	v, p := openMagazine(t, magazine())
	p.started, p.wait = make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			resp, err := http.Get(v.url + "/media/" + hashOf("d") + ".jpg")
			if err != nil || resp.StatusCode != 200 {
				t.Error(err, resp)
				return
			}
			resp.Body.Close()
		})
	}
	<-p.started // one of them reads
	close(p.wait)
	all.Wait()
	if n := p.reads.Load(); n != 1 {
		t.Errorf("%d reads, want one", n)
	}
}

// feedOf reads a feed.
func feedOf(t *testing.T, r *reply) []feedEntry {
	t.Helper()
	var feed struct {
		Entries []feedEntry `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(r.ok().body), &feed); err != nil {
		t.Fatal(err)
	}
	return feed.Entries
}

type feedEntry struct {
	ID       string    `xml:"id"`
	Title    string    `xml:"title"`
	Updated  time.Time `xml:"updated"`
	Since    string    `xml:"published"`
	Summary  string    `xml:"summary"`
	Authors  []string  `xml:"author>name"`
	Category struct {
		Term string `xml:"term,attr"`
	} `xml:"category"`
	Link struct {
		Href string `xml:"href,attr"`
	} `xml:"link"`
}
