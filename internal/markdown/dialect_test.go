package markdown_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// magazine is the catalogue around the texts of the tests below.
func magazine() *markdown.Addresses {
	return &markdown.Addresses{
		Catalog: &catalog.Catalog{
			URL:        "https://banc.example",
			Categories: []catalog.Category{{Slug: "code", Label: "Développement", Aliases: []string{"dev"}}},
			Tools: []*catalog.Tool{
				{Slug: "calame"},
				{Slug: "plume", Aliases: []string{"ancienne-plume"}, Body: "Un mot.\n\n## L’essai, en bref !\n\nBref.\n\n## Le prix {#prix}\n\nBas.\n"},
			},
			Comparisons: []catalog.Comparison{{Slug: "a-vs-b", Aliases: []string{"b-vs-a"}, Published: true, Body: "## Verdict\n\nA."}},
			Retired:     []catalog.Retired{{Slug: "jaserin", Body: "Parti.\n\n## Les causes\n\nTrois."}},
			Pages:       []catalog.Page{{Slug: "methode", Body: "## Essais\n\nLongs."}, {Slug: "tarifs"}},
			Pictures: map[string]catalog.Picture{
				"images/logo.png": {Path: "images/logo.png", Hash: "aa", Ext: "png", Width: 64, Height: 32},
				"images/écran 1.png": {
					Path: "images/écran 1.png", Hash: "bb", Ext: "png", Width: 1600, Height: 900,
					Variants: []catalog.Variant{{Name: "b4", Ext: "jpg", Width: 480, Height: 270}, {Name: "b8", Ext: "jpg", Width: 960, Height: 540}},
				},
			},
		},
		Drafts: map[string]problem.Text{"outils/brouillon": problem.New("is-draft")},
		Unread: map[string]bool{"outils/illisible": true},
	}
}

func TestLinksLeadToTheAddressOfTheirPage(t *testing.T) {
	for written, want := range map[string]string{
		"plume.md":                    "/outils/plume",
		"./plume.md":                  "/outils/plume",
		"../outils/plume.md":          "/outils/plume",
		"plume.md#prix":               "/avis/plume#prix",
		"plume.md#introduction":       "/avis/plume#introduction",
		"plume.md#lessai-en-bref-":    "/avis/plume#l-essai-en-bref",
		"plume.md#l-essai-en-bref":    "/avis/plume#l-essai-en-bref",
		"plume.md#le-prix-prix":       "/avis/plume#prix",
		"ancienne-plume.md#prix":      "/avis/plume#prix",
		"illisible.md#x":              "/outils/illisible#x",
		"../comparatifs/a-vs-b.md":    "/comparatifs/a-vs-b",
		"../comparatifs/b-vs-a.md":    "/comparatifs/a-vs-b",
		"/comparatifs/b-vs-a#verdict": "/comparatifs/a-vs-b#verdict",
		"../pages/methode.md#essais":  "/methode#essais",
		"/methode":                    "/methode",
		"/methode.md":                 "/methode",
		"/tarifs":                     "/tarifs",
		"../cimetiere/jaserin.md":     "/cimetiere/jaserin",
		"jaserin.md":                  "/cimetiere/jaserin",
		"/outils/jaserin":             "/cimetiere/jaserin",
		"/cimetiere/jaserin":          "/cimetiere/jaserin",
		"/outils/ancienne-plume":      "/outils/plume",
		"/outils/plume/":              "/outils/plume",
		"/outils/plume#prix":          "/avis/plume#prix",
		"/avis/plume":                 "/avis/plume",
		"/alternatives/plume":         "/alternatives/plume",
		"/categories/dev":             "/categories/code",
		"/categories/dev.atom":        "/categories/code.atom",
		"/outils?q=a%20b":             "/outils?q=a%20b",
		"../outils":                   "/outils",
		"/docs#erreurs":               "/docs#erreurs",

		"../cimetiere/jaserin.md#les-causes":         "/cimetiere/jaserin#les-causes",
		"/cimetiere#jaserin.les-causes":              "/cimetiere/jaserin#les-causes",
		"https://banc.example/outils/plume#prix":     "/avis/plume#prix",
		"https://Banc.Example:443/outils/plume":      "/outils/plume",
		"https://banc.example/outils/ancienne-plume": "/outils/plume",

		"/":                  "/",
		"../images/logo.png": "/media/aa.png",
	} {
		address, reason := magazine().In("outils").Link(written)
		if address != want || reason != nil {
			t.Errorf("%s leads to %q (%s), want %q", written, address, reason, want)
		}
	}
	for _, written := range []string{
		"absent.md", "brouillon.md", "plume.md#absent", "calame.md#x", "/avis/calame", "/alternatives/plume#x", "plume", "plume.MD", "../plume.md", "../README.md", "../..", "../../outils/plume.md",
		"/pages/methode", "/methode#x", "/cimetiere/absent", "../cimetiere/jaserin.md#absent", "/cimetiere#jaserin.absent", "https://banc.example/outils/absent", "https://banc.example:8443/outils/plume", "/categories/absente", "/compt", "/outils/plume/prix", "../images/absente.png", "/static/site.css",
	} {
		if address, reason := magazine().In("outils").Link(written); address != "" || reason == nil {
			t.Errorf("%s leads to %q", written, address)
		}
	}
}

func TestTheDialectIsRendered(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"strikethrough", "~~19 €~~ 17 €", "<p><del>19\u00a0€</del> 17\u00a0€</p>\n"},
		{"tasks say their state", "- [x] un\n- [ ] deux", "<ul>\n<li><input type=\"checkbox\" disabled checked aria-label=\"Fait\"> un</li>\n<li><input type=\"checkbox\" disabled aria-label=\"À faire\"> deux</li>\n</ul>\n"},
		{"links with the host of the site", "[a](https://banc.example/outils/ancienne-plume) https://banc.example/avis/plume https://banc.example/blog", `<p><a href="/outils/plume">a</a> <a href="/avis/plume">https://banc.example/avis/plume</a> <a href="https://banc.example/blog" rel="noopener nofollow">https://banc.example/blog</a></p>` + "\n"},
		{"allowed HTML", "H<sub>2</sub>O<br/>m<SUP>2</SUP> <kbd>*Ctrl*</kbd>", "<p>H<sub>2</sub>O<br>m<sup>2</sup> <kbd><em>Ctrl</em></kbd></p>\n"},
		{"HTML that is not closed", "a<kbd>b *c</kbd>* <sub onclick=x>d</sub> <i>e</i>", "<p>ab <em>c</em> d e</p>\n"},
		{"bare addresses", "Voir www.x.example, https://y.example/a_b_ et a@b.example.", "<p>Voir <a href=\"http://www.x.example\" rel=\"noopener nofollow\">www.x.example</a>, <a href=\"https://y.example/a_b\" rel=\"noopener nofollow\">https://y.example/a_b</a>_ et <a href=\"mailto:a@b.example\">a@b.example</a>.</p>\n"},
		{"a bare address of another kind is text", "ftp://x.example", "<p>ftp://x.example</p>\n"},
		{"no link in a link", "[<https://x.example>](/prix)", "<p><a href=\"/prix\">https://x.example</a></p>\n"},
		{"a link gets its address", "[a](plume.md#prix) [b](/outils/ancienne-plume \"Fiche\")", "<p><a href=\"/avis/plume#prix\">a</a> <a href=\"/outils/plume\" title=\"Fiche\">b</a></p>\n"},
		{"a link in the text", "## Échéance\n\n[a](#échéance)", "<h4 id=\"x-echeance\">Échéance</h4>\n<p><a href=\"#x-echeance\">a</a></p>\n"},
		{"a link to nothing is its text", "[a](absent.md) [b](#absent) [c](javascript:x)", "<p>a b c</p>\n"},
		{"a picture alone is a figure", "![Un *écran*](<../images/écran 1.png> \"Le menu : vide\")", "<figure><img src=\"/media/bb.png\" alt=\"Un écran\" width=\"1600\" height=\"900\" loading=\"lazy\" decoding=\"async\" srcset=\"/media/b4.jpg 480w, /media/b8.jpg 960w, /media/bb.png 1600w\" sizes=\"(min-width: 45rem) 42rem, 92vw\"><figcaption>Le menu\u00a0: vide</figcaption></figure>\n"},
		{"escaped names", "![](../images/%C3%A9cran%201.png)", "<figure><img src=\"/media/bb.png\" alt=\"\" width=\"1600\" height=\"900\" loading=\"lazy\" decoding=\"async\" srcset=\"/media/b4.jpg 480w, /media/b8.jpg 960w, /media/bb.png 1600w\" sizes=\"(min-width: 45rem) 42rem, 92vw\"></figure>\n"},
		{"two pictures are two figures", "![a](../images/logo.png)\n![b](../images/logo.png)", "<figure><img src=\"/media/aa.png\" alt=\"a\" width=\"64\" height=\"32\" loading=\"lazy\" decoding=\"async\"></figure>\n\n<figure><img src=\"/media/aa.png\" alt=\"b\" width=\"64\" height=\"32\" loading=\"lazy\" decoding=\"async\"></figure>\n"},
		{"a picture in a text stays there", "Le ![logo](../images/logo.png \"t\").", "<p>Le <img src=\"/media/aa.png\" alt=\"logo\" width=\"64\" height=\"32\" loading=\"lazy\" decoding=\"async\" title=\"t\">.</p>\n"},
		{"a picture that is a link", "[![a](../images/logo.png \"t\")](plume.md)", "<figure><a href=\"/outils/plume\"><img src=\"/media/aa.png\" alt=\"a\" width=\"64\" height=\"32\" loading=\"lazy\" decoding=\"async\"></a><figcaption>t</figcaption></figure>\n"},
		{"a picture of nowhere is its description", "![a](../images/absente.png) ![b](https://x.example/b.png)", "<p>a b</p>\n"},
		{"a picture in a list", "- ![a](../images/logo.png)", "<ul>\n<li><figure><img src=\"/media/aa.png\" alt=\"a\" width=\"64\" height=\"32\" loading=\"lazy\" decoding=\"async\"></figure>\n</li>\n</ul>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			for _, p := range markdown.HTML(c.body, magazine().In("outils"), "x-") {
				got.WriteString(p.HTML)
			}
			if diff := cmp.Diff(c.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const noted = "Un[^1] deux[^b]\n\n## Prix[^b]\n\nTrois[^1], quatre[^1].\n\n[^b]: Note *b*[^c].\n[^1]:\n    Note un.\n\n    - liste\n[^c]: Note c.\n"

func TestFootnotesBelongToTheSectionsThatReferToThem(t *testing.T) {
	want := []catalog.Section{
		{ID: "introduction", Text: "Un deux\n\nNote un.\n\nliste\n\nNote b.\n\nNote c."},
		{ID: "prix", Text: "Prix\n\nTrois, quatre.\n\nNote b.\n\nNote un.\n\nliste\n\nNote c."},
	}
	if diff := cmp.Diff(want, markdown.Sections(noted)); diff != "" {
		t.Error(diff)
	}
	if got, want := markdown.Plain(noted), "Un deux\n\nPrix\n\nTrois, quatre.\n\nNote un.\n\nliste\n\nNote b.\n\nNote c."; got != want {
		t.Errorf("the plain text is %q, want %q", got, want)
	}
}

func TestFootnotesAndTheirReferencesLinkToEachOther(t *testing.T) {
	parts := markdown.HTML(noted, nil, "")
	want := `<p>Un<sup class="call"><a href="#note.introduction.1" id="appel.introduction.1" role="doc-noteref" aria-label="Note 1">1</a></sup> deux<sup class="call"><a href="#note.introduction.2" id="appel.introduction.2" role="doc-noteref" aria-label="Note 2">2</a></sup></p>
<ol class="notes" aria-label="Notes">
<li id="note.introduction.1" value="1">
<p>Note un.</p>
<ul>
<li>liste</li>
</ul>
<p><a href="#appel.introduction.1" role="doc-backlink" aria-label="Retour à l’appel de la note 1">↩</a></p>
</li>
<li id="note.introduction.2" value="2">
<p>Note <em>b</em><sup class="call"><a href="#note.introduction.3" id="appel.introduction.3" role="doc-noteref" aria-label="Note 3">3</a></sup>.` + "\u00a0" + `<a href="#appel.introduction.2" role="doc-backlink" aria-label="Retour à l’appel de la note 2">↩</a></p>
</li>
<li id="note.introduction.3" value="3">
<p>Note c.` + "\u00a0" + `<a href="#appel.introduction.3" role="doc-backlink" aria-label="Retour à l’appel de la note 3">↩</a></p>
</li>
</ol>
`
	if diff := cmp.Diff(want, parts[0].HTML); diff != "" {
		t.Error(diff)
	}
	if parts[1].Heading != "Prix" || !strings.Contains(parts[1].HTML, "Retour à l’appel 2 de la note 1") {
		t.Errorf("the second section is %+v", parts[1])
	}
	page := parts[0].HTML + parts[1].HTML
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("the id %s is used twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("the link to #%s leads nowhere", m[1])
		}
	}
}

// A text that uses nothing new has the chunks it always had: the embeddings hash of
// its consumers depends on them.
func TestChunksOfOldTextsStayTheSame(t *testing.T) {
	const body = "Avant [lien](https://x.example/a_b) & `code` *a*_b_\\\nsuite &amp; 5 ~ 6.\n\n## A {#a}\n\n1. un\n   suite\n2. deux\n\n> cité\n\n| a | b |\n|---|---|\n| 1 \\| 2 | |\n\n[x] [y](/prix \"t\") #1 C# a@ @b http: www\n"
	want := []catalog.Section{
		{ID: "introduction", Text: "Avant lien & code ab\nsuite & 5 ~ 6."},
		{ID: "a", Text: "A\n\nun suite\ndeux\n\ncité\n\na | b\n1 | 2 |\n\n[x] y #1 C# a@ @b http: www"},
	}
	if diff := cmp.Diff(want, markdown.Sections(body)); diff != "" {
		t.Error(diff)
	}
}
