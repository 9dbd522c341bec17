package browser_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"palmares/internal/api"
	"palmares/internal/preview"
	"palmares/internal/testkit"
)

// An author keeps a page of the preview open while she writes.
func TestAPageOfThePreviewReloadsItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	draft := "---\nname: Plume\ndraft: true\ncategory: code\ntagline: Écrit vite\n---\n"
	save("catalogue.yaml", "name: Essais\nurl: https://essais.example\ncategories:\n  - slug: code\n    label: Code\n")
	save("outils/plume.md", draft)

	p := preview.New(preview.Config{Dir: dir, Document: api.Document(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(p)
	t.Cleanup(func() { cancel(); running.Wait(); server.CloseClientConnections(); server.Close() })

	b := openTab(t, wideBrowser, phone, server.URL)
	b.watch.forgive(server.URL + "/outils/plume") // it lists a problem meanwhile
	shows := func(words ...string) {
		t.Helper()
		testkit.Until(t, "a page that shows "+strings.Join(words, ", "), func() bool {
			for _, w := range words {
				if !strings.Contains(b.nowText(), w) {
					return false
				}
			}
			return true
		})
	}
	if _, err := chromedp.Run(b.ctx, chromedp.Navigate(server.URL+"/outils/plume")); err != nil {
		t.Fatal(err)
	}
	shows("Écrit vite", "Brouillon")
	save("outils/plume.md", strings.Replace(draft, "Écrit vite", "Écrit bien", 1))
	shows("Écrit bien", "Brouillon")
	save("outils/plume.md", strings.Replace(draft, "category: code", "category: rien", 1))
	shows("À corriger", "outils/plume.md:4:")
	save("outils/plume.md", draft)
	shows("Écrit vite", "Brouillon")
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
