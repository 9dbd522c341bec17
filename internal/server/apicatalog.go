package server

import (
	"net/http"

	"palmares/internal/snapshot"
	"palmares/internal/wire"
)

// apiCatalogPath is where programs look for the APIs of a site (RFC 9727).
const apiCatalogPath = "/.well-known/api-catalog"

// A link is a target in a linkset (RFC 9264).
type link struct {
	Href string `json:"href"`
	Type string `json:"type"`
}

// linkContext is an API with what describes it.
type linkContext struct {
	Anchor      string `json:"anchor"`
	Description []link `json:"service-desc,omitempty"`
	Document    []link `json:"service-doc,omitempty"`
	Terms       []link `json:"license,omitempty"`
}

// serveAPICatalog lists the APIs of this server that the publisher offers. base is its public
// URL.
func serveAPICatalog(w http.ResponseWriter, r *http.Request, base string, snap *snapshot.Snapshot) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Link", `<`+apiCatalogPath+`>; rel="api-catalog"`)
	if r.Method == http.MethodOptions {
		h.Set("Allow", "GET, HEAD, OPTIONS")
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "Utilisez GET ou HEAD.", http.StatusMethodNotAllowed)
		return
	}
	described := func(path string) []link { return []link{{base + path, "application/json"}} }
	page := func(path string) []link { return []link{{base + path, "text/html"}} }
	list := []linkContext{
		{
			Anchor: base + "/api/v1", Description: described("/api/v1/openapi.json"),
			Document: page("/docs"), Terms: page("/licence"),
		},
		{Anchor: base + "/mcp", Document: page("/docs/assistants"), Terms: page("/licence")},
	}
	if snap.Catalog.HasDataset() {
		list = append(list, linkContext{
			Anchor: base + "/data/v1", Description: described("/data/v1/openapi.json"),
			Document: page("/docs/donnees"), Terms: page("/licence"),
		})
	}
	if snap.Catalog.ShowsPro() {
		list = append(list, linkContext{
			Anchor: base + "/webhooks/v1", Description: described("/webhooks/v1/openapi.json"),
			Document: page("/docs/webhooks"), Terms: page("/licence"),
		})
	}
	h.Set("Content-Type", `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`)
	h.Set("Cache-Control", "public, max-age=0, s-maxage=300, must-revalidate")
	_, _ = w.Write(wire.AppendJSON(nil, map[string]any{"linkset": list})) // fails only if the client has disconnected
}
