package browser_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/desk"
	"palmares/internal/edition"
	"palmares/internal/evidence"
	"palmares/internal/preview"
)

// quoting serves the desk of a folder whose prices stand on pages of this machine: that of Plume is not quoted yet, and
// that of Encre has changed. It returns the address that opens the desk, that of the prices, and the folder.
func quoting(t *testing.T) (home, vendor, dir string) {
	t.Helper()
	prices := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		long := strings.Repeat("Tout ce qu’il faut pour écrire, relire et publier. ", 5)
		fmt.Fprintf(w, `<!doctype html><meta charset=utf-8><h2>Équipe</h2><p>49 € par mois</p><p>%s 9 € par mois</p><h2>Pro</h2><p>19 € par mois</p>`, long)
	}))
	t.Cleanup(prices.Close)
	dir = t.TempDir()
	tool := "---\nname: %s\ndomain: %[1]s.example\ncategory: code\ntagline: Écrit.\npricing: payant\nprice: 19 €/mois\n%s---\n"
	seen := catalog.Proof{
		Slug: "encre", URL: prices.URL + "/encre", FinalURL: prices.URL + "/encre", CheckedAt: catalog.FormatTime(time.Now()), Status: 200,
		Result: catalog.Changed, Quote: "Pro 19 € par mois, facturé à l’année", Found: "Pro\n21 € par mois, facturé à l’année",
	}
	err := errors.Join(
		os.Mkdir(filepath.Join(dir, "outils"), 0o755), content.SaveProofs(dir, []catalog.Proof{seen}),
		os.WriteFile(filepath.Join(dir, "catalogue.yaml"), []byte("name: Essais\nurl: https://essais.example\ncategories:\n  - slug: code\n    label: Code\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "outils/plume.md"), fmt.Appendf(nil, tool, "Plume", ""), 0o644),
		os.WriteFile(filepath.Join(dir, "outils/encre.md"), fmt.Appendf(nil, tool, "Encre", "price_source: "+seen.URL+"\nprice_quote: "+seen.Quote+"\n"), 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := preview.New(t.Context(), preview.Config{Dir: dir, Document: api.Document(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewUnstartedServer(p)
	address := "http://" + server.Listener.Addr().String()
	own := desk.NewLocal(root)
	drafts := edition.New(edition.Config{Folder: func() fs.FS { return own.With(nil) }, Document: api.Document(), BaseURL: address, Now: time.Now})
	p.Mount("/redaction", desk.New(desk.Config{
		Folder: own, Copies: own, Visitor: own.Visitor, Editions: drafts, Site: p.Site(), BaseURL: address, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Reader: evidence.ReaderConfig{Agent: "Palmares/essai", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	}))
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		drafts.Close()
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Address(address + "/redaction"), prices.URL, dir
}

// has checks what a file of a folder has.
func has(t *testing.T, dir, name string, lines ...string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, name))
	for _, line := range lines {
		if err != nil || !strings.Contains(string(file), "\n"+line+"\n") {
			t.Errorf("%v: %q is not in\n%s", err, line, file)
		}
	}
}

func TestAPriceIsQuotedWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	home, vendor, dir := quoting(t)
	address, _, _ := strings.Cut(home, "/redaction")
	b := customer{openTab(t, wideBrowser, desktop, address), map[string]bool{}}
	b.do(chromedp.Navigate(home))
	b.goTo("/redaction/sources")
	b.shows("Prix changés", "19 €/mois", "Cité", "Trouvé", "Prix sans citation")
	if got := b.texts(".desk-words mark"); strings.Join(got, "") != "19 21 " {
		t.Errorf("what differs is %q", got)
	}
	b.goTo("/redaction/fiches/outils/plume")
	b.follow("form[action$=copie] button")
	copied, _, _ := strings.Cut(strings.TrimPrefix(b.lastURL(), address), "?")
	b.retype("f.tagline", "Écrit. Vite")
	b.retype("f.price_source", vendor+"/plume")
	b.leave(chromedp.Focus(chromedp.CSS("button[value=source]")), chromedp.KeyEvent(kb.Enter))
	b.at(copied+"/source", "Citer le prix")
	b.shows("Plume, sur", "Prix de la fiche", "Équipe 49 € par mois", "Prix : 49 €/mois")
	b.do(chromedp.Focus(chromedp.CSS("[name=mots]")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	b.await(`document.querySelector("[name=mots]:checked").value === "49 €/mois: Équipe 49 € par mois"`)
	b.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.Tab))
	b.leave(chromedp.KeyEvent(kb.Enter)) // in the field for other words, which is empty
	b.await(`scrollY > 0 && Math.abs(document.querySelector(".message").getBoundingClientRect().top / innerHeight - .25) < .25`)
	eval[chromedp.Void](b.tab, `scrollTo(0, 0)`) // the bar covers what is below it
	b.at(copied+"?fait=citation#page.groupe-prix", "Plume")
	b.shows("La citation est dans la fiche")
	has(t, dir, "outils/plume.md", "tagline: Écrit. Vite", "price_source: "+vendor+"/plume", "price_quote: Équipe 49 € par mois", "price: 49 €/mois",
		"    old_price: 19 €/mois", "price_checked_at: "+catalog.Day(time.Now()))

	b.goTo("/redaction/sources")
	b.leave(chromedp.Focus(chromedp.CSS("form[action$=prix] button")), chromedp.KeyEvent(kb.Enter))
	b.at("/redaction/sources?fait=prix-ecrit", "Sources")
	b.shows("Rien à revoir")
	has(t, dir, "outils/encre.md", "price: 21 €/mois", "price_quote: Pro 21 € par mois, facturé à l’année", "    old_price: 19 €/mois")
	b.goTo("/redaction/aide")
	b.shows("Un prix se cite", "Prendre ces mots")
}
