package markdown_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/markdown"
)

func page(body string) string {
	var b strings.Builder
	for _, p := range markdown.HTML(body, nil, "") {
		b.WriteString(p.HTML)
	}
	return b.String()
}

func TestMarkdownIsRenderedAsSafeHTML(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"a section heading carries its id", "## Prise en main\n", "<h2 id=\"prise-en-main\">Prise en main</h2>\n"},
		{"an id given by hand is kept", "## Notre verdict {#verdict}\n", "<h2 id=\"verdict\">Notre verdict</h2>\n"},
		{"only sections have ids", "## A\n### Détail {#ici}\n", "<h2 id=\"a\">A</h2>\n<h3>Détail</h3>\n"},
		{"a heading is at most one level below the one above", "## A\n###### B\n##### C\n#### D\n> ##### E\n\n### F\n", "<h2 id=\"a\">A</h2>\n<h3>B</h3>\n<h3>C</h3>\n<h3>D</h3>\n<blockquote>\n<h4>E</h4>\n</blockquote>\n<h3>F</h3>\n"},
		{"also before the first section", "#### A\n\n## B\n", "<h2>A</h2>\n<h2 id=\"b\">B</h2>\n"},
		{"an id is used once", "a\n\n## Introduction\n## B\n## b-2\n## b\n", "<p>a</p>\n<h2 id=\"introduction-2\">Introduction</h2>\n<h2 id=\"b\">B</h2>\n<h2 id=\"b-2\">b\u20112</h2>\n<h2 id=\"b-3\">b</h2>\n"},
		{"a page keeps its one title", "# Titre\n", "<h2>Titre</h2>\n"},
		{"other attributes of a heading are dropped", "## A {#a style=\"color:red\" class=\"x\"}\n", "<h2 id=\"a\">A</h2>\n"},
		{"a quoted heading is not a section", "> ## A {#a}\n", "<blockquote>\n<h2>A</h2>\n</blockquote>\n"},
		{"raw HTML loses its tags", "un <b onclick=x>mot</b>\n", "<p>un mot</p>\n"},
		{"a block of raw HTML is dropped", "<div>a < b</div>\n", ""},
		{"an external link is marked", "[a](https://x.example/?a=1&b=2)\n", "<p><a href=\"https://x.example/?a=1&amp;b=2\" rel=\"noopener nofollow\">a</a></p>\n"},
		{"a link without a scheme to another host too", "[a](//x.example)\n", "<p><a href=\"//x.example\" rel=\"noopener nofollow\">a</a></p>\n"},
		{"a link inside the site is plain", "[a](/outils)\n", "<p><a href=\"/outils\">a</a></p>\n"},
		{"a bare address is a link", "<https://x.example>\n", "<p><a href=\"https://x.example\" rel=\"noopener nofollow\">https://x.example</a></p>\n"},
		{"a bare e-mail address too", "<a@x.example>\n", "<p><a href=\"mailto:a@x.example\">a@x.example</a></p>\n"},
		{"a script link is text", "[a](javascript:alert(1))\n", "<p>a</p>\n"},
		{"however it is written", "[a](JaVa&#115;cript:alert(1)) [b](data:text/html,x) [c](java&#10;script:x)\n", "<p>a b c</p>\n"},
		{"a bare script address too", "<javascript:alert(1)>\n", "<p>javascript:alert(1)</p>\n"},
		{"an image is replaced by its description", "![un *chat*](https://x.example/chat.png \"t\")\n", "<p>un chat</p>\n"},
		{"code scrolls and is escaped", "```html\n<b>\n```\n", "<pre tabindex=\"0\"><code>&lt;b&gt;\n</code></pre>\n"},
		{"French spaces do not break", "« Oui », dit-il : à 10 % ?\n", "<p>«\u00a0Oui\u00a0», dit\u2011il\u00a0: à 10\u00a0%\u202f?</p>\n"},
		{"compounds do not break", "Faut-il, peut-être, va-t-en (SHA-256) pour 12-15 ?\n", "<p>Faut\u2011il, peut\u2011être, va\u2011t\u2011en (SHA\u2011256) pour 12\u201115\u202f?</p>\n"},
		{"long ones, addresses and code may", "un-nom-qui-dépasse-vingt-lettres, a-b.example, - c - `d-e`\n", "<p>un-nom-qui-dépasse-vingt-lettres, a-b.example, - c - <code>d-e</code></p>\n"},
		{"spaces in code stay", "`a : b`\n", "<p><code>a : b</code></p>\n"},
	} {
		if got := page(test.body); got != test.want {
			t.Errorf("%s: %q becomes\n%s\nwant\n%s", test.name, test.body, got, test.want)
		}
	}
	table := page("| a | b |\n|---|--:|\n| 1 | 2 |\n")
	for _, part := range []string{`<div class="wide" role="region" aria-label="Tableau" tabindex="0"><table>`, `<th class="align-right">b</th>`, `<td>1</td>`, "</table></div>"} {
		if !strings.Contains(table, part) {
			t.Errorf("a table is rendered without %s:\n%s", part, table)
		}
	}
}

func TestNoTwoTablesOfAPageHaveTheSameName(t *testing.T) {
	const table = "| a |\n|---|\n| 1 |\n\n"
	names := regexp.MustCompile(`role="region" aria-label="([^"]*)"`)
	body := table + table + "## Prix & *coûts* : combien ?\n\n" + table + "### Détail\n\n" + table + "Une note[^n].\n\n> " + "### Détail\n\n" + table + "## Autre\n\nEncore[^n].\n\n[^n]: Voir :\n\n    | a |\n    |---|\n    | 1 |\n"
	for prefix, want := range map[string][]string{
		"":       {"Tableau", "Tableau, 2", "Tableau\u00a0: Prix &amp; coûts\u00a0: combien\u202f?", "Tableau\u00a0: Détail", "Tableau\u00a0: Détail, 2", "Tableau\u00a0: Détail, 3", "Tableau\u00a0: Autre"},
		"plume-": {"Tableau (plume)", "Tableau (plume), 2", "Tableau (plume)\u00a0: Prix &amp; coûts\u00a0: combien\u202f?", "Tableau (plume)\u00a0: Détail", "Tableau (plume)\u00a0: Détail, 2", "Tableau (plume)\u00a0: Détail, 3", "Tableau (plume)\u00a0: Autre"},
	} {
		var got []string
		for _, part := range markdown.HTML(body, nil, prefix) {
			for _, m := range names.FindAllStringSubmatch(part.HTML, -1) {
				got = append(got, m[1])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %q (-want +got):\n%s", prefix, diff)
		}
	}
}

func TestATooComplexTextIsShownUnparsed(t *testing.T) {
	body := strings.Repeat("> ", 500) + "<b>"
	want := "<pre tabindex=\"0\">" + strings.Repeat("&gt; ", 500) + "&lt;b&gt;</pre>\n"
	if got := page(body); got != want {
		t.Errorf("got %.80q", got)
	}
}

var (
	allowedTag = regexp.MustCompile(`^</?(h[2-6]|p|a|em|strong|del|code|pre|blockquote|ul|ol|li|br|hr|table|thead|tbody|tr|th|td|div|kbd|sub|sup|input|img|figure|figcaption)[ >]`)
	attributes = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
)

// FuzzPages checks, for any text, that the sections of the page are those of the
// embeddings, that their ids are distinct, that no heading skips a level, and that
// only known elements with known attributes are rendered.
func FuzzPages(f *testing.F) {
	for _, seed := range []string{
		"", "a\n\n## B {#b}\n\nc", "***\n\n## A", "<script>\n</script>\n## A", "## {#introduction}\n", "[a](javascript:x)", "[a](java\tscript:x)",
		"![a](x) <b style=x> &lt;script&gt; <!-- -->", "| a |\n|:-:|\n| <i> |", "1. a\n   - b", "[a]: data:x 'y\"z'\n\n[a]", "<ftp://x>", "    code <b>", "## A\n## B {onclick=x}",
		"## a\n## a\n## a-2\n## a", "## A\n###### B\n> #### C\n\n- # D", "a[^1]\n\n[^1]: # b[^1]\n## c[^1]\n[^1]", "> [^a]: b\n\n[^a]", "[^a]: [^b]: c\n\n[^a][^b]",
		"![a](../images/logo.png \"b\") [c](plume.md#prix)", "[![a](../images/logo.png)](plume.md 't\"')", "~~a~~ <kbd>*b</kbd>* <sub><sub></sub><br></sub>", "- [x] https://x.example",
		"<br>\n<kbd>\n\n</kbd>", "[a[^1]](/prix)\n[^1]: b", "![](../images/logo.png)", "## ![](../images/logo.png)\n[a](#section)", "www.a.b&quot;onclick=x", "http://a.b/\"><b>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		markdown.HTML(body, nil, "")
		parts, sections := markdown.HTML(body, magazine().In("outils"), ""), markdown.Sections(body)
		if len(parts) == len(sections)+1 && parts[0].Heading == "" && strings.Contains(parts[0].HTML, "<img ") {
			parts = parts[1:] // a picture without a description is no chunk
		}
		if len(parts) != len(sections) {
			t.Fatalf("%q: %d parts, %d sections", body, len(parts), len(sections))
		}
		ids, level := map[string]bool{}, 1
		for i, p := range parts {
			if ids[p.ID] {
				t.Errorf("%q: the id %q twice", body, p.ID)
			}
			ids[p.ID] = true
			if p.ID != sections[i].ID {
				t.Errorf("%q: part %d is %q, section %q", body, i, p.ID, sections[i].ID)
			}
			for rest := p.HTML; ; {
				at := strings.IndexByte(rest, '<')
				if at < 0 {
					break
				}
				rest = rest[at:]
				if !allowedTag.MatchString(rest) {
					t.Fatalf("%q lets through %.60q", body, rest)
				}
				end := strings.IndexByte(rest, '>')
				if end < 0 {
					t.Fatalf("%q leaves a tag open: %.60q", body, rest)
				}
				if rest[1] == 'h' && rest[2] != 'r' {
					if next := int(rest[2] - '0'); next > level+1 {
						t.Errorf("%q: a heading of level %d follows one of level %d", body, next, level)
					}
					level = int(rest[2] - '0')
				}
				for _, a := range attributes.FindAllStringSubmatch(rest[:end], -1) {
					switch a[1] {
					case "href":
						if scheme, _, ok := strings.Cut(a[2], ":"); ok && !strings.ContainsAny(scheme, "/?#") &&
							!strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "mailto") {
							t.Fatalf("%q links to %q", body, a[2])
						}
					case "id":
						if ids[a[2]] && a[2] != p.ID {
							t.Errorf("%q: the id %q twice", body, a[2])
						}
						ids[a[2]] = true
					case "src", "srcset":
						if !strings.HasPrefix(a[2], "/media/") {
							t.Fatalf("%q loads %q", body, a[2])
						}
					case "rel", "class", "role", "tabindex", "aria-label", "align", "start", "value", "title", "alt", "width", "height", "loading", "decoding", "sizes", "type":
					default:
						t.Fatalf("%q sets %s", body, a[0])
					}
				}
				rest = rest[end:]
			}
		}
	})
}
