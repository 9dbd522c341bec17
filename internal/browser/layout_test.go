package browser_test

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"palmares/internal/testkit"
)

// widths are those that layouts are checked at: the narrowest phone in use, which is
// also a desktop window at 400 %, a common phone, a tablet and a desktop.
var widths = []screen{
	{"320 pixels", 320, 640, true},
	{"390 pixels", 390, 844, true},
	{"768 pixels", 768, 1024, true},
	{"1300 pixels", 1300, 900, false},
}

// layoutScript is a function of the window's width that returns what is wrong.
//
//go:embed layout.js
var layoutScript string

func TestLayoutsHoldInWideAndNarrowFonts(t *testing.T) {
	t.Parallel()
	for _, c := range []*chromium{wideBrowser, narrowBrowser} {
		t.Run(c.typeface.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, c, desktop, kit.url)
			for _, p := range kinds {
				b.open(p)
				// Folded parts are checked too, except those with a name, which fold each
				// other; and every badge with the longest score.
				eval[chromedp.Void](b, `document.querySelectorAll("details:not([name])").forEach(d => { d.open = true });
					document.querySelectorAll(".note:not(.note-none,.ring)").forEach(note => { note.firstChild.data = "10,0" })`)
				sizes := widths
				if c == narrowBrowser {
					sizes = []screen{widths[0], widths[len(widths)-1]}
				}
				b.hasSoundLayout(c.typeface.name+"-"+p.name, sizes)
			}
		})
	}
}

// hasSoundLayout checks the page as it is at these widths, and leaves the tab at the
// last of them.
func (b *tab) hasSoundLayout(name string, sizes []screen) {
	b.t.Helper()
	for _, s := range sizes {
		b.show(s)
		b.await(fmt.Sprintf(`matchMedia("(width: %dpx)").matches`, s.width))
		for _, problem := range b.layoutProblems(s) {
			b.t.Errorf("%s at %s: %s", b.lastURL(), s.name, problem)
		}
		b.savePicture(fmt.Sprintf("%s-%d", name, s.width))
	}
}

func (b *tab) layoutProblems(s screen) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf("%s(%d)", strings.TrimSpace(layoutScript), s.width))
}

// savePicture keeps a picture of the whole page in the folder that PALMARES_PICTURES
// names, for people who change layouts.
func (b *tab) savePicture(name string) {
	b.t.Helper()
	dir := os.Getenv("PALMARES_PICTURES")
	if dir == "" {
		return
	}
	picture := get(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// Each of these pages has one fault, at 320 pixels in the wide typeface.
func TestTheLayoutCheckFindsWhatItIsFor(t *testing.T) {
	t.Parallel()
	b := newTab(t, widths[0])
	for _, fault := range []struct{ html, words string }{
		{`<p></p>`, ""},
		{`<div class="f-wide">large</div>`, "pixels wide"},
		{`<p class="f-narrow">Obsolescence</p>`, `"Obsolescence" in p.f-narrow is broken`},
		{`<p class="f-narrow">à 10,0</p>`, ""},
		{`<p class="f-tiny">10,0</p>`, `"10,0" in p.f-tiny is broken`},
		{`<p class="f-narrow">alors, faut-il</p>`, ""},
		{`<p class="f-narrow">exemple.fr/tarifs</p>`, `"exemple.fr/tarifs" in p.f-narrow is broken`},
		{`<p class="f-narrow">essais.fr/<wbr>tarifs</p>`, ""},
		{`<p>` + strings.Repeat("anticonstitution", 4) + `</p>`, ""},
		{`<select class="f-narrow"><option>Meilleure note</option></select>`, "a choice of select.f-narrow needs"},
		{`<button class="f-narrow f-line">Recevoir le lien</button>`, `button.f-narrow.f-line "Recevoir le lien" does not fit`},
		{`<p>un</p><p class="f-up">deux</p>`, `"un" and "deux" overlap`},
	} {
		b.goTo("/licence")
		eval[chromedp.Void](b, fmt.Sprintf(`(() => {
			document.querySelector("main").innerHTML = %q;
			const sheet = new CSSStyleSheet();
			sheet.replaceSync(".f-line{white-space:nowrap} .f-wide{width:400px} .f-narrow{width:90px;overflow-wrap:anywhere} .f-tiny{width:20px;overflow-wrap:anywhere} .f-up{position:relative;top:-1.5rem} main{display:block} main p{margin:0}");
			document.adoptedStyleSheets = [sheet];
		})()`, fault.html))
		found := strings.Join(b.layoutProblems(widths[0]), "; ")
		if fault.words == "" && found != "" || !strings.Contains(found, fault.words) {
			t.Errorf("%s: found %q, want %q", fault.html, found, fault.words)
		}
	}
}

// shiftScript returns how far visible content moved after it was first shown, as
// browsers measure it, and which elements moved. The first paint is reported after the
// shifts before it.
const shiftScript = `new Promise(resolve => {
	let painted = false;
	const found = { score: 0, moved: [] };
	const observer = new PerformanceObserver(list => {
		for (const entry of list.getEntries()) {
			if (entry.entryType !== "layout-shift") { painted = true; continue; }
			found.score += entry.value;
			for (const { node, previousRect: from, currentRect: to } of entry.sources) {
				found.moved.push((node?.parentElement?.outerHTML ?? "").slice(0, 150) + " from " + JSON.stringify(from) + " to " + JSON.stringify(to));
			}
		}
	});
	observer.observe({ type: "layout-shift", buffered: true });
	observer.observe({ type: "paint", buffered: true });
	const wait = frames => requestAnimationFrame(() => setTimeout(() => {
		if (painted && frames <= 0) resolve(found);
		else wait(frames - 1);
	}));
	wait(3);
})`

type shift struct {
	Score float64
	Moved []string
}

// pieces is in how many pieces a slowLine sends what follows the head of a page.
const pieces = 8

// A slowLine is a proxy before the server that sends pages in pieces, each when it is
// told to, as a slow connection would.
type slowLine struct {
	*httptest.Server
	next chan struct{}
}

func newSlowLine(t *testing.T) *slowLine {
	target, err := url.Parse(kit.url)
	if err != nil {
		t.Fatal(err)
	}
	s := &slowLine{next: make(chan struct{})}
	proxy := httputil.NewSingleHostReverseProxy(target)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-Fetch-Dest") != "document" {
			proxy.ServeHTTP(w, r)
			return
		}
		r.Header.Del("Accept-Encoding")
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		text := answer.Body.String()
		shown := strings.Index(text, "<main") // before it, there is nothing to paint
		for i := range pieces + 1 {
			from := shown + (len(text)-shown)*(i-1)/pieces
			if i == 0 {
				from = 0
			}
			_, _ = io.WriteString(w, text[from:shown+(len(text)-shown)*i/pieces]) // the browser may have left
			_ = http.NewResponseController(w).Flush()
			select {
			case <-s.next:
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// maxShift is the layout shift below which pages are called good
// (https://web.dev/articles/cls). A page can always be cut where a line or a column is not
// complete.
const maxShift = 0.1

func TestPagesStayStillWhileTheyArrive(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{phone, desktop} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			line := newSlowLine(t)
			b := openTab(t, wideBrowser, s, line.URL)
			for _, p := range kinds {
				if p.answer() != 200 {
					b.watch.forgive(b.base + p.path)
				}
				call(b, page.Navigate, page.NavigateParams{URL: b.base + p.path})
				for range pieces + 1 {
					eval[chromedp.Void](b, `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))`, chromedp.EvalAwaitPromise)
					line.next <- struct{}{}
				}
				b.await(`document.readyState === "complete"`)
				if found := eval[shift](b, shiftScript, chromedp.EvalAwaitPromise); found.Score >= maxShift {
					t.Errorf("%s: the layout shifts by %g:\n%s", p.path, found.Score, strings.Join(found.Moved, "\n"))
				}
			}
			// The measurement must notice something that does move.
			eval[chromedp.Void](b, `new Promise(resolve => requestAnimationFrame(() => {
				const block = document.createElement("div");
				block.append(Object.assign(document.createElement("pre"), { textContent: "\n".repeat(20) }));
				document.querySelector("main").prepend(block);
				requestAnimationFrame(() => resolve());
			}))`, chromedp.EvalAwaitPromise)
			if found := eval[shift](b, shiftScript, chromedp.EvalAwaitPromise); found.Score < maxShift {
				t.Errorf("a page that moves scores only %g: the other scores prove nothing", found.Score)
			}
		})
	}
}

// Nothing but the text decides how long a word is.
func TestNoPageScrollsSidewaysWhateverItsWords(t *testing.T) {
	t.Parallel()
	s := startService(t)
	word := func(n int) string { return strings.Repeat("x", n) }
	text := fmt.Sprintf("%[1]s\n\n## %[1]s\n\n%[1]s **%[1]s** `%[1]s` [%[1]s](https://%[2]s.example/%[1]s)\n\n- %[1]s\n\n> %[1]s\n\n| %[1]s | b |\n|---|---|\n| c | %[1]s |\n\n```\n%[1]s\n```\n\n%[1]s[^1]\n\n[^1]: %[1]s\n", word(200), word(60))
	tool := func(name, more string) string {
		return fmt.Sprintf("---\nname: %s%s\ndomain: %s.example\ncategory: code\npricing: payant\nprice: 9 €/%s\nprice_display: %s\ntagline: https://%s\nauthor: %s\nscore: 8\ntested_at: 2026-01-02\nsources: [https://exemple.fr/%s]\nplans:\n  - name: %s\n    price: %s\n    note: %s\n%s---\n%s", name, word(110), word(60), word(60), word(80), word(190), word(100), word(200), word(80), word(80), word(200), more, text)
	}
	settings := fmt.Sprintf("name: %s\nurl: https://essais.example\nheadline: %[1]s\nintroduction: %[1]s\ndescription: %[1]s\ncategories:\n  - slug: code\n    label: %[1]s\n    description: %[1]s\n"+
		"    usages: [{slug: u, label: %[1]s}]\n    protocol: {version: %[2]s}\n    criteria: [{slug: m, label: %[1]s, description: %[1]s}, {slug: n, label: %[1]sn, unit: %[2]s, worst: 9, best: 0}]\n", word(100), word(60))
	for i := range 68 { // as many categories as a large catalogue has
		settings += fmt.Sprintf("  - {slug: c-%d, label: %d%s}\n", i, i, word(60))
	}
	found := fmt.Sprintf("summary: %s\npros: [%[1]s]\ncons: [%[1]s]\nusages: [u]\ncriteria: {m: 5, n: 123456.789}\naccess: paid\ntested_version: %[2]s\ntested_plan: %[2]s\ninterests: %[1]s\n", word(200), word(60))
	// Prices and numbers do not break like words, nor do short compounds.
	dear := "---\nname: Ressources-humaines\ndomain: cher.example\ncategory: code\npricing: payant\nprice: 12 345,61 €/utilisateur/mois\ntagline: Cher\nscore: 10\ntested_at: 2026-01-02\ncriteria: {m: 10, n: 123456.789}\nprice_history:\n"
	for i := range 30 {
		dear += fmt.Sprintf("  - {changed_at: 202%d-%02d-01, old_pricing: payant, old_price: \"%[3]d2 345,6%[3]d €/utilisateur/mois\", new_pricing: payant, new_price: \"%[4]d2 345,6%[4]d €/utilisateur/mois\"}\n", 6-i/10, 10-i%10, 1+(i+1)%9, 1+i%9)
	}
	dear += "---\n"
	for name, content := range map[string]string{
		"catalogue.yaml":      settings,
		"outils/plume.md":     tool("P", found+"price_history:\n  - changed_at: 2026-01-01\n    old_pricing: gratuit\n    old_price: 0 €/mois\n    new_pricing: payant\n    new_price: 9 €/"+word(60)+"\n"),
		"outils/scie.md":      tool("S", found),
		"outils/cher.md":      dear,
		"comparatifs/duel.md": fmt.Sprintf("---\ntitle: %[1]s\ntool_a: plume\ntool_b: scie\nwinner: plume\nwinner_note: %[1]s\n---\n%[2]s", word(200), text),
		"cimetiere/vieux.md":  fmt.Sprintf("---\nname: V%s\ncategory: code\nreason: mort\nretired_at: 2026-01-01\nsuccessor: plume\nlast_price: 9 €/%s\nlast_score: 3\nleaving: %s\nscore_history:\n  - {changed_at: 2025-01-01, new_score: 3, note: %[3]s}\n---\n%s\n", word(110), word(60), word(200), word(200)),
		"pages/methode.md":    fmt.Sprintf("---\ntitle: %s\nmenu: header\n---\n%s", word(200), text),
	} {
		path := filepath.Join(s.folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	s.command("publish", s.folder)
	testkit.Until(t, "the catalogue", func() bool {
		resp, err := http.Get(s.url + "/outils/scie")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	b := openTab(t, wideBrowser, widths[0], s.url)
	for _, path := range []string{
		"/", "/outils", "/outils?q=" + word(150), "/outils/plume", "/outils/cher", "/avis/plume", "/alternatives/plume", "/categories/code", "/comparatifs",
		"/comparatifs/duel", "/comparer?outils=plume,scie", "/prix", "/carte", "/cimetiere", "/cimetiere/vieux", "/methode", "/docs", "/donnees", "/licence",
	} {
		b.goTo(path)
		eval[chromedp.Void](b, `document.querySelectorAll("details").forEach(d => { d.open = true })`)
		sizes := widths[:1]
		switch path {
		case "/outils", "/outils/plume", "/alternatives/plume", "/categories/code": // prices have a column of their own
			sizes = []screen{widths[0], widths[2], widths[3]}
		}
		for _, size := range sizes {
			b.show(size)
			b.await(fmt.Sprintf(`matchMedia("(width: %dpx)").matches`, size.width))
			for _, problem := range b.layoutProblems(size) {
				if !strings.Contains(problem, "is broken") && !strings.Contains(problem, "a choice of") {
					t.Errorf("%s at %s: %s", path, size.name, problem)
				}
			}
		}
	}
}

func TestAHistoryOfPricesFoldsOnAPhone(t *testing.T) {
	t.Parallel()
	b := newTab(t, phone)
	b.goTo("/outils/babilune")
	table := `.folding:has(time):has(.hint)`
	want := []string{"3 mars 2026", "Avant 15 €/mois freemium", "Après 18 €/mois freemium"}
	for _, s := range []screen{phone, desktop} {
		b.show(s)
		b.await(fmt.Sprintf(`matchMedia("(width: %dpx)").matches`, s.width))
		if got := b.texts(table + " tbody tr:first-child > *"); !slices.Equal(got, want) {
			t.Errorf("on the %s, a change of the price is %q, want %q", s.name, got, want)
		}
		// Its cells stay cells, and its titles titles, for those who hear them.
		if got := b.texts(table + " thead [role=columnheader]"); !slices.Equal(got, []string{"Date", "Avant", "Après"}) {
			t.Errorf("on the %s, the titles are %q", s.name, got)
		}
		isRow := eval[bool](b, `(([th, , last]) => th.getBoundingClientRect().bottom > last.getBoundingClientRect().top)(document.querySelectorAll("`+table+` tbody tr:first-child > *"))`)
		if isRow != (s.name == desktop.name) {
			t.Errorf("on the %s, it is a row: %v", s.name, isRow)
		}
		want = []string{"3 mars 2026", "15 €/mois freemium", "18 €/mois freemium"} // under titles
	}
}

func TestNothingCoversAnythingOnPaper(t *testing.T) {
	t.Parallel()
	paper := screen{"paper", 718, 1040, false} // A4 without its margins
	b := newTab(t, paper)
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	for _, path := range []string{"/avis/babilune", "/outils/babilune", "/comparatifs/mandibule-vs-escouade", "/comparer?outils=babilune,varlope,trusquin", "/comparer?outils=castafiole,dictaphrase,porte-voix-local,souffle-coupe", "/categories/voix", "/categories/agents", "/carte", "/cimetiere/helice-flux"} {
		b.goTo(path)
		if got := eval[string](b, `[...document.querySelectorAll("main h2")].filter(e => e.offsetHeight && /^Changer de choix/.test(e.innerText)).map(e => e.innerText).join()`); got != "" {
			t.Errorf("%s: a form that is not printed has its heading: %s", path, got)
		}
		if eval[bool](b, `[...document.querySelectorAll(".rows > li")].some(e => !e.offsetHeight)`) {
			t.Errorf("%s: the list is not printed", path)
		}
		if eval[bool](b, `[...document.querySelectorAll(".without")].some(e => e.offsetHeight)`) {
			t.Errorf("%s: links that remove a column are printed", path)
		}
		if eval[bool](b, `[...document.querySelectorAll("details:not(.weigh) > :not(summary)")].some(e => !e.checkVisibility({ contentVisibilityAuto: true }) || !e.getBoundingClientRect().height)`) {
			t.Errorf("%s: something that folds is not printed", path)
		}
		if got := eval[string](b, `document.querySelector(".printed").innerText`); !strings.Contains(got, strings.Split(path, "?")[0]) || !strings.Contains(got, "2026") {
			t.Errorf("%s: the foot has the address and the date %q", path, got)
		}
		for _, problem := range b.layoutProblems(paper) {
			t.Errorf("%s: %s", path, problem)
		}
		b.savePicture("paper" + strings.NewReplacer("/", "-", "?", "-").Replace(path))
		// A table that may not break leaves the rest of its page empty.
		if eval[bool](b, `[...document.querySelectorAll("table, article, section")].some(e => getComputedStyle(e).breakInside !== "auto")`) {
			t.Errorf("%s: something large does not break", path)
		}
	}
}

func TestTwelveCriteriaArePrintedOnASheetOnItsSide(t *testing.T) {
	t.Parallel()
	side := screen{"paper on its side", 1009, 665, false} // A4 without its margins
	b := newTab(t, side)
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.goTo("/categories/agents")
	const sheet = `getComputedStyle(document.querySelector("section:has(.wide)")).page`
	if got := eval[string](b, sheet); got != "auto" {
		t.Errorf("few criteria are printed on a sheet of the kind %q", got)
	}
	eval[chromedp.Void](b, `document.querySelectorAll(".by-criteria tr").forEach(row => {
		while (row.children.length < 15) row.append(row.children[row.children.length - 5].cloneNode(true));
	})`)
	if got := eval[string](b, sheet); got != "wide" {
		t.Errorf("twelve criteria are printed on a sheet of the kind %q", got)
	}
	for _, problem := range b.layoutProblems(side) {
		t.Error(problem)
	}
	if got := eval[float64](b, `document.querySelector(".by-criteria thead").offsetHeight`); got > 665/4 {
		t.Errorf("the titles take %g of 665 pixels: Chromium repeats only what takes a quarter", got)
	}
}
