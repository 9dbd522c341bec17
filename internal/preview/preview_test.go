package preview

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"palmares/internal/api"
	"palmares/internal/problem"
	"palmares/internal/testkit"
)

// A desk is the folder of an author, and the preview of it in her browser.
type desk struct {
	t      *testing.T
	dir    string
	url    string
	events *bufio.Scanner
}

const (
	settings = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"
	plume    = "---\nname: Plume\ntagline: Écrit vite\ndomain: plume.example\ncategory: code\npricing: payant\nprice: 19 €/mois\nscore: 7.5\ntested_at: 2026-11-01\ntier: 1\nsummary: Net.\naccess: paid\n---\nUn avis.\n"
)

// newDesk starts the preview of a folder and waits until it was read.
func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir()}
	for name, text := range files {
		d.write(name, text)
	}
	p := New(t.Context(), Config{Dir: d.dir, Document: api.Document(), Now: func() time.Time { return time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC) }, Log: slog.New(slog.DiscardHandler), Language: problem.French})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	srv := httptest.NewServer(p)
	d.url = srv.URL
	resp, err := http.Get(srv.URL + eventsPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = resp.Body.Close()
		srv.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	d.events = bufio.NewScanner(resp.Body)
	d.until(func() bool { return !strings.Contains(d.get("/").Body, "Lecture du dossier") })
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	// As editors do: a new file that replaces the old one.
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) draw(name string, shade uint8) {
	d.t.Helper()
	im := image.NewGray(image.Rect(0, 0, 8, 8))
	im.SetGray(1, 1, color.Gray{shade})
	var b strings.Builder
	if err := png.Encode(&b, im); err != nil {
		d.t.Fatal(err)
	}
	d.write(name, b.String())
}

func (d *desk) get(path string, headers ...string) *testkit.Reply {
	d.t.Helper()
	return testkit.Send(d.t, testkit.NewRequest(d.t, "GET", d.url+path, "", headers...))
}

// until waits until something is so, looking again after each edition that the stream
// of events announces.
func (d *desk) until(happened func() bool) {
	d.t.Helper()
	for !happened() {
		for {
			if !d.events.Scan() {
				d.t.Fatal("the stream of events ended: ", d.events.Err())
			}
			if strings.HasPrefix(d.events.Text(), "data: ") {
				break
			}
		}
	}
}

func (d *desk) untilShown(path, text string) {
	d.t.Helper()
	d.until(func() bool { return strings.Contains(d.get(path).Body, text) })
}

func TestASaveIsOnThePage(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings, "outils/plume.md": plume})
	d.get("/outils/plume").OK().Contains("Écrit vite")
	d.write("outils/plume.md", strings.Replace(plume, "Écrit vite", "Écrit bien", 1))
	d.untilShown("/outils/plume", "Écrit bien")
	d.write("pages/equipe.md", "---\ntitle: L’équipe\n---\nNous.\n") // in a folder that is new
	d.untilShown("/equipe", "Nous.")
	d.write("pages/equipe.md", "---\ntitle: L’équipe\n---\nVous.\n")
	d.untilShown("/equipe", "Vous.")
	if err := os.Remove(filepath.Join(d.dir, "pages/equipe.md")); err != nil {
		t.Fatal(err)
	}
	d.until(func() bool { return d.get("/equipe").Status == http.StatusNotFound })
}

func TestProblemsReplaceEveryPageUntilTheyAreFixed(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings, "outils/plume.md": plume})
	d.write("outils/plume.md", strings.Replace(plume, "category: code", "category: <b>rien</b>", 1))
	d.untilShown("/", "À corriger")
	for _, path := range []string{"/", "/outils/plume", "/nulle-part"} {
		d.get(path).Is(http.StatusInternalServerError).Contains("outils/plume.md:5: ", "/preview/reload.js?edition=2").Lacks("<b>rien")
	}
	d.write("outils/plume.md", plume)
	d.until(func() bool { return d.get("/outils/plume").Status == http.StatusOK })
}

func TestAFolderThatVanishesIsReadAgainWhenItIsBack(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings, "outils/plume.md": plume})
	if err := os.Rename(d.dir, d.dir+".away"); err != nil {
		t.Fatal(err)
	}
	d.untilShown("/", "n’existe pas")
	if err := os.Rename(d.dir+".away", d.dir); err != nil {
		t.Fatal(err)
	}
	d.until(func() bool { return d.get("/outils/plume").Status == http.StatusOK })
	d.write("outils/plume.md", strings.Replace(plume, "Écrit vite", "Écrit bien", 1))
	d.untilShown("/outils/plume", "Écrit bien")
}

var href = regexp.MustCompile(` href="(/[^"#]*)`)

// crawl opens every page that is linked from the home page, and calls look with each.
func (d *desk) crawl(look func(*testkit.Reply)) {
	d.t.Helper()
	seen := map[string]bool{"/": true}
	for queue := []string{"/"}; len(queue) > 0; queue = queue[1:] {
		page := d.get(queue[0])
		look(page)
		for _, m := range href.FindAllStringSubmatch(page.Body, -1) {
			if to := html.UnescapeString(m[1]); !seen[to] && !isElsewhere(to) {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
}

func TestDraftsAreShownAndMarkedHoweverIncomplete(t *testing.T) {
	d := newDesk(t, map[string]string{
		"catalogue.yaml":            settings,
		"outils/plume.md":           plume,
		"outils/encre.md":           "---\ndraft: true\n---\n",
		"outils/stylo.md":           strings.Replace(plume, "name: Plume", "name: Stylo\ndraft: true", 1),
		"comparatifs/plume-vs.md":   "---\ndraft: true\ntool_a: plume\ntool_b: encre\n---\n",
		"comparatifs/rien.md":       "---\ndraft: true\n---\n",
		"comparatifs/non-publie.md": "---\ntitle: Deux\npublished: false\ntool_a: plume\ntool_b: encre\nwinner: plume\nwinner_note: Voilà.\n---\n",
		"cimetiere/gomme.md":        "---\ndraft: true\n---\n",
		"cimetiere/plume.md":        "---\nname: Feu Plume\ndraft: true\n---\n",
		"pages/equipe.md":           "---\ndraft: true\n---\n",
	})
	for _, path := range []string{"/outils/encre", "/outils/stylo", "/avis/stylo", "/comparatifs/plume-vs", "/comparatifs/non-publie", "/equipe", "/cimetiere/gomme"} {
		d.get(path).OK().Contains("<strong>Brouillon.</strong>")
	}
	d.get("/outils/plume").OK().Lacks("<strong>Brouillon.</strong>")
	d.get("/outils").OK().Contains("encre</a> <span class=\"draft\">Brouillon</span>", "Plume</a></h3>")
	d.get("/cimetiere").OK().Contains("gomme</a> <span class=\"draft\">Brouillon</span>", "Feu Plume</a> <span class=\"draft\">Brouillon</span>", "2\u00a0outils disparus")
	d.get("/outils/plume").OK().Contains("<h1>Plume</h1>")
	d.get("/").Contains("comparatifs/rien.md:1: avertissement\u00a0: un brouillon sans tool_a ni tool_b ne peut pas encore être montré")
	pages := 0
	d.crawl(func(r *testkit.Reply) {
		if pages++; r.Status >= 300 && r.Status != http.StatusMovedPermanently {
			t.Errorf("%s: %d", r, r.Status)
		}
	})
	if pages < 25 {
		t.Errorf("only %d pages", pages)
	}
}

func TestThePreviewHasWhatBrowsersLookFor(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings + "contact: redaction@essai.example\n"})
	for _, path := range []string{"/favicon.ico", "/apple-touch-icon.png"} {
		d.get(path).OK()
	}
	d.get("/.well-known/security.txt").OK().Contains("Expires: 2027-05-15T00:00:00Z\n")
	d.write("outils/plume.md", "?")
	d.until(func() bool { return d.get("/").Status == http.StatusInternalServerError })
	d.get("/favicon.ico").OK()
}

func TestFindingsThatSayTheSameAreGrouped(t *testing.T) {
	folder := map[string]string{"catalogue.yaml": settings}
	for i := range 5 {
		text := strings.Replace(plume, "plume.example", fmt.Sprintf("plume-%d.example", i), 1)
		folder[fmt.Sprintf("outils/plume-%d.md", i)] = strings.Replace(text, "payant", "gratuit", 1)
	}
	d := newDesk(t, folder)
	lines := func(r *testkit.Reply) int { return strings.Count(r.Body, "<li><code>") }
	r := d.get("/").OK().Contains("5\u00a0avertissements<", "outils/plume-0.md:", ": avertissement\u00a0: ", "<li><code>et 2 de plus (palmares validate --format json les montre tous)\u00a0: ")
	if lines(r) != 4 {
		t.Errorf("%d lines for five equal warnings", lines(r))
	}
	for name, text := range folder {
		d.write(name, strings.Replace(text, "gratuit", "troc", 1))
	}
	d.until(func() bool {
		return strings.Contains(d.get("/").Body, "<li><code>et 2 de plus") && d.get("/").Status == http.StatusInternalServerError
	})
	if n := lines(d.get("/")); n != 4 {
		t.Errorf("%d lines for five equal problems", n)
	}
}

var source = regexp.MustCompile(` src="(/media/[^"]+)`)

func TestPicturesAreShownAndFollowTheirFiles(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings})
	d.draw("images/logo.png", 10)
	d.write("outils/plume.md", strings.Replace(plume, "score: 7.5", "score: 7.5\nlogo: images/logo.png", 1))
	address := func() string {
		if m := source.FindStringSubmatch(d.get("/outils/plume").Body); m != nil {
			return m[1]
		}
		return ""
	}
	d.until(func() bool { return address() != "" })
	first := address()
	d.get(first).OK().HasHeader("Content-Type", "image/png")
	d.write("outils/encre.md", strings.Replace(plume, "name: Plume", "name: Encre", 1))
	d.until(func() bool { return d.get("/outils/encre").Status == http.StatusOK })
	d.get(first).OK() // the picture was not decoded again, but is still there
	d.draw("images/logo.png", 20)
	d.until(func() bool { return address() != first })
	d.get(address()).OK()
	d.get(first).Is(http.StatusNotFound)
}

func TestOnlyThisMachineIsAnswered(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings})
	for _, host := range []string{"localhost", "localhost:8081", "LOCALHOST:1", "127.0.0.1:8081", "127.9.9.9", "[::1]:8081", "[::1]"} {
		d.get("/", "Host: "+host).OK()
	}
	for _, host := range []string{"evil.example", "evil.example:8081", "192.0.2.1:8081", "localhost.evil.example", "127.0.0.1.evil.example:80", "0.0.0.0:8081", "[::]:1"} {
		for _, path := range []string{"/", eventsPath, scriptPath, "/robots.txt", "/media/x.png"} {
			d.get(path, "Host: "+host).Is(http.StatusMisdirectedRequest).Lacks("Essai")
		}
	}
}

func TestNoOtherSiteReadsADraft(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings, "outils/plume.md": plume})
	paths := []string{"/", "/outils/plume.md", "/outils.md", "/llms.txt", "/static/site.css", eventsPath, scriptPath, "/robots.txt"}
	for _, path := range paths {
		for _, origin := range []string{"cross-site", "same-site", "anything"} {
			d.get(path, "Sec-Fetch-Site: "+origin).Is(http.StatusMisdirectedRequest).Lacks("Plume")
		}
		if path == eventsPath { // it does not end
			continue
		}
		for _, origin := range []string{"none", "same-origin"} {
			for _, r := range []*testkit.Reply{
				d.get(path, "Sec-Fetch-Site: "+origin, "Origin: https://evil.example"),
				testkit.Send(t, testkit.NewRequest(t, "OPTIONS", d.url+path, "", "Sec-Fetch-Site: "+origin, "Origin: https://evil.example")),
			} {
				for name := range r.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s has %s", r, name)
					}
				}
			}
		}
	}
	d.get("/outils/plume.md", "Sec-Fetch-Site: none").OK().Contains("Plume")
}

func TestThePicturesOfTheListOfProblemsAreShown(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings, "outils/plume.md": plume})
	d.draw("images/logo.png", 10)
	d.write("catalogue.yaml", settings+"logo: images/logo.png\n")
	d.untilShown("/", "/media/")
	d.write("outils/plume.md", strings.Replace(plume, "category: code", "category: rien", 1))
	d.untilShown("/", "À corriger")
	page := d.get("/")
	if !strings.Contains(page.Body, ` src="/media/`) {
		t.Fatalf("%s has no logo", page)
	}
	for _, m := range part.FindAllStringSubmatch(page.Body, -1) {
		d.get(m[1]).OK()
	}
}

// part is what a browser loads to show a page.
var part = regexp.MustCompile(`(?: src=|<link rel="(?:stylesheet|icon)" href=)"(/[^"]+)`)

func TestWhatOnlyTheServerHasIsSaidToBeAbsent(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings})
	for _, path := range []string{"/api/v1/tools", "/data/v1/export", "/compte", "/webhooks/v1/openapi.json"} {
		d.get(path).Is(http.StatusNotFound).Contains("n’existent que sur le serveur")
	}
}

func TestNothingIsIndexable(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings, "outils/plume.md": plume})
	d.get("/robots.txt").OK().Equals("User-agent: *\nDisallow: /\n")
	d.crawl(func(r *testkit.Reply) {
		r.HasHeader("X-Robots-Tag", "noindex, nofollow")
		if strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			r.Contains(`<meta name="robots" content="noindex">`)
		}
	})
}

func TestNoFileIsLeftBehind(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Run("preview", func(t *testing.T) {
		d := newDesk(t, map[string]string{"catalogue.yaml": settings})
		d.draw("images/logo.png", 10)
		d.write("outils/plume.md", strings.Replace(plume, "score: 7.5", "score: 7.5\nlogo: images/logo.png", 1))
		d.untilShown("/outils/plume", "/media/")
	})
	left, err := os.ReadDir(temporary)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "palmares") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func (d *desk) link(to, from string) {
	d.t.Helper()
	if err := os.Symlink(to, filepath.Join(d.dir, from)); err != nil {
		d.t.Fatal(err)
	}
}

func TestASaveBehindLinksIsOnThePage(t *testing.T) {
	d := newDesk(t, map[string]string{
		"reglages/catalogue.yaml": settings, "contenu/outils/plume.md": plume,
		"textes/.e.md": "---\ntitle: L’équipe\n---\nNous.\n", "pages/autre.md": "---\ntitle: Autre\n---\n",
		"v1/contact.md": "---\ntitle: Contact\n---\nUn.\n", "v2/contact.md": "---\ntitle: Contact\n---\nDeux.\n",
	})
	for to, from := range map[string]string{"boucle-b": "boucle-a", "boucle-a": "boucle-b", ".": "rond", "..": "dehors", "rien/du/tout": "nulle-part"} {
		d.link(to, from)
	}
	d.link("reglages/catalogue.yaml", "catalogue.yaml")
	d.link("contenu/outils", "outils")
	d.link("../detour.md", "pages/equipe.md")
	d.link("textes/.e.md", "detour.md")
	d.link("../v1", "reglages/version")
	d.link("../reglages/version/contact.md", "pages/contact.md")
	d.until(func() bool { return d.get("/equipe").Status == http.StatusOK })

	d.write("contenu/outils/plume.md", strings.Replace(plume, "Écrit vite", "Écrit bien", 1))
	d.untilShown("/outils/plume", "Écrit bien")
	d.write("textes/.e.md", "---\ntitle: L’équipe\n---\nVous.\n")
	d.untilShown("/equipe", "Vous.")
	d.write("reglages/catalogue.yaml", strings.Replace(settings, "Essai", "Nouveau", 1))
	d.untilShown("/", "Nouveau")
	d.link("../v2", "reglages/version.new")
	if err := os.Rename(filepath.Join(d.dir, "reglages/version.new"), filepath.Join(d.dir, "reglages/version")); err != nil {
		t.Fatal(err)
	}
	d.untilShown("/contact", "Deux.")
	d.write("v2/contact.md", "---\ntitle: Contact\n---\nTrois.\n")
	d.untilShown("/contact", "Trois.")
}

func TestBackupsOfEditorsChangeNothing(t *testing.T) {
	d := newDesk(t, map[string]string{"catalogue.yaml": settings, "outils/plume.md": plume, "outils/plume.md~": plume, "outils/#plume.md#": plume, "images/Thumbs.db": "x"})
	d.get("/outils/plume").OK()
}
