package content

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"palmares/internal/markdown"
)

// magazine is a folder to which the bodies of the tests below belong.
func magazine(t *testing.T) fstest.MapFS {
	t.Helper()
	tool := func(name, more, body string) string {
		return "---\n" + strings.Replace(someFields, "Boréal", name, 1) + more + "---\n" + body
	}
	return folderOf(map[string]string{
		"outils/plume.md":           tool("Plume", "score: 8\naliases: [ancienne-plume]\n", "Un mot.\n\n## Prise en main\n\nFacile.\n\n## Le prix, en bref {#prix}\n\nBas.\n\n### Remise\n"),
		"outils/calame.md":          tool("Calame", "score: 7\n", ""),
		"comparatifs/a-vs-b.md":     "---\ntitle: A ou B\ntool_a: plume\ntool_b: calame\nwinner: plume\nwinner_note: Net.\n---\n## Verdict\n\nPlume.\n",
		"comparatifs/brouillon.md":  "---\ntitle: Plus tard\ntool_a: plume\ntool_b: calame\nwinner: plume\nwinner_note: Net.\npublished: false\n---\n",
		"cimetiere/jaserin.md":      "---\nname: Jaserin\ncategory: code\nreason: mort\nretired_at: 2025-01-01\n---\nFermé.\n",
		"pages/methode.md":          "---\ntitle: Méthode\n---\n## Le banc\n\nIci.\n",
		"pages/projet.md":           "---\ntitle: Projet\ndraft: true\n---\nUn jour.\n",
		"outils/futur.md":           "---\nname: Futur\ndraft: true\n---\n[x](../pages/projet.md)\n",
		"outils/illisible.md":       "---\nname: [\n---\n",
		"pages/illisible.md":        "---\ntitle: [\n---\n",
		"images/ecran.png":          string(drawing(8, 0)),
		"images/Mon image.png":      string(drawing(8, 0)),
		"images/captures/menu.jpeg": string(drawing(8, 0)),
	})
}

// problemsOf returns the problems of one body in that folder, with lines within the
// body.
func problemsOf(t *testing.T, body string) []string {
	t.Helper()
	folder := magazine(t)
	folder["outils/essai.md"] = &fstest.MapFile{Data: []byte(someTool + body)}
	_, problems := read(t, folder)
	var found []string
	for _, p := range problems {
		if p.File == "outils/essai.md" {
			found = append(found, fmt.Sprintf("%d: %s", p.Line-strings.Count(someTool, "\n"), p.Text))
		}
	}
	return found
}

// Each body has one mistake, which is reported once, at its line.
func TestMistakesInBodiesAreReportedWithTheirLine(t *testing.T) {
	const (
		html       = "; write Markdown, or put code between backticks (only <br>, <kbd>, <sub> and <sup> are allowed)"
		attributes = ` is not rendered: links, pictures and texts have no attributes; remove it (or write \{ if it is text)`
		levels     = "a heading of level 1 is not rendered, because the title of the page comes from name or title; write ## for a section"
	)
	for _, c := range []struct{ name, body, want string }{
		{"an element", "un\n\ndeux <b>gras</b>", "3: HTML is not rendered: <b>" + html},
		{"a block of HTML", "un\n\n<div class=\"x\">\nbloc\n</div>", "3: HTML is not rendered: <div>" + html},
		{"a script", "<script>alert(1)</script>", "1: HTML is not rendered: <script>" + html},
		{"a picture as HTML", "un <img src=\"../images/ecran.png\" width=\"300\">", "1: HTML is not rendered: <img>" + html},
		{"a comment", "un\n<!-- à revoir -->", "2: an HTML comment is not rendered; remove it"},
		{"a comment in a line", "un <!-- à revoir --> deux", "1: an HTML comment is not rendered; remove it"},
		{"a processing instruction", "un <?php echo 1 ?>", "1: HTML is not rendered; write Markdown, or put code between backticks"},
		{"attributes", "Tapez <kbd class=\"x\">Ctrl", `1: HTML: <kbd> is not rendered like this; write <br>, and <kbd>, <sub> and <sup> without attributes and closed in the same block`},
		{"an element that is not closed", "un\n\nH<sub>2O", `3: HTML: <sub> is not rendered like this; write <br>, and <kbd>, <sub> and <sup> without attributes and closed in the same block`},
		{"an element closed in another block", "H<sub>2\n\nO", `1: HTML: <sub> is not rendered like this; write <br>, and <kbd>, <sub> and <sup> without attributes and closed in the same block`},
		{"a closing tag alone", "H2</sub>O", `1: HTML: <sub> is not rendered like this; write <br>, and <kbd>, <sub> and <sup> without attributes and closed in the same block`},
		{"a closed line break", "un</br>deux", `1: HTML: <br> is not rendered like this; write <br>, and <kbd>, <sub> and <sup> without attributes and closed in the same block`},
		{"a title", "# Plume\n\nTexte.", "1: " + levels},
		{"an underlined title", "Texte.\n\nPlume\n=====", "3: " + levels},
		{"a title in a quote", "> # Plume", "1: " + levels},
		{"a glued heading", "Texte.\n\n##Tarifs", "3: this is not a heading, because a space is missing after ##; write ## Tarifs"},
		{"a glued heading below a line", "Texte.\n###Détail", "2: this is not a heading, because a space is missing after ###; write ### Détail"},
		{"too many #", "####### Titre", "1: this is not a heading, because headings have at most six #"},
		{"a conflict", "a\n\n<<<<<<< HEAD\nb", "3: this line is of a git conflict; keep one of the two versions and remove the lines <<<<<<<, ======= and >>>>>>>"},
		{"the base of a conflict", "a\n\n||||||| base\nb", `3: this line is of a git conflict; keep one of the two versions and remove the lines <<<<<<<, ======= and >>>>>>>`},
		{"the rest of a conflict", "a\n\n>>>>>>> main", `3: this line is of a git conflict; keep one of the two versions and remove the lines <<<<<<<, ======= and >>>>>>>`},
		{"a picture that is missing", "![vue](../images/absente.png)", `1: the picture "../images/absente.png" is not in the folder: images/absente.png does not exist`},
		{"a picture of another case", "![vue](../images/Ecran.png)", `1: the picture "../images/Ecran.png" is not in the folder: images/Ecran.png does not exist; did you mean images/ecran.png?`},
		{"a picture beside the text", "a\n![vue](ecran.png)", `2: the picture "ecran.png" is not in images/; put it there and write its path, such as ../images/ecran.png`},
		{"a picture from the wrong folder", "![vue](images/ecran.png)", `1: the picture "images/ecran.png" is not in images/; put it there and write its path, such as ../images/ecran.png`},
		{"a folder as a picture", "![vue](../images/captures)", `1: the picture "../images/captures" is not in the folder: images/captures does not exist`},
		{"a picture outside the folder", "![vue](../../ecran.png)", `1: the picture "../../ecran.png" is not in images/; put it there and write its path, such as ../images/ecran.png`},
		{"a picture of another host", "![vue](https://x.example/a.png)", `1: the picture "https://x.example/a.png" is not a file of the folder, and not rendered; put the file into images/`},
		{"a picture without a scheme", "![vue](//x.example/a.png)", `1: the picture "//x.example/a.png" is not a file of the folder, and not rendered; put the file into images/`},
		{"a picture in the text", "![vue](data:image/png;base64,AAAA)", `1: the picture "data:image/png;base64,AAAA" is not a file of the folder, and not rendered; put the file into images/`},
		{"a picture without a path", "![vue]()", "1: this picture has no path; write it between the parentheses, such as ../images/ecran.png"},
		{"a picture with backslashes", `![vue](..\images\ecran.png)`, `1: the picture "..\\images\\ecran.png" is not a path; check its spelling, and write / instead of backslashes`},
		{"a picture with a space in its path", "a\n\n![x](../images/Mon image.jpg \"légende\")", `3: this picture is not rendered; write ![description](../images/ecran.png), with < and > around a path that has spaces (or !\[ if it is text)`},
		{"a link with a space in its path", "a\n[voir [1]](scie mot.md)", `2: this link is not rendered; write [text](address), with < and > around an address that has spaces (or \[ if it is text)`},
		{"an address with a space", "[x](https://x.example/a b)", `1: this link is not rendered; write [text](address), with < and > around an address that has spaces (or \[ if it is text)`},
		{"a path in two lines", "[x](scie\nmot.md)", `1: this link is not rendered; write [text](address), with < and > around an address that has spaces (or \[ if it is text)`},
		{"a space before the path", "![x] (../images/ecran.png)", `1: this picture is not rendered; write ![description](../images/ecran.png), with < and > around a path that has spaces (or !\[ if it is text)`},
		{"a picture that is only brackets", "Aïe ![sic].", `1: this picture is not rendered; write ![description](../images/ecran.png), with < and > around a path that has spaces (or !\[ if it is text)`},
		{"a picture whose reference is not closed", "![x][y", `1: this picture is not rendered; write ![description](../images/ecran.png), with < and > around a path that has spaces (or !\[ if it is text)`},
		{"a picture with an empty reference", "![x][]", `1: this picture is not rendered; write ![description](../images/ecran.png), with < and > around a path that has spaces (or !\[ if it is text)`},
		{"a picture that is a footnote", "![^x]", "1: footnote [^x] has no definition; add one at the start of a line, outside lists and quotes: [^x]: …"},
		{"a picture that is not closed", "![x](../images/ecran.png", `1: this picture is not rendered; write ![description](../images/ecran.png), with < and > around a path that has spaces (or !\[ if it is text)`},
		{"a title with quotes", `[x](plume.md "le "prix" bas")`, `1: this link is not rendered; write [text](address), with < and > around an address that has spaces (or \[ if it is text)`},
		{"a picture without a definition", "![x][y]", "1: the link […][y] has no definition; write […](address), add a line [y]: address, or put code between backticks"},
		{"a link to no tool", "a\n\n[x](/outils/absent)", `3: the link to "/outils/absent" leads nowhere: there is no tool "absent"`},
		{"a file of no tool", "[x](absent.md)", `1: the link to "absent.md" leads nowhere: there is no tool "absent"`},
		{"no such section", "[x](plume.md#tarifs)", `1: the link to "plume.md#tarifs" leads nowhere: the review of "plume" has the sections #introduction, #prise-en-main, #prix`},
		{"no such section of this text", "[x](#tarifs)\n\n## Prix", "1: the link to #tarifs leads nowhere: this text has the sections #introduction, #prix"},
		{"no review", "[x](/avis/calame)", `1: the link to "/avis/calame" leads nowhere: tool "calame" has no review; link to /outils/calame`},
		{"no section without a review", "[x](calame.md#prix)", `1: the link to "calame.md#prix" leads nowhere: the review of "calame" has no sections`},
		{"no such comparison", "[x](../comparatifs/a-vs-c.md)", `1: the link to "../comparatifs/a-vs-c.md" leads nowhere: there is no comparison "a-vs-c"`},
		{"a comparison that is not published", "[x](/comparatifs/brouillon)", `1: the link to "/comparatifs/brouillon" leads nowhere: comparison "brouillon" is not published`},
		{"no such retired tool", "[x](../cimetiere/absent.md)", `1: the link to "../cimetiere/absent.md" leads nowhere: there is no retired tool "absent"`},
		{"no such page", "[x](../pages/absente.md)", `1: the link to "../pages/absente.md" leads nowhere: there is no page "absente"`},
		{"a page that is a draft", "[x](../pages/projet.md)", `1: the link to "../pages/projet.md" leads nowhere: page "projet" is a draft; publish it first, or remove the link`},
		{"the address of a draft", "[x](/projet)", `1: the link to "/projet" leads nowhere: page "projet" is a draft; publish it first, or remove the link`},
		{"a tool that is a draft", "[x](futur.md)", `1: the link to "futur.md" leads nowhere: tool "futur" is a draft; publish it first, or remove the link`},
		{"no such section of a page", "[x](/methode#prix)", `1: the link to "/methode#prix" leads nowhere: pages/methode.md has the sections #le-banc`},
		{"no such address", "[x](/absente)", `1: the link to "/absente" leads nowhere: there is no page "absente"`},
		{"no such category", "[x](/categories/absente)", `1: the link to "/categories/absente" leads nowhere: there is no category "absente"`},
		{"a page below one of the site", "[x](/prix/nope)", `1: the link to "/prix/nope" leads nowhere: the site has no such page`},
		{"a page below the documentation", "[x](/docs/nope)", `1: the link to "/docs/nope" leads nowhere: the site has no such page`},
		{"a page below the plans", "[x](/tarifs/nope)", `1: the link to "/tarifs/nope" leads nowhere: the site has no such page`},
		{"a page below an account", "[x](/compte/nope)", `1: the link to "/compte/nope" leads nowhere: the site has no such page`},
		{"the address of a picture", "[x](/media/nope.png)", `1: the link to "/media/nope.png" leads nowhere: the address of a picture changes with its content; link to its file, such as ../images/ecran.png`},
		{"no such operation", "[x](/api/v1/nope)", `1: the link to "/api/v1/nope" leads nowhere: the API has no such address; /docs lists those it has`},
		{"no such tool of the API", "[x](/api/v1/tools/nope)", `1: the link to "/api/v1/tools/nope" leads nowhere: there is no tool "nope"`},
		{"no such comparison of the API", "[x](/api/v1/comparatifs/brouillon)", `1: the link to "/api/v1/comparatifs/brouillon" leads nowhere: comparison "brouillon" is a draft; publish it first, or remove the link`},
		{"no such grave", "[x](/cimetiere#nope)", `1: the link to "/cimetiere#nope" leads nowhere: there is no retired tool "nope"`},
		{"no such grave of the folder", "[x](../cimetiere#nope)", `1: the link to "../cimetiere#nope" leads nowhere: there is no retired tool "nope"`},
		{"our own address", "a\n\n[x](https://essai.example/outils/nope)", `3: the link to "https://essai.example/outils/nope" leads nowhere: there is no tool "nope"`},
		{"our own address alone", "a\n\nVoir https://essai.example/outils/nope.", `3: the link to "https://essai.example/outils/nope" leads nowhere: there is no tool "nope"`},
		{"attributes of a heading", "a\n\n## T {.cls}", `3: {.cls} is not rendered; remove it: a heading of level 2 outside lists and quotes may have an id, such as {#prix}, and nothing else`},
		{"attributes behind a closed heading", "### T ### {.cls}", `1: {.cls} is not rendered; remove it: a heading of level 2 outside lists and quotes may have an id, such as {#prix}, and nothing else`},
		{"empty attributes", "## T {}", `1: {} is not rendered; remove it: a heading of level 2 outside lists and quotes may have an id, such as {#prix}, and nothing else`},
		{"attributes of an underlined heading", "T {.cls}\n---", `1: {.cls} is not rendered; remove it: a heading of level 2 outside lists and quotes may have an id, such as {#prix}, and nothing else`},
		{"more than the id of a heading", "## T {#t .cls}", `1: {#t .cls} is not rendered; remove it: a heading of level 2 outside lists and quotes may have an id, such as {#prix}, and nothing else`},
		{"the id of a lower heading", "### T {#t}", `1: {#t} is not rendered; remove it: a heading of level 2 outside lists and quotes may have an id, such as {#prix}, and nothing else`},
		{"the id of a heading in a quote", "> ## T {#t}", `1: {#t} is not rendered; remove it: a heading of level 2 outside lists and quotes may have an id, such as {#prix}, and nothing else`},
		{"an anchor of a lower heading", "## Prix\n\n### Détail\n\n[x](#détail)", `5: the link to #détail leads nowhere: this text has the sections #prix`},
		{"an anchor of a lower heading elsewhere", "[x](plume.md#remise)", `1: the link to "plume.md#remise" leads nowhere: the review of "plume" has the sections #introduction, #prise-en-main, #prix`},
		{"a link without .md", "[x](plume)", `1: the link to "plume" leads nowhere: outils/plume is not a page of the site; link to the file of a record, such as outils/plume.md`},
		{"a link out of the folder", "[x](../../secret.md)", `1: the link to "../../secret.md" leads nowhere: it leaves the folder; link to the file of a record, such as outils/plume.md`},
		{"a link to another file", "[x](../catalogue.yaml)", `1: the link to "../catalogue.yaml" leads nowhere: catalogue.yaml is not a page of the site; link to the file of a record, such as outils/plume.md`},
		{"a link to a missing picture", "[x](../images/absente.png)", `1: the picture "../images/absente.png" is not in the folder: images/absente.png does not exist`},
		{"a link without a destination", "[x]()", "1: this link has no destination; write the address between the parentheses"},
		{"a link that is a script", "[x](javascript:alert(1))", `1: the link to "javascript:alert(1)" is not rendered; only http, https, mailto and links within the catalogue are`},
		{"a bare address of another kind", "<ftp://x.example>", `1: the link to "ftp://x.example" is not rendered; only http, https, mailto and links within the catalogue are`},
		{"a link without a host", "[x](https:///a)", `1: the link to "https:///a" is not rendered; only http, https, mailto and links within the catalogue are`},
		{"a link with backslashes", `[x](..\outils\plume.md)`, `1: the link to "..\\outils\\plume.md" is not an address; check its spelling, and write / instead of backslashes`},
		{"a footnote without a definition", "un\n\ndeux[^1]", "3: footnote [^1] has no definition; add one at the start of a line, outside lists and quotes: [^1]: …"},
		{"a footnote without a reference", "un\n\n[^1]: Note.", "3: the text does not refer to footnote [^1], so it is not rendered; write [^1] where it belongs, or remove it"},
		{"a footnote defined twice", "un[^1]\n\n[^1]: Note.\n\n[^1]: Autre.", "5: footnote [^1] is defined a second time; give it another name"},
		{"a footnote without text", "un[^1]\n\n[^1]:", "3: footnote [^1] has no text; write it behind the colon"},
		{"a footnote in a link", "[un[^1]](/prix)\n\n[^1]: Note.", "1: a footnote cannot be inside a link or the description of a picture; put it behind"},
		{"a link without a definition", "Voir [ici][ref].", "1: the link […][ref] has no definition; write […](address), add a line [ref]: address, or put code between backticks"},
		{"a definition without a link", "un\n\n[ref]: https://x.example", "3: no link refers to [ref], so this line is not rendered; remove it, or write […][ref]"},
		{"a definition given twice", "[a][r]\n\n[r]: /prix\n\n[r]: /docs", "5: [r] is defined a second time; remove one of the definitions"},
		{"attributes of a link", "un\n\n[x](https://x.example){rel=nofollow target=_blank} deux", "3: {rel=nofollow target=_blank}" + attributes},
		{"attributes of a picture", "![vue](../images/ecran.png){width=300}", "1: {width=300}" + attributes},
		{"attributes of emphasis", "**gras**{.rouge}", "1: {.rouge}" + attributes},
		{"attributes of a paragraph", "un\n{: .note #x}", "2: {: .note #x}" + attributes},
		{"a shortcode", "un\n\n{{< youtube abc >}}", `3: {{< youtube abc >}} is not rendered: shortcodes and templates are not read; write what it stands for in Markdown, or put code between backticks`},
		{"a shortcode with an address", "{{% figure https://x.example/a.png %}}", `1: {{% figure https://x.example/a.png %}} is not rendered: shortcodes and templates are not read; write what it stands for in Markdown, or put code between backticks`},
		{"a template", "a {% include x.html %} b", `1: {% include x.html %} is not rendered: shortcodes and templates are not read; write what it stands for in Markdown, or put code between backticks`},
		{"highlighting", "un ==mot== et", "1: ==mot== is not rendered: there is no highlighting; write **…** for strong text, or put code between backticks"},
		{"highlighting of emphasis", "- un ==**mot**\n  *fort*== et", "1: ==**mot** *fort*== is not rendered: there is no highlighting; write **…** for strong text, or put code between backticks"},
		{"a box of MkDocs", "un\n\n!!! note \"Oui\"\n", "3: !!! note \"Oui\" is not rendered: a box for a remark is a quote whose first line is > [!NOTE], > [!TIP], > [!IMPORTANT], > [!WARNING] or > [!CAUTION], and nothing else"},
		{"a link of a wiki", "Voir [[Plume]].", "1: [[Plume]] is not rendered: this is no link; write [text](plume.md), or put code between backticks"},
		{"a box that GitHub has not", "> [!INFO]\n> Oui.", "1: [!INFO] is not rendered: a box for a remark is a quote whose first line is > [!NOTE], > [!TIP], > [!IMPORTANT], > [!WARNING] or > [!CAUTION], and nothing else"},
		{"a box with a title", "> [!NOTE] Oui.", "1: [!NOTE] is not rendered: a box for a remark is a quote whose first line is > [!NOTE], > [!TIP], > [!IMPORTANT], > [!WARNING] or > [!CAUTION], and nothing else"},
		{"a box", "un\n\n::: tip\nOui.\n:::\n", "3: ::: tip is not rendered: a box for a remark is a quote whose first line is > [!NOTE], > [!TIP], > [!IMPORTANT], > [!WARNING] or > [!CAUTION], and nothing else"},
		{"a cell beyond the columns", "| a | b |\n|---|---|\n| 1 | 2 | 3 |", `3: this row has 3 cells, and the table only 2; write \| for a bar that is text`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problemsOf(t, c.body); len(got) != 1 || got[0] != c.want {
				t.Errorf("%q gives\n%s\nwant\n%s", c.body, strings.Join(got, "\n"), c.want)
			}
		})
	}
}

func TestTextThatLooksLikeAnotherDialectIsNoProblem(t *testing.T) {
	for _, body := range []string{"si c==d, x==y", "a == b == c", "i++, j++ et C++ ou G++", "std::vec::Vec, 10:30:45, a:bc:d", "Quoi !!! Note.", "un [toc] deux", "1==2==3"} {
		if got := problemsOf(t, body); len(got) != 0 {
			t.Errorf("%q: %q", body, got)
		}
	}
}

func TestImplausibleValuesAreProblems(t *testing.T) {
	const (
		hidden = ", which nobody sees and which changes how it is found or read; delete it, or type the text again instead of pasting it"
		much   = " must be at most 10 000 000 €, not "
	)
	for _, c := range []struct{ field, value, want string }{
		{"price", "100000000000000000000 €/mois", "price" + much + `"100000000000000000000 €/mois"; correct the amount`},
		{"price", "10 000 000,01 €/an", "price" + much + `"10 000 000,01 €/an"; correct the amount`},
		{"price", "10 000 000 €/an", ""},
		{"price", "8.50 €/mois", `price must be written 8,50 €/mois, not "8.50 €/mois"`},
		{"price", "8€/mois", `price must be written 8 €/mois, not "8€/mois"`},
		{"price", "1 200,5€ / an", `price must be written 1 200,5 €/an, not "1 200,5€ / an"`},
		{"price", "8 € par mois", `price must be written 8 €/mois, not "8 € par mois"`},
		{"price", "1.200 €/mois", `price must be an amount in euros for a period, such as 0 €/mois, 19,99 €/mois or 1 200 €/an, or sur devis if it is not public, not "1.200 €/mois"`},
		{"name", "Plume\u202egnp", "name contains U+202E" + hidden},
		{"name", "Plu\u200bme", "name contains U+200B" + hidden},
		{"name", "\u2066Plume\u2069", "name contains U+2066" + hidden},
		{"tagline", "É\u2060crit", "tagline contains U+2060" + hidden},
		{"price_display", "19\ufeff €", "price_display contains U+FEFF" + hidden},
		{"author", "A\u200fda", "author contains U+200F" + hidden},
		{"name", strings.Repeat("é", 120), ""},
		{"name", strings.Repeat("é", 121), "name must have at most 120 characters, and has 121; shorten it"},
		{"author", strings.Repeat("é", 121), "author must have at most 120 characters, and has 121; shorten it"},
		{"tagline", strings.Repeat("é", 501), "tagline must have at most 500 characters, and has 501; shorten it"},
		{"name", "Été\u00a0: 2\u202f000 ☀\ufe0f", ""},
	} {
		fields := map[string]string{"name": "Plume", "domain": "plume.example", "category": "code", "pricing": "payant", "price": "1 €/mois", "tagline": "Écrit."}
		fields[c.field] = c.value
		text := "---\n"
		for name, value := range fields {
			text += fmt.Sprintf("%s: %q\n", name, value)
		}
		_, problems := read(t, folderOf(map[string]string{"outils/plume.md": text + "---\n"}))
		got := ""
		for _, p := range problems {
			got += p.Text.English
		}
		if got != c.want {
			t.Errorf("%s: %q gives\n%s\nwant\n%s", c.field, c.value, got, c.want)
		}
	}
}

func TestWhatIsRenderedIsNoMistake(t *testing.T) {
	for _, body := range []string{
		"#1 des ventes, C# et # seul\n\n\\##pas un titre\n\n`##code`",
		"H<sub>2</sub>O<br>m<sup>2</sup>, <kbd>Ctrl</kbd>+<KBD>*C*</KBD>\n\n<br>\n\n<kbd>\nEntrée\n</kbd>",
		"a < b, 3 <4, `<b>`, \\<b>\n\n```html\n<b>\n# titre\n##x\n<<<<<<< HEAD\n=======\n>>>>>>> main\n[^1] [a][b] ![x](y)\n```\n\n    <i>\n    ##x",
		"Voir [1] (plus bas), a] (b), bravo!\\[x](a b), \\![sic], \\[3](voir plus bas), `![x](a b)` et `[x](a b)` ; incroyable![^1]\n\n[^1]: Oui.",
		"![vue](<../images/Mon image.png> \"Une légende\") ![vue](../images/Mon%20image.png) [x](<../images/Mon image.png>) [x](../images/Mon%20image.png)",
		"~~non~~ oui\n\n- [x] fait\n- [ ] à faire\n- [X](https://x.example)",
		"Voir https://x.example/a_b_c, www.y.example et a@b.example, <https://z.example> ou <c@d.example>.",
		"un[^1], deux[^note] et encore[^1]\n\n[^1]: Une note[^note].\n[^note]: Autre *note*.\n\n    En deux paragraphes.",
		"![vue](../images/ecran.png \"Une légende\")\n\n![](../images/captures/menu.jpeg) [grande](../images/ecran.png) ![x](/images/ecran.png)",
		"[a](plume.md) [b](plume.md#prix) [c](plume.md#prise-en-main) [d](../outils/plume.md#le-prix-en-bref-prix) [e](ancienne-plume.md) [f](essai.md)",
		"[a](/outils/plume) [b](/avis/plume#prix) [c](/alternatives/plume) [d](/outils/ancienne-plume) [e](/outils/plume.md) [f](/outils/jaserin)",
		"[a](../comparatifs/a-vs-b.md#verdict) [b](/comparatifs/a-vs-b) [c](../cimetiere/jaserin.md) [d](/categories/code) [e](../outils/illisible.md#x)",
		"[a](../pages/methode.md) [b](/methode#le-banc) [c](/methode.md) [d](../pages/illisible.md#x) [e](/illisible)",
		"[a](/) [b](/prix) [c](/docs) [d](/tarifs) [e](/outils?q=x) [f](/cimetiere) [g](/api/v1/openapi.json) [h](mailto:a@b.example) [i](//x.example) [j](../outils/)",
		"[a](/compte/donnees.json) [b](/cimetiere#jaserin) [c](/api/v1/tools/ancienne-plume) [d](/api/v1/comparatifs/a-vs-b) [e](/api/embeddings/plume) [f](/api/v1/stats) [g](/webhooks/v1/openapi.json) [h](../cimetiere#jaserin)",
		"[a](https://essai.example) [b](http://ESSAI.example/avis/plume#prix) https://essai.example/prix [c](https://essai.example/methode) [d](https://x.example/outils/nope)",
		"## Titre {de} {#autre}\n\n### Détail {x}\n\n## Suite ## {#suite}\n\n[a](#suite)",
		"## Échéance\n\n[a](#echeance) [b](#échéance) [c][ref] [ref] [non] a[0] \\[a][b]\n\n[ref]: https://x.example",
		"| a | b |\n|---|---|\n| 1 \\| 2 | `x` |\n| 3 |\n\n========\n\na | b | c | d",
		"Si a == b, a==b ou == ; \\==mot==, `==mot==`, `{{< x >}}`, \\{{< x >}} et {{nom}} ; ====\n\n    {% x %}",
		"Un {id} **gras** {.rouge}, [x](/prix)\\{rel=x}, `f`{x}, \"{a=1}\", [[1]](/prix), [[1], [2]], \\[[x]], [!], a:::b, std::string\n\n```\n::: x\n```",
		"[a](https://x.example/?b=1&c=2 \"titre\") *[b](<https://x.example/a b>)* [c](https://x.example/%zz)",
	} {
		if got := problemsOf(t, body); len(got) > 0 {
			t.Errorf("%q gives\n%s", body, strings.Join(got, "\n"))
		}
	}
}

func TestADraftMayLinkToDrafts(t *testing.T) {
	folder := magazine(t)
	delete(folder, "outils/illisible.md")
	delete(folder, "pages/illisible.md")
	_, problems := read(t, folder)
	wantProblems(t, problems)
}

func TestAnObituaryCanBePreparedWhileTheToolIsActive(t *testing.T) {
	const obituary = "---\nname: Plume\ncategory: code\nreason: mort\nretired_at: 2026-12-31\n---\nFermé, comme [Calame](../outils/calame.md).\n"
	folder := magazine(t)
	delete(folder, "outils/illisible.md")
	delete(folder, "pages/illisible.md")
	folder["cimetiere/plume.md"] = &fstest.MapFile{Data: []byte(strings.Replace(obituary, "---\n", "---\ndraft: true\n", 1))}
	c, problems := read(t, folder)
	wantProblems(t, problems)
	if c.Tool("plume") == nil || len(c.Retired) != 1 {
		t.Errorf("the retired tools are %v", c.Retired)
	}
	folder["cimetiere/plume.md"].Data = []byte(obituary)
	_, problems = read(t, folder)
	wantProblems(t, problems, `cimetiere/plume.md:1: slug "plume" is taken: it is an active tool (outils/plume.md:1)`)
}

func TestBodiesOfEveryKindAreChecked(t *testing.T) {
	folder := magazine(t)
	delete(folder, "outils/illisible.md")
	delete(folder, "pages/illisible.md")
	folder["comparatifs/a-vs-b.md"].Data = append(folder["comparatifs/a-vs-b.md"].Data, "\n[x](a-vs-c.md) ![x](y.png)\n"...)
	folder["cimetiere/jaserin.md"].Data = append(folder["cimetiere/jaserin.md"].Data, "\nVoir [x](kafka.md).\n"...)
	folder["cimetiere.jsonl"] = &fstest.MapFile{Data: []byte(
		`{"slug":"autre","name":"Autre","category":"code","reason":"mort","retired_at":"2025-01-01","body":"Fermé.\n\n[x](../outils/absent.md) <b>\n\n![x](../images/y.png)"}` + "\n")}
	_, problems := read(t, folder)
	wantProblems(t, problems,
		`comparatifs/a-vs-b.md:12: the link to "a-vs-c.md" leads nowhere: there is no comparison "a-vs-c"`,
		`comparatifs/a-vs-b.md:12: the picture "y.png" is not in images/; put it there and write its path, such as ../images/ecran.png`,
		`cimetiere/jaserin.md:9: the link to "kafka.md" leads nowhere: there is no retired tool "kafka"`,
		`cimetiere.jsonl:1: body, line 3: HTML is not rendered: <b>; write Markdown, or put code between backticks (only <br>, <kbd>, <sub> and <sup> are allowed)`,
		`cimetiere.jsonl:1: body, line 3: the link to "../outils/absent.md" leads nowhere: there is no tool "absent"`,
		`cimetiere.jsonl:1: body, line 5: the picture "../images/y.png" is not in the folder: images/y.png does not exist`)
}

func TestAConflictInFieldsIsReportedWithItsLine(t *testing.T) {
	const conflict = ": this line is of a git conflict; keep one of the two versions and remove the lines <<<<<<<, ======= and >>>>>>>"
	folder := magazine(t)
	delete(folder, "outils/illisible.md")
	delete(folder, "pages/illisible.md")
	folder["pages/methode.md"].Data = []byte("---\n<<<<<<< HEAD\ntitle: Méthode\n=======\ntitle: Essais\n>>>>>>> main\n---\n## Le banc\n")
	folder["pages/projet.md"].Data = []byte("<<<<<<< HEAD\n---\ntitle: Projet\n---\n=======\n>>>>>>> main\n")
	folder["catalogue.yaml"].Data = append(folder["catalogue.yaml"].Data, "<<<<<<< HEAD\ncontact: a@b.example\n=======\n>>>>>>> main\n"...)
	line := strings.Count(string(folder["catalogue.yaml"].Data), "\n") - 3
	_, problems := read(t, folder)
	wantProblems(t, problems, fmt.Sprintf("catalogue.yaml:%d", line)+conflict, fmt.Sprintf("catalogue.yaml:%d", line+3)+conflict,
		"pages/methode.md:2"+conflict, "pages/methode.md:6"+conflict, "pages/projet.md:1"+conflict)
}

// macOS stores names in another Unicode form than editors write.
func TestAPictureIsFoundInEitherUnicodeForm(t *testing.T) {
	const composed, decomposed = "images/été.png", "images/e\u0301te\u0301.png"
	for _, c := range []struct{ file, text string }{{decomposed, composed}, {composed, decomposed}} {
		folder := folderOf(map[string]string{
			"outils/essai.md": "---\n" + someFields + "logo: " + c.text + "\n---\n![vue](../" + c.text + ") [grande](../" + c.text + ")\n",
			c.file:            string(drawing(8, 0)),
		})
		catalogue, problems := read(t, folder)
		wantProblems(t, problems)
		if p := catalogue.Pictures[composed]; p.Path != composed || catalogue.Tools[0].Logo != composed {
			t.Errorf("the pictures are %v, the logo is %q", catalogue.Pictures, catalogue.Tools[0].Logo)
		}
		site := &markdown.Addresses{Catalog: catalogue}
		if _, reason := site.In("outils").Picture("../" + c.text); reason != nil {
			t.Error(reason)
		}
		folder["images/e\u0301té.png"] = &fstest.MapFile{Data: drawing(8, 0)}
		if _, problems = read(t, folder); len(problems) != 1 || !strings.Contains(problems[0].Text.English, "only in the Unicode form of its accents") {
			t.Errorf("two files of one name give %v", problems)
		}
	}
}
