package markdown

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
)

func TestAReviewIsSplitAtItsLevelTwoHeadings(t *testing.T) {
	body := strings.Join([]string{
		"Avant tout, **un mot**.",
		"## Prise en main {#debut}",
		"Deux minutes.",
		"### Détail",
		"Encore.",
		"> ## Cité",
		"## Échéance & œuvre : l’æther",
		"- un\n- deux\n  - trois",
		"```\n## pas un titre\n```",
		"Tarifs\n------",
		"| Offre | Prix |\n|---|---|\n| Pro | 19 € |\n| Libre | |",
	}, "\n\n")
	want := []catalog.Section{
		{ID: "introduction", Text: "Avant tout, un mot."},
		{ID: "debut", Text: "Prise en main\n\nDeux minutes.\n\nDétail\n\nEncore.\n\nCité"},
		{ID: "echeance-oeuvre-l-aether", Text: "Échéance & œuvre : l’æther\n\nun\ndeux\ntrois\n\n## pas un titre"},
		{ID: "tarifs", Text: "Tarifs\n\nOffre | Prix\nPro | 19 €\nLibre |"},
	}
	if diff := cmp.Diff(want, Sections(body)); diff != "" {
		t.Error(diff)
	}
}

func TestATextWithoutHeadingsIsAnIntroduction(t *testing.T) {
	if diff := cmp.Diff([]catalog.Section{{ID: "introduction", Text: "Rien d’autre."}}, Sections("Rien d’autre.")); diff != "" {
		t.Error(diff)
	}
	for _, blank := range []string{"", "\n \n", "<!-- à écrire -->", "[a]: https://x.example"} {
		if got := Sections(blank); got != nil {
			t.Errorf("Sections(%q) = %v, want none", blank, got)
		}
	}
}

func TestIDsAreFoldedHeadings(t *testing.T) {
	for heading, want := range map[string]string{
		"Prise en main":           "prise-en-main",
		"L’essai, *en bref* !":    "l-essai-en-bref",
		"Ça coûte 19,99 €":        "ca-coute-19-99",
		"Œuvre et cœur":           "oeuvre-et-coeur",
		"Ex æquo":                 "ex-aequo",
		"日本":                      "section",
		"— ":                      "section",
		"`code` et [lien](/x)":    "code-et-lien",
		"Forts {.classe}":         "forts",
		"Fermé ##":                "ferme",
		"Choisi {#Mon_id-2 .x}":   "Mon_id-2",
		"Choisi {#mon-id} ##":     "choisi-mon-id", // CommonMark: the closing ## comes last
		"e\u0301te\u0301":         "ete",
		"A &amp; B \\{#pas-un\\}": "a-b-pas-un",
	} {
		got := Sections("## " + heading)
		if len(got) != 1 || got[0].ID != want {
			t.Errorf("## %s: got %+v, want id %q", heading, got, want)
		}
	}
}

func TestPlainTextDropsTheMarkup(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"un\ndeux  \ntrois\\\nquatre", "un deux\ntrois\nquatre"},
		{"*a* **b** `c &amp; d` \\*e\\*", "a b c &amp; d *e*"},
		{"&eacute;&#233;&#xE9; &copy &nope; &amp;lt;", "ééé &copy &nope; &lt;"},
		{"&#0;&#1;x", "\uFFFD x"},
		{"[lien](https://x.example \"titre\") ![image](/i.png) <https://y.example> <a@b.example>", "lien image https://y.example a@b.example"},
		{"[réf][a]\n\n[a]: https://x.example", "réf"},
		{"un <b class=\"x\">gras</b> et 3 < 4 <!-- non -->", "un gras et 3 < 4"},
		{"H<sub>2</sub>O<br>suite<br>\nfin <br/> <kbd>Ctrl</kbd>+<kbd>C</kbd>", "H2O\nsuite\nfin\nCtrl+C"},
		{"| a<br>b | x<sup>2</sup> |\n|---|---|\n| c |", "a b | x²\nc |"},
		{"10<sup>-6</sup> m, le 1<sup>er</sup>, H<sub>2</sub>O", "10⁻⁶ m, le 1er, H2O"},
		{"~~19 €~~ 17 €", "19 € 17 €"},
		{"- [x] fait\n- [ ] à faire\n- [X](https://x.example)", "[x] fait\n[ ] à faire\nX"},
		{"un[^1] deux[^b]\n\n[^b]: Note b.\n[^1]: Note *un*,\n    suite.\n\n    Et fin.\n\ntrois", "un deux\n\ntrois\n\nNote un, suite.\n\nEt fin.\n\nNote b."},
		{"![vue](../images/a.png \"Une légende\")", "vue\nUne légende"},
		{"texte ![vue](../images/a.png \"légende\") suite", "texte vue (légende) suite"},
		{"voir https://x.example/a?b=1&amp;c_d_e, ou www.y.example.", "voir https://x.example/a?b=1&c_d_e, ou www.y.example."},
		{"<div>\n<p title='>'>Bloc &eacute;</p>\n</div>", ""},
		{"<script>\nalert(1)\n</script>\n\naprès", "après"},
		{"<style>\np{}\n</STYLE>", ""},
		{"<!-- a\n\nb -->\n\naprès", "après"},
		{"<details><summary>Voir</summary>\n\ntexte\n\n</details>", "texte"},
		{"> cité\n>\n> deux fois", "cité\n\ndeux fois"},
		{"1. un\n\n   suite\n2. deux", "un\nsuite\ndeux"},
		{"    code\n      plus\n", "code\n  plus"},
		{"```go\nif a &amp; b {\n\n}\n```", "if a &amp; b {\n\n}"},
		{"a\n\n---\n\nb", "a\n\nb"},
		{"| a \\| b | c |\n|:--|--:|\n| *d* |", "a | b | c\nd |"},
		{"# Titre {#t}\n\ntexte", "Titre\n\ntexte"},
		{"`a\nb`", "a b"},
	} {
		if got := Plain(c.body); got != c.want {
			t.Errorf("Plain(%q) = %q, want %q", c.body, got, c.want)
		}
	}
}

func TestDuplicateAndInvalidSectionIDsAreProblems(t *testing.T) {
	type found struct {
		Line int
		Text string
	}
	for _, c := range []struct {
		name, body string
		want       []found
	}{
		{"none", "texte\n\n## A\n\n## B {#c}\n\n### A", nil},
		{"twice", "## A\n\ntexte\n\n## À\n\n## a {#b}\n\n## B", []found{
			{5, `section id "a" is already used 4 lines above; give one of them another id with {#id}`},
			{9, `section id "b" is already used 2 lines above; give one of them another id with {#id}`},
		}},
		{"introduction", "texte\n\n## Introduction", []found{
			{3, `section id "introduction" is already used 2 lines above; give one of them another id with {#id}`},
		}},
		{"introduction alone", "***\n\n## Introduction\n\ntexte", nil},
		{"underlined", "## A\n\nA\n---", []found{
			{3, `section id "a" is already used 2 lines above; give one of them another id with {#id}`},
		}},
		{"in code", "## A\n\n```\n## A\n```\n\n> ## A", nil},
		{"no anchors", "## A {#é}\n\n## B {#a b}\n\n## C {#}\n\n## D {id=5}\n\n## E {#a.b}", []found{
			{1, `section id {#é} must be made of the letters a to z, digits, - and _, such as {#prise-en-main}`},
			{3, `section id {#a b} must be made of the letters a to z, digits, - and _, such as {#prise-en-main}`},
			{5, `section id {#} must be made of the letters a to z, digits, - and _, such as {#prise-en-main}`},
			{7, `section id {id=5} must be made of the letters a to z, digits, - and _, such as {#prise-en-main}`},
			{9, `section id {#a.b} must be made of the letters a to z, digits, - and _, such as {#prise-en-main}`},
		}},
		{"empty headings", "## A\n\n##\n\n## {#b}\n\n## &#32;\n\n## ##", []found{
			{3, "this heading has no text; write one"},
			{5, "this heading has no text; write one"},
			{7, "this heading has no text; write one"},
			{9, "this heading has no text; write one"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []found
			for _, p := range CheckSections(c.body).Problems {
				got = append(got, found{p.Line, p.Text.English})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// hostile returns texts of about size bytes on which goldmark alone takes, or might
// take, minutes or gigabytes.
func hostile(size int) map[string]string {
	texts := map[string]string{}
	for _, s := range []string{
		"[", "]", "![", ">", "> ", "*", "**", "- ", "+ ", "1. ", "> - ", "`", "`a``b```c", "<", "<!--", "<a ", "<a@", "&", "\\", "_a", "*a_", "a_*",
		"[a](", "[](", "[a]: b\n", "[a]:\n\"", "[a]: <", "[a][b]", "[a\n", "a\n", "# ", "## x\n", "|", "|a\n|-\n", "|a|b\n|-|-\n", "- a\n", "\t",
		"***a ", "[x]\n\n", "a\n=\n", "a\n-\n", "``` ", "{#a", "## {a=[", "{a=[", "## a {#", "\n> ", "*a **b ", "<x>\n", "\r", " \n", "é", "\x00", "\xff",
		"[a](\n\n", "*a_ [](\n\n",
		"[^a]", "[^a]\n\n", "[^a]: b\n", "[^a]: ", "[^a]: > ", "[^", "![^a]", "~", "~a", "~~a ", "<kbd>", "<sub></sub>", "<br>", "</kbd>", "<kbd>*", "<kbd></sub>",
		"http://a.b ", "(http://a", " http://", " www.a", "_www.", "~www.a.", "a@b.c ", "(a@", "~a@", "a@", "- [x] ", "- [x] a\n", "![a](b)", "![a](b)\n\n", "![a](b \"c\")\n",
		"[a](#b)\n\n", "## é\n[a](#È!)\n\n", "## b\n[a](#b)\n\n", "<<<<<<<\n", ">>>>>>>\n", "##a\n", "[a][b]\n\n", "[a]: b\n\n", "|a|b\n",
	} {
		texts[s] = strings.Repeat(s, size/len(s))
	}
	texts["wide table"] = strings.Repeat("|a", size/6) + "\n" + strings.Repeat("|-", size/6) + "\n" + strings.Repeat("|\n", size/6)
	texts["quoted wide table"] = "> " + strings.Repeat("|a", size/6) + "\n> " + strings.Repeat("|-", size/6) + "\n" + strings.Repeat("> |\n", size/12)
	table := strings.Repeat("|a", 90) + "\n" + strings.Repeat("|-", 90) + "\n" + strings.Repeat("|\n", 500) + "\n"
	texts["many tables"] = strings.Repeat(table, size/len(table)+1)
	block := strings.Repeat("[a](", 800) + "\n\n"
	texts["many blocks"] = strings.Repeat(block, size/len(block)+1)
	texts["braces"] = "## " + strings.Repeat("{a=[", size/4)
	var stairs, ticks, refs strings.Builder
	for i := 0; stairs.Len() < size; i++ {
		stairs.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	for i := 0; ticks.Len() < size; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
	}
	for i := 0; refs.Len() < size; i++ {
		fmt.Fprintf(&refs, "[a%d]: x\n\n", i)
	}
	texts["stairs"], texts["ticks"], texts["refs"] = stairs.String(), ticks.String(), refs.String()
	texts["long footnote"] = "[^a]: " + strings.Repeat("a", size/2) + "\n" + strings.Repeat("## x\n[^a]\n", min(size/24, maxFootnotes-10))
	var chain strings.Builder
	for i := range min(size/24, maxFootnotes/4) {
		fmt.Fprintf(&chain, "[^%d]: a[^%d]\n\n## x%d\n[^0]\n\n", i, i+1, i)
	}
	texts["chain"] = chain.String()
	texts["long addresses"] = strings.Repeat("(http://"+strings.Repeat("a", 250)+" ", size/260)
	return texts
}

// A text that made the parser overflow the stack, run out of memory or run for
// minutes would fail this test, at the latest by its timeout.
func TestHostileTextsNeitherCrashNorBlock(t *testing.T) {
	for name, body := range hostile(1 << 14) {
		_, rejected := tooComplex(body)
		CheckSections(body)
		HTML(body, nil, "")
		sections := Sections(body)
		if rejected && (len(sections) != 1 || sections[0].Text != body || Plain(body) != body) {
			t.Errorf("%q is rejected but was changed", name)
		}
	}
}

// goldmark takes from seconds to hours on these.
func TestTextsThatWouldTakeForeverAreRejected(t *testing.T) {
	texts := hostile(1 << 20)
	for _, name := range []string{">", "*a_", "a_*", "[a](", "[](", "[a]: b\n", "[a]:\n\"", "braces", "wide table", "quoted wide table", "many tables", "many blocks"} {
		if Check(texts[name]).Problems == nil {
			t.Errorf("%q is not rejected", name)
		}
	}
}

func TestTooComplexTextsAreReportedWithTheLine(t *testing.T) {
	for _, c := range []struct {
		body string
		line int
		want string
	}{
		{"a\n\n" + strings.Repeat("> ", 101) + "b", 3, "nested more than 100 deep"},
		{"a\n\nb\n" + strings.Repeat("[", 6000), 3, "too many brackets"},
		{"|a|b\n|-|-\n" + strings.Repeat("|\n", 60_000), 33335, "more than 100000 cells"},
	} {
		got := CheckSections(c.body).Problems
		if len(got) != 1 || got[0].Line != c.line || !strings.Contains(got[0].Text.English, c.want) {
			t.Errorf("got %+v, want line %d: …%s…", got, c.line, c.want)
		}
	}
}

func TestLongButPlainTextsAreNotRejected(t *testing.T) {
	table := "| a | b | c |\n|---|---|---|\n" + strings.Repeat("| [x](https://x.example) | `y` | **z** |\n", 500)
	code := "```\n" + strings.Repeat("for (i = 0; i < n; i++) { a[i] = b[i] * c_d[i]; }\n", 300) + "```\n"
	prose := strings.Repeat("Une phrase *assez* longue, avec [un lien](https://x.example), qui en appelle une autre. ", 400)
	rule := strings.Repeat("-", 500) + "\n\n"
	if got := Check(table + "\n" + code + "\n" + rule + prose).Problems; got != nil {
		t.Error(got)
	}
}

func FuzzSectionsHaveDistinctValidIDs(f *testing.F) {
	for name, body := range hostile(60) {
		f.Add(name)
		f.Add(body)
	}
	for _, s := range []string{
		"## A {#b}\n\ntexte\n\n## B", "a\n-\n\n## A", "##  A\t{#x}", "## A{#b}\n## b", "  ## É\n## e", "##\u00a0a\n\n## a", "    ## A\n\n## A",
		"## A \\{#b}\n## a-b", "## &eacute;\n## e", "- ## A\n\n## A", "## a\n\r## a", "##\ta\n## a\n===", "x\n## Introduction", "## a\v\n## a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > 1<<14 {
			return
		}
		sections := Sections(body)
		ids := map[string]bool{}
		twice, wrong := false, false
		for _, s := range sections {
			twice = twice || ids[s.ID]
			wrong = wrong || !anchorForm.MatchString(s.ID)
			ids[s.ID] = true
			if s.Text != strings.TrimFunc(s.Text, unicode.IsSpace) && Check(body).Problems == nil {
				t.Errorf("section %q has blank ends: %q", s.ID, s.Text)
			}
		}
		if (twice || wrong) && CheckSections(body).Problems == nil {
			t.Errorf("%q has sections %v, but no problem", body, sections)
		}
		Plain(body)
	})
}

func TestAnExcerptIsTheFirstParagraphOfProse(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"struck through", "Ce n’est ~~pas~~ recommandé ~~du tout~~.", "Ce n’est recommandé."},
		{"struck through at the start", "~~19 €~~ 17 €.", "17 €."},
		{"struck through completely", "~~Rien.~~\n\nTout.", "Tout."},
		{"a definition below", "Voir [leur charte][charte].\n\n[charte]: https://x.example", "Voir leur charte."},
		{"a definition first", "[charte]: https://x.example\n\nVoir [charte].", "Voir charte."},
		{"a fenced block", "~~~sh\nrm -r /\n\nsuite\n~~~\n\nTexte.", "Texte."},
		{"an indented block", "    code\n\nTexte.", "Texte."},
		{"headings", "Titre\n-----\nTexte.\n\n## Suite", "Texte."},
		{"a footnote", "Vrai[^1], dit `[^1]` ; oui [^1].\n\n[^1]: Note.", "Vrai, dit [^1] ; oui."},
		{"a footnote first", "[^1]: Note.\n\nTexte[^1].", "Texte."},
		{"lists", "- [x] fait\n\n1. un\n\n> cité\n\nTexte.", "Texte."},
		{"a table", "| a |\n|---|\n| b |\n\nTexte.", "Texte."},
		{"a picture alone", "![vue](../images/a.png \"t\")\n\nTexte.", "Texte."},
		{"a picture in a line", "Le ![logo](../images/a.png \"t\") bleu,\nassez <br>*grand*.", "Le bleu, assez grand."},
		{"a reference inside emphasis", "*Un ~~deux~~* trois.", "Un trois."},
		{"nothing", "## Titre\n\n- liste", ""},
		{"a text that is too complex", strings.Repeat(">", 10_000) + " a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Excerpt(c.body); got != c.want {
				t.Errorf("%q gives %q, want %q", c.body, got, c.want)
			}
		})
	}
}
