package server

import (
	"net/http/httptest"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

func TestTheAPICatalogueListsTheAPIsThatThePublisherOffers(t *testing.T) {
	for _, c := range []struct {
		settings catalog.Settings
		want     string
	}{
		{catalog.Settings{}, "/api/v1 /mcp /data/v1 /webhooks/v1"},
		{catalog.Settings{Pro: catalog.ProHide}, "/api/v1 /mcp /data/v1"},
		{catalog.Settings{Dataset: catalog.DatasetOff}, "/api/v1 /mcp /webhooks/v1"},
	} {
		snap := snapshot.Build(&catalog.Catalog{Name: "Essai", URL: "https://essai.example", Settings: c.settings}, 1, "2026-11-02")
		w := httptest.NewRecorder()
		serveAPICatalog(w, httptest.NewRequestWithContext(t.Context(), "GET", apiCatalogPath, nil), "https://essai.example", snap)
		var got []string
		for part := range strings.SplitSeq(w.Body.String(), `"anchor":"https://essai.example`) {
			if path, _, ok := strings.Cut(part, `",`); ok && path[0] == '/' {
				got = append(got, path)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %s; want %s", c.settings, got, c.want)
		}
	}
}
