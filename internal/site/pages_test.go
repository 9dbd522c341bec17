package site_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

func TestEveryPageHasItsLandmarks(t *testing.T) {
	v := openDemo(t)
	for _, path := range append(kinds, "/nulle-part") {
		r := v.get(path)
		want := 200
		if path == "/nulle-part" {
			want = 404
		}
		r.answers(want).is("Content-Type", "text/html; charset=utf-8")
		count := map[string]int{}
		for _, one := range r.tags() {
			count[one.name]++
			if one.name == "html" && one.attributes["lang"] != "fr" {
				t.Errorf("%s has no lang attribute for French", path)
			}
			if _, styled := one.attributes["style"]; styled || one.name == "style" {
				t.Errorf("%s: <%s> has a style, which the content security policy forbids", path, one.name)
			}
		}
		for _, once := range []string{"html", "title", "h1", "main"} {
			if count[once] != 1 {
				t.Errorf("%s: %d <%s>", path, count[once], once)
			}
		}
		for _, some := range []string{"nav", "header", "footer"} {
			if count[some] == 0 {
				t.Errorf("%s has no <%s>", path, some)
			}
		}
		ids := r.ids()
		if !ids["page.contenu"] || !strings.Contains(r.body, `<a class="skip" href="#page.contenu">`) {
			t.Errorf("%s has no skip link", path)
		}
		for _, one := range r.tags() {
			if id := one.attributes["for"]; id != "" && !ids[id] {
				t.Errorf("%s: a label is for %q, which does not exist", path, id)
			}
			if id := one.attributes["aria-labelledby"]; id != "" && !ids[id] {
				t.Errorf("%s: aria-labelledby is %q, which does not exist", path, id)
			}
		}
	}
}

func TestTheDemoSaysOnEveryPageThatItIsInvented(t *testing.T) {
	const sentence = "tout ce que vous lisez ici est inventé"
	v := openDemo(t)
	for _, path := range append(kinds, "/nulle-part") {
		v.get(path).says(sentence, `<meta name="robots" content="noindex">`)
	}
	open(t, small()).get("/").ok().saysNot(sentence, "noindex")
}

func TestEveryInternalLinkWorks(t *testing.T) {
	pages := crawl(t, openDemo(t))
	// Every tool has a page, its alternatives and nearly always a review.
	if len(pages) < 250 {
		t.Errorf("only %d pages were reached", len(pages))
	}
}

// crawl returns everything that links lead to from the home page and some other ones, by path.
func crawl(t *testing.T, v *server, start ...string) map[string]*reply {
	t.Helper()
	pages := map[string]*reply{}
	anchors := map[string]map[string]bool{} // by page
	type step struct{ from, to string }
	queue := []step{{"", "/"}}
	for _, path := range start {
		queue = append(queue, step{"", path})
	}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		path, anchor, _ := strings.Cut(next.to, "#")
		r := pages[path]
		if r == nil {
			r = v.get(path)
			pages[path] = r
			if r.status != 200 {
				t.Errorf("%s leads to %s: %d %s", next.from, path, r.status, r.header.Get("Location"))
				continue
			}
			if strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
				anchors[path] = r.ids()
				for _, link := range internalLinks(t, v, r, path) {
					queue = append(queue, step{path, link})
				}
			}
		}
		if anchor != "" && !anchors[path][anchor] {
			t.Errorf("%s leads to %s, which has no such anchor", next.from, next.to)
		}
	}
	return pages
}

// internalLinks returns the URLs on this server that a page refers to. It also
// requires that a page loads nothing from other hosts and sends nothing to them.
func internalLinks(t *testing.T, v *server, r *reply, path string) []string {
	t.Helper()
	base, err := url.Parse(v.url + path)
	if err != nil {
		t.Fatal(err)
	}
	var links []string
	for _, one := range r.tags() {
		for _, name := range []string{"href", "src", "action"} {
			value, ok := one.attributes[name]
			if !ok {
				continue
			}
			to, err := base.Parse(value)
			if err != nil {
				t.Errorf("%s: <%s %s=%q>: %v", path, one.name, name, value, err)
				continue
			}
			if to.Host != base.Host {
				if one.name != "a" {
					t.Errorf("%s: <%s> refers to another host: %s", path, one.name, value)
				} else if to.Scheme != "mailto" && !slices.Contains([]string{"noopener nofollow", "sponsored nofollow noopener"}, one.attributes["rel"]) {
					t.Errorf("%s: the link to %s is not marked as external", path, value)
				}
				continue
			}
			if to.Path == "/compte" || to.Path == "/signaler" || to.Path == "/suivre" || to.Path == "/webhooks/v1/openapi.json" || strings.HasPrefix(to.Path, "/data/") {
				continue // served by other handlers
			}
			to.Scheme, to.Host = "", ""
			links = append(links, to.String())
		}
	}
	return links
}

func TestEveryURLInTheAPIExists(t *testing.T) {
	v := openDemo(t)
	pages := map[string]map[string]bool{}
	exists := func(address string) {
		t.Helper()
		path, ours := strings.CutPrefix(address, v.url)
		if !ours {
			t.Errorf("%s is not on this server", address)
			return
		}
		path, anchor, _ := strings.Cut(path, "#")
		if pages[path] == nil {
			pages[path] = v.get(path).ok().ids()
		}
		if anchor != "" && !pages[path][anchor] {
			t.Errorf("%s: the page has no such anchor", address)
		}
	}
	var tools struct{ Data []catalog.ToolItem }
	into(t, v.get("/api/v1/tools?limit=200"), &tools)
	chunks := 0
	for _, tool := range tools.Data {
		exists(tool.CanonicalURL)
		exists(tool.AlternativesURL)
		if tool.ReviewURL != nil {
			exists(*tool.ReviewURL)
		}
		r := v.get("/api/embeddings/"+tool.Slug, "Authorization: yes")
		if r.status != 200 {
			continue
		}
		var doc catalog.EmbeddingsDoc
		into(t, r, &doc)
		exists(doc.CanonicalURL)
		for _, chunk := range doc.Chunks {
			exists(chunk.Metadata.CanonicalURL)
			chunks++
		}
	}
	var matches struct{ Data []catalog.ComparisonItem }
	into(t, v.get("/api/v1/comparatifs?limit=200"), &matches)
	for _, x := range matches.Data {
		exists(x.CanonicalURL)
	}
	if len(tools.Data) != 66 || len(matches.Data) != 15 || chunks < 100 {
		t.Errorf("%d tools, %d comparisons, %d chunks: not the demo", len(tools.Data), len(matches.Data), chunks)
	}
}

func into(t *testing.T, r *reply, data any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.ok().body), data); err != nil {
		t.Fatalf("%s: %v", r.what, err)
	}
}

// TestPagesStayWithinTheirSizeBudget measures a page with everything it loads but the
// publisher's pictures.
func TestPagesStayWithinTheirSizeBudget(t *testing.T) {
	v := openDemo(t)
	assets := map[string]int{}
	for _, path := range kinds {
		r := v.get(path, "Accept-Encoding: gzip").ok()
		total := r.wire
		for _, one := range r.tags() {
			from := one.attributes["src"]
			if one.name == "link" && (one.attributes["rel"] == "stylesheet" || one.attributes["rel"] == "icon") {
				from = one.attributes["href"]
			}
			if from == "" || strings.HasPrefix(from, "/media/") {
				continue
			}
			if assets[from] == 0 {
				assets[from] = v.get(from, "Accept-Encoding: gzip").ok().wire
			}
			total += assets[from]
		}
		if total > 100_000 {
			t.Errorf("%s weighs %d bytes with all it loads", path, total)
		}
	}
	if len(assets) != 6 {
		t.Errorf("pages load %v, want one style, one for paper and one script, one of each for the reference, and a style for maps", assets)
	}
	for file, most := range map[string]int64{"static/site.css": 29_300, "static/print.css": 2_500, "static/market.css": 8_000, "static/site.js": 15_500, "../reference/static/docs.css": 8_000, "../reference/static/docs.js": 8_000} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, more than %d", file, info.Size(), most)
		}
	}
}

// TestAListOfFiftyToolsWithLogosStaysWithinItsSizeBudget publishes logos as publishers
// have them, large and in full colour.
func TestAListOfFiftyToolsWithLogosStaysWithinItsSizeBudget(t *testing.T) {
	folder := fstest.MapFS{"catalogue.yaml": {Data: []byte("name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n")}}
	for i := range 50 {
		folder[fmt.Sprintf("images/%d.png", i)] = &fstest.MapFile{Data: drawnLogo(t, i)}
		folder[fmt.Sprintf("outils/outil-%d.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"---\nname: Outil %d\ndomain: outil%[1]d.example\ncategory: code\npricing: payant\nprice: %[1]d €/mois\ntagline: Relit vos commits avant vous, et dit ce qu’il en pense\nlogo: images/%[1]d.png\n---\n", i)}
	}
	r, err := content.ReadFS(t.Context(), folder, content.Options{InMemory: true})
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	v := listen(t, site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, Pictures: r.Pictures})
	v.publish(r.Catalog, 1)
	list := v.get("/outils", "Accept-Encoding: gzip").ok()
	total, logos := list.wire, map[string]bool{}
	for _, one := range list.tags() {
		from := one.attributes["src"]
		if one.attributes["rel"] == "stylesheet" {
			from = one.attributes["href"]
		}
		if from != "" {
			total += v.get(from, "Accept-Encoding: gzip").ok().wire
			logos[from] = one.name == "img"
		}
	}
	t.Logf("%d bytes", total)
	if len(logos) != 53 || total > 200_000 {
		t.Errorf("a list with %d files weighs %d bytes", len(logos), total)
	}
}

// drawnLogo returns a PNG of 256 by 256 pixels with gradients and round edges, each
// number another one.
func drawnLogo(t *testing.T, n int) []byte {
	t.Helper()
	const size = 256
	m := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			u, v := float64(x)/size, float64(y)/size
			ring := math.Sin(math.Hypot(u-.5, v-.5)*float64(12+n%7)*2) * math.Cos(math.Atan2(v-.5, u-.5)*float64(2+n%5))
			m.SetNRGBA(x, y, color.NRGBA{uint8(255 * u), uint8(127 + 127*ring), uint8(5 * n), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheCreditLineCanBeCopied(t *testing.T) {
	open(t, small()).get("/licence").ok().says(`<code id="page.credit">Source : Essai (https://essai.example)</code>`)
}

func TestCanonicalLinksComeFromTheRecords(t *testing.T) {
	c := small()
	c.Tools[1].CanonicalURL = "https://ailleurs.example/b"
	v := open(t, c)
	for path, want := range map[string]string{
		"/": "https://essai.example/", "/outils/abeille": "https://essai.example/outils/abeille", "/avis/abeille": "https://essai.example/avis/abeille",
		"/alternatives/abeille": "https://essai.example/alternatives/abeille", "/outils/bourdon": "https://ailleurs.example/b",
		"/comparatifs/abeille-vs-bourdon": "https://essai.example/comparatifs/abeille-vs-bourdon", "/cimetiere?page=2": "https://essai.example/cimetiere?page=2",
	} {
		v.get(path).ok().says(`<link rel="canonical" href="`+want+`">`, `<meta property="og:url" content="`+want+`">`)
	}
	v.get("/sitemap.xml").ok().says("https://essai.example/outils/abeille").saysNot("outils/bourdon", "ailleurs.example")
}

func TestANewVersionIsShownAtOnce(t *testing.T) {
	v := open(t, small())
	v.get("/outils/abeille").ok().says("Un outil nommé Abeille")
	next := small()
	next.Tools[0].Tagline = "Elle a changé"
	v.publish(next, 2)
	v.get("/outils/abeille").ok().says("Elle a changé").saysNot("Un outil nommé Abeille")
}

func TestAnEmptyCatalogueHasPagesToo(t *testing.T) {
	v := open(t, &catalog.Catalog{Name: "Vide", URL: "https://vide.example"})
	for _, path := range []string{"/", "/outils", "/outils?q=a", "/outils?q=a&sort=name_asc", "/comparatifs", "/prix", "/carte", "/carte.md", "/cimetiere", "/docs", "/docs/webhooks", "/donnees", "/tarifs", "/licence", "/confidentialite", "/sitemap.xml", "/robots.txt", "/flux.atom", "/llms.txt", "/outils.md", "/comparatifs.md", "/prix.md", "/cimetiere.md", "/docs.md"} {
		v.get(path).ok()
	}
	// Before the first publication there is no date to show.
	v.show(snapshot.Empty("Vide", "https://vide.example"))
	for path, words := range map[string]string{
		"/": "Le catalogue est encore vide.", "/outils": "Le catalogue est encore vide.", "/comparatifs": "Nous n’avons encore publié aucun comparatif.",
		"/prix": "Le catalogue est encore vide.", "/carte": "Le catalogue est encore vide.", "/carte.md": "Aucun outil.", "/cimetiere": "Aucun outil n’a encore disparu.", "/outils.md": "0\u00a0outil.", "/prix.md": "0\u00a0outil, par nom", "/llms.txt": "En français.\n",
	} {
		v.get(path).ok().says(words).saysNot("1970", "<ol class=\"changes\">", "| Outil |")
	}
}

func TestReadersLearnThatAssistantsMayAsk(t *testing.T) {
	v := openDemo(t)
	for _, path := range []string{"/docs", "/docs.md", "/llms.txt"} {
		v.get(path).ok().says("/mcp")
	}
	v.get("/tarifs").ok().says(`href="/docs/assistants"`)
	v.get("/docs").ok().says(`id="assistants"`)
	v.get("/confidentialite").ok().says("<code>/mcp</code>")
}
