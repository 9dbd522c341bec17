// Package api is the public, read-only JSON API: ten operations over one Snapshot, and
// the OpenAPI document that describes them. What all operations have in common is in
// package web.
package api

import (
	_ "embed"
	"net/url"
	"strings"

	"palmares/internal/openapi"
	"palmares/internal/problem"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// Config is what the operations need from the rest of the server.
type Config struct {
	// Snapshot returns the catalogue that is served; it is called once per request.
	// Required.
	Snapshot func() *snapshot.Snapshot
	// Callers identifies who sent a request. Required.
	Callers web.Authorizer
	// Meter counts requests; nil if there are no quotas.
	Meter *quota.Meter
	// Places are described in web.Config.
	Places *web.Places
	// BaseURL is where callers find the API; "" for the URL of the catalogue.
	BaseURL string
}

//go:embed openapi.json
var openAPI []byte

// Document returns the OpenAPI document that /api/v1/openapi.json serves with the values of
// an installation.
func Document() []byte { return openapi.Complete(openAPI) }

type request = web.Request[snapshot.Snapshot]

// New returns the handler of every path under /api.
func New(cfg Config) *web.Handler[snapshot.Snapshot] {
	h := web.NewHandler(web.Config[snapshot.Snapshot]{
		Snapshot: cfg.Snapshot, Header: (*snapshot.Snapshot).SetHeader,
		Bulk:    func(s *snapshot.Snapshot) bool { return s.Catalog.HasDataset() },
		Callers: cfg.Callers, Places: cfg.Places, Meter: cfg.Meter, Public: true,
		// A slash that is written %2F is not a slash.
		IsPath: func(u *url.URL) bool { return !strings.Contains(strings.ToLower(u.RawPath), "%2f") },
		Fallback: func(*request) (web.Response, error) {
			return missing, web.NewError(web.CodeNotFound, problem.New("path-not-found"))
		},
	})
	h.Handle("GET", "/api/v1/tools", listTools)
	h.Handle("GET", "/api/v1/tools/{slug}", getTool)
	h.Handle("GET", "/api/v1/comparatifs", listOf((*snapshot.Snapshot).Comparisons))
	h.Handle("GET", "/api/v1/comparatifs/{slug}", getComparison)
	h.Handle("GET", "/api/v1/pricing", listOf((*snapshot.Snapshot).Prices))
	h.Handle("GET", "/api/v1/pricing/{slug}", getPrice)
	h.Handle("GET", "/api/v1/cimetiere", listRetired)
	h.Handle("GET", "/api/v1/categories", listCategories)
	h.Handle("GET", "/api/v1/stats", getStats)
	document := openapi.New(Document(), cfg.BaseURL)
	h.Handle("GET", "/api/v1/openapi.json", func(r *request) (web.Response, error) {
		return web.Response{Body: document.Body(r.Snapshot), Link: licenseLink, Cached: true, Free: true}, nil
	})
	h.Handle("GET", "/api/embeddings/{slug}", getEmbeddings)
	return h
}
