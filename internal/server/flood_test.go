package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/api"
	"palmares/internal/keyring"
	"palmares/internal/record"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/synthetic"
	"palmares/internal/testkit/keyringtest"
	"palmares/internal/web"
)

func TestAFloodKeepsNobodyElseWaiting(t *testing.T) {
	places := web.NewPlaces(nil)
	c := synthetic.Catalog(20, 1)
	snap := snapshot.Build(c, 1, "2026-11-01")
	snap.SetFeed(record.First("feed", c, 1, "2026-11-01T00:00:00Z"))
	if err := snap.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages := site.New(site.Config{
		Demo: func(*snapshot.Snapshot) bool { return false }, BaseURL: "https://essai.example", Document: api.Document(), Places: places,
	})
	pages.Show(snap)
	server := New(Config{
		Live: snapshot.Fixed(snap), Keys: keyring.New(keyringtest.Store{}, time.Now), Site: pages, BaseURL: "https://essai.example",
		Log: slog.New(slog.DiscardHandler), Requests: io.Discard, Metrics: NewMetrics(), Places: places,
	})
	ask := func(from, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		if path == "/mcp" {
			r = httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"agent"}}}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		r.RemoteAddr = from + ":1"
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w
	}
	const flood, other = "192.0.2.1", "192.0.2.2"
	ask(other, "/prix")
	for busy := true; busy; { // everything that the network may have
		entered := make(chan error, 1)
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = flood + ":1"
		go func() {
			_, err := places.Enter(r)
			entered <- err
		}()
		busy = <-entered == nil
	}
	var asked sync.WaitGroup
	for _, path := range []string{"/outils?q=agent", "/carte", "/data/v1/search?q=agent", "/data/v1/changes", "/api/v1/tools", "/mcp"} {
		asked.Go(func() {
			w := ask(flood, path)
			isRefused := w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != ""
			if path == "/mcp" { // models read sentences
				isRefused = strings.Contains(w.Body.String(), `"isError":true`)
			}
			if !isRefused || !strings.Contains(w.Body.String(), "Trop de visites") {
				t.Errorf("%s of the flood: %d %v %.300s", path, w.Code, w.Header(), w.Body)
			}
		})
		asked.Go(func() {
			if w := ask(other, path); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"isError":true`) {
				t.Errorf("%s of somebody else: %d %.300s", path, w.Code, w.Body)
			}
		})
	}
	asked.Wait()
	for _, path := range []string{"/healthz", "/prix"} { // a page that is cached
		if w := ask(flood, path); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
