package server

import (
	"net/http"

	"palmares/internal/assistant"
	"palmares/internal/snapshot"
	"palmares/internal/web"
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
	web.AllowAnyOrigin(h)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Link", `<`+apiCatalogPath+`>; rel="api-catalog"`)
	if r.Method == http.MethodOptions {
		web.WritePreflight(w)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", web.ReadMethods)
		http.Error(w, "Utilisez GET ou HEAD.", http.StatusMethodNotAllowed)
		return
	}
	api := func(path, document string) linkContext {
		return linkContext{
			Anchor: base + path, Description: []link{{base + path + "/openapi.json", "application/json"}},
			Document: []link{{base + document, "text/html"}}, Terms: []link{{base + "/licence", "text/html"}},
		}
	}
	tools := api(assistant.Path, "/docs/assistants")
	tools.Description = nil // they describe themselves
	list := []linkContext{api("/api/v1", "/docs"), tools}
	if snap.Catalog.HasDataset() {
		list = append(list, api("/data/v1", "/docs/donnees"))
	}
	if snap.Catalog.ShowsPro() {
		list = append(list, api("/webhooks/v1", "/docs/webhooks"))
	}
	h.Set("Content-Type", `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`)
	h.Set("Cache-Control", "public, max-age=0, s-maxage=300, must-revalidate")
	_, _ = w.Write(wire.AppendJSON(nil, map[string]any{"linkset": list})) // fails only if the client has disconnected
}
