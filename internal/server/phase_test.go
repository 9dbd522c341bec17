package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestARequestIsRefusedWhileStartingThenServedThenSentElsewhere(t *testing.T) {
	p := NewPhasedHandler(Config{Log: slog.New(slog.DiscardHandler), Requests: io.Discard, Metrics: NewMetrics()})
	srv := httptest.NewServer(p)
	defer srv.Close()
	get := func(path string) (*http.Response, string) {
		t.Helper()
		resp, err := http.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	wants := func(path string, status int, says string) *http.Response {
		t.Helper()
		resp, body := get(path)
		if resp.StatusCode != status || !strings.Contains(body, says) {
			t.Errorf("%s: %s %s; want %d and %q", path, resp.Status, body, status, says)
		}
		if status == 503 && (resp.Header.Get("Retry-After") == "" || resp.Header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s: %v", path, resp.Header)
		}
		return resp
	}
	wants("/healthz", 200, "ok")
	wants("/readyz", 503, "not ready")
	wants("/", 503, `lang="fr"`)
	wants("/compte", 503, `lang="fr"`)
	wants("/.well-known/api-catalog", 503, `lang="fr"`)
	if resp := wants("/api/v1/tools", 503, `"code":"unavailable"`); resp.Header.Get("Access-Control-Allow-Origin") != "*" || resp.Header.Get("X-Service-Updated-At") == "" {
		t.Errorf("API headers are missing: %v", resp.Header)
	}
	for _, path := range []string{"/mcp", "/webhooks/v1/endpoints", "/publish/v1/catalogue", "/hooks/stripe"} {
		if resp := wants(path, 503, `"code":"unavailable"`); resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s can be read by other origins", path)
		}
	}

	p.Open(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveReady(w, r, p.Ready()) }))
	if resp := wants("/readyz", 200, "ok"); resp.Close {
		t.Error("the connection was closed before Drain")
	}
	p.Drain()
	if resp := wants("/readyz", 503, "not ready"); !resp.Close {
		t.Error("the connection was kept after Drain")
	}
}
