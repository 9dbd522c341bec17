package browser_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"palmares/internal/api"
	"palmares/internal/preview"
	"palmares/internal/testkit"
)

const draft = "---\nname: Plume\ndraft: true\ncategory: code\ntagline: Écrit vite\n---\n"

// previewed shows a folder with the draft outils/plume.md, and returns its address, that of the draft and a
// function that saves a file in it.
func previewed(t *testing.T) (address, plume string, save func(name, text string)) {
	t.Helper()
	dir := t.TempDir()
	save = func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	save("catalogue.yaml", "name: Essais\nurl: https://essais.example\ncategories:\n  - slug: code\n    label: Code\n")
	save("outils/plume.md", draft)

	p := preview.New(t.Context(), preview.Config{Dir: dir, Document: api.Document(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(p)
	t.Cleanup(func() { cancel(); running.Wait(); server.CloseClientConnections(); server.Close() })
	return server.URL, p.Address(server.URL + "/outils/plume"), save
}

// shows waits until the page has words.
func (b *tab) shows(words ...string) {
	b.t.Helper()
	testkit.Until(b.t, "a page that shows "+strings.Join(words, ", "), func() bool {
		text := b.nowText()
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// An author keeps a page of the preview open while she writes.
func TestAPageOfThePreviewReloadsItself(t *testing.T) {
	t.Parallel()
	address, plume, save := previewed(t)
	b := openTab(t, wideBrowser, phone, address)
	b.watch.forgive(address + "/outils/plume") // it lists a problem meanwhile
	if _, err := chromedp.Run(b.ctx, chromedp.Navigate(plume)); err != nil {
		t.Fatal(err)
	}
	b.shows("Écrit vite", "Brouillon")
	save("outils/plume.md", strings.Replace(draft, "Écrit vite", "Écrit bien", 1))
	b.shows("Écrit bien", "Brouillon")
	save("outils/plume.md", strings.Replace(draft, "category: code", "category: rien", 1))
	b.shows("À corriger", "outils/plume.md:4:")
	save("outils/plume.md", draft)
	b.shows("Écrit vite", "Brouillon")
}

// nowText returns the text of the page, "" while it is being replaced.
func (b *tab) nowText() string {
	ctx, cancel := b.action()
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return ""
	}
	return text
}

// A browser has six connections to a host, which tabs that listen for changes would
// occupy.
func TestMoreTabsOfThePreviewThanConnectionsCanBeOpen(t *testing.T) {
	t.Parallel()
	address, plume, save := previewed(t)
	first := openTab(t, wholeBrowser, desktop, address)
	call(first, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{})
	tabs := []*tab{first}
	for range 7 {
		ctx, closeTab := chromedp.NewContext(first.ctx, chromedp.WithNewWindow(false)) // hides the one before
		t.Cleanup(closeTab)
		if err := chromedp.Do(ctx); err != nil { // opens it; a deadline here would close it
			t.Fatal(err)
		}
		tabs = append(tabs, &tab{t: t, ctx: ctx, base: address})
	}
	for _, b := range tabs {
		call(b, page.BringToFront, cdp.Empty{})
		b.do(chromedp.Navigate(plume))
		b.shows("Écrit vite")
	}
	save("outils/plume.md", strings.Replace(draft, "Écrit vite", "Écrit bien", 1))
	tabs[7].shows("Écrit bien")
	if text := first.nowText(); !strings.Contains(text, "Écrit vite") {
		t.Errorf("a hidden page has changed: %s", text)
	}
	call(first, page.BringToFront, cdp.Empty{})
	first.shows("Écrit bien")
}
