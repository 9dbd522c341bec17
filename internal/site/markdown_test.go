package site_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// markdownPages are one page of each kind that exists in Markdown, with what it must contain.
var markdownPages = map[string][]string{
	"/outils":                            {"# Tous les outils\n", "66\u00a0outils", "(/outils/babilune.md)", "[Suivante](/outils.md?page=2)"},
	"/outils/babilune":                   {"# Babilune\n", "- Note\u00a0: 8,6/10", "| 3\u00a0mars 2026 | 15\u00a0€/mois (freemium) | 18\u00a0€/mois (freemium) |", "(/api/v1/tools/babilune)"},
	"/avis/babilune":                     {"# Babilune\u00a0: notre avis\n", "## 120 questions, deux passages", "| Exacte et complète | 104 |"},
	"/alternatives/babilune":             {"# Alternatives à Babilune\n", "  - Ne coûte rien, contre 18\u00a0€/mois"},
	"/categories/agents":                 {"# Agents autonomes\n", "7\u00a0outils"},
	"/comparatifs":                       {"# Comparatifs\n", "(/comparatifs/mandibule-vs-escouade.md)"},
	"/comparatifs/mandibule-vs-escouade": {"Vainqueur\u00a0: **Mandibule**", "| Note | 8,6/10 | 6,2/10 |", "## Pour aller plus loin"},
	"/prix":                              {"# Prix\n", "| [Babilune](/outils/babilune.md) | 18\u00a0€/mois, confirmé le 11\u00a0novembre 2026 | freemium | 15 → 18\u00a0€/mois, le 3\u00a0mars 2026 |"},
	"/carte":                             {"# La carte\n", "54\u00a0outils avec une note", "- [Ocrelune](/outils/ocrelune.md)\u00a0: 8,7/10, 14\u00a0€ par mois", "- [Allô Standard](/outils/allo-standard.md)\u00a0: 5,7/10, 0,09"},
	"/cimetiere/helice-flux":             {"- Dernière note\u00a0: 5,7/10", "## Comment en partir", "Prix, 19\u00a0€/mois → 25\u00a0€/mois"},
	"/cimetiere":                         {"## [Storyplanche](/cimetiere/storyplanche.md) {#storyplanche}", "À sa place\u00a0: [Travelling 24](/outils/travelling-24.md)"},
	"/docs":                              {"`GET /api/v1/tools`", "(/docs/erreurs.md)", "(/docs/erreurs.md)", "(/docs/outils.md)", "(/docs/donnees.md)"},
	"/docs/outils":                       {"`GET /api/v1/tools`", "- `score_min` (requête, nombre)", "  - `slug` (texte)"},
	"/docs/embeddings":                   {"palmares-passages.db"},
	"/docs/erreurs":                      {"# Codes d’erreur\n", "| `quota_exceeded` | 429 |"},
	"/docs/en-tetes":                     {"- `ETag` (200, "},
	"/docs/donnees":                      {"| chercher un outil | `/data/v1/search` |", "/data/v1/changes?after=1500"},
	"/docs/assistants":                   {`"url": "`, "| `search` |"},
	"/docs/webhooks":                     {"| 10 | 24\u00a0h | 3\u00a0j 3\u00a0h |", "`embeddings.updated` :\n\n```json\n{\n", "```python\nimport base64", "POST /webhooks/v1/endpoints"},
	"/donnees":                           {"`palmares.sqlite.zst`", "Source : Palmarès (démonstration) ("},
	"/licence":                           {"    Source : Palmarès (démonstration) ("},
}

func TestPagesExistInMarkdownToo(t *testing.T) {
	v := openDemo(t)
	for path, said := range markdownPages {
		text := v.get(path+".md").ok().is("Content-Type", "text/markdown; charset=utf-8").
			is("Link", "<"+v.url+path+`>; rel="canonical"`).is("Cache-Control", "public, max-age=0, s-maxage=300, must-revalidate").
			says(said...).says("Source : Palmarès (démonstration) ("+v.url+")", "tout ce que vous lisez ici est inventé").
			saysNot("<no value>", "&#", "<p>", "<a ")
		v.get(path).ok().says(`<link rel="alternate" type="text/markdown" href="` + path + `.md" title="Cette page en Markdown">`)
		for _, coding := range []string{"gzip", "br", "zstd"} {
			r := v.get(path+".md", "Accept-Encoding: "+coding).ok().is("Content-Encoding", coding)
			if r.body != text.body || r.wire >= text.wire {
				t.Errorf("%s.md as %s is not the same, only smaller", path, coding)
			}
			v.get(path+".md", "Accept-Encoding: "+coding, "If-None-Match: "+r.header.Get("ETag")).answers(304)
		}
	}
	for _, path := range []string{"/", "/confidentialite", "/nulle-part", "/outils/jamais-vu"} {
		v.get(path).saysNot(`type="text/markdown"`)
	}
	v.get("/outils?page=2").ok().says(`href="/outils.md?page=2"`)
}

func TestMarkdownAcceptsTheSameFilters(t *testing.T) {
	v := open(t, small())
	v.get("/outils.md?category=chat&score_min=8").ok().says("[Abeille](/outils/abeille.md)").saysNot("Bourdon", "Drosophile")
	v.get("/outils.md?q=abeile").ok().says("[Abeille](/outils/abeille.md)")
	v.get("/cimetiere.md?reason=mort").ok().says("12\u00a0outils disparus")
	v.get("/cimetiere.md?page=2").ok().says("Page 2 sur 2. [Précédente](/cimetiere.md)")
	v.get("/outils.md?score_min=x").answers(400).is("Cache-Control", "no-store").says("**«\u00a0Note min.\u00a0» attend un nombre, par exemple 7,5.**")
}

func TestMarkdownRedirectsAndFailsInMarkdown(t *testing.T) {
	v := open(t, small())
	v.get("/outils/ancienne-abeille.md").movesTo("/outils/abeille.md")
	v.get("/avis/ancienne-abeille.md?a=b").movesTo("/avis/abeille.md?a=b")
	v.get("/avis/fantome-00.md").movesTo("/cimetiere/fantome-00.md")
	v.get("/outils/fantome-59.md").movesTo("/cimetiere/fantome-59.md")
	for _, path := range []string{"/outils/jamais-vu.md", "/avis/bourdon.md", "/comparatifs/brouillon.md", "/nulle-part.md", "/outils/.md"} {
		r := v.get(path).answers(404).is("Content-Type", "text/markdown; charset=utf-8")
		if !strings.HasPrefix(r.body, "# ") {
			t.Errorf("%s says %q", path, r.body)
		}
	}
	v.get("/avis/bourdon.md").says("(/outils/bourdon.md)")
	v.do("POST", "/outils.md").answers(405)
}

var textLinkPattern = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// TestEveryLinkInMarkdownWorks follows all links from llms.txt.
func TestEveryLinkInMarkdownWorks(t *testing.T) {
	v := openDemo(t)
	seen := map[string]bool{"/llms.txt": true}
	queue := []string{"/llms.txt"}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		r := v.get(from).ok()
		if kind := r.header.Get("Content-Type"); kind != "text/markdown; charset=utf-8" && kind != "text/plain; charset=utf-8" {
			continue
		}
		for _, m := range textLinkPattern.FindAllStringSubmatch(r.body, -1) {
			to, _, _ := strings.Cut(strings.TrimPrefix(m[1], v.url), "#")
			if !strings.HasPrefix(to, "/") || seen[to] {
				continue
			}
			seen[to] = true
			queue = append(queue, to)
		}
	}
	if len(seen) < 220 {
		t.Errorf("only %d pages were reached", len(seen))
	}
}

func TestLLMSTxtFollowsItsFormat(t *testing.T) {
	v := openDemo(t)
	r := v.get("/llms.txt").ok().is("Content-Type", "text/plain; charset=utf-8").
		says("\n## Catalogue\n", "\n## API\n", "\n## Optional\n", "Source : Palmarès (démonstration) ("+v.url+")", "inventé")
	lines := strings.Split(r.body, "\n")
	if lines[0] != "# Palmarès (démonstration)" || lines[1] != "" || !strings.HasPrefix(lines[2], "> ") {
		t.Errorf("it starts with %q", lines[:3])
	}
	entry := regexp.MustCompile(`^- \[[^\[\]]+\]\(` + regexp.QuoteMeta(v.url) + `/[^()\s]*\)(: .+)?$`)
	_, sections, _ := strings.Cut(r.body, "\n## ")
	for line := range strings.Lines(sections) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "-") && !entry.MatchString(line) {
			t.Errorf("invalid line %q", line)
		}
	}
}

func TestHostileTextStaysTextInMarkdown(t *testing.T) {
	v := open(t, hostile())
	loose := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	for _, path := range []string{
		"/outils.md", "/outils.md?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/outils/outil-0.md", "/avis/outil-0.md", "/alternatives/outil-0.md", "/categories/chat.md",
		"/comparatifs.md", "/comparatifs/duel.md", "/a.md", "/prix.md", "/cimetiere.md", "/docs.md", "/licence.md", "/llms.txt", "/%3Cscript%3E.md", "/outils/%3Cscript%3E.md",
	} {
		r := v.get(path)
		var page bytes.Buffer
		if err := loose.Convert([]byte(r.body), &page); err != nil {
			t.Fatal(err)
		}
		// Pictures of the text are kept.
		rendered := strings.NewReplacer(`<img src="/media/`, "", `<img src="https://evil.example/i.png"`, "").Replace(page.String())
		for _, tag := range []string{"<script", "<img", "<iframe", "<b>", "onmouseover=\"", "ZgotmplZ"} {
			if strings.Contains(rendered, tag) {
				t.Errorf("%s contains %s once rendered", path, tag)
			}
		}
	}
}
