// Package api is the public, read-only JSON API: ten operations over one Snapshot, and
// the OpenAPI document that describes them. What all operations have in common is in
// package web.
package api

import (
	_ "embed"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"weak"

	"palmares/internal/openapi"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// Config is what the operations need from the rest of the server.
type Config struct {
	// Snapshot returns the catalogue to answer from; it is called once per request.
	// Required.
	Snapshot func() *snapshot.Snapshot
	// Callers identifies who sent a request. Required.
	Callers web.Authorizer
	// Meter counts requests; nil if there are no quotas.
	Meter *quota.Meter
	// BaseURL is where callers find the API; "" for the URL of the catalogue.
	BaseURL string
}

// A Handler answers every path under /api.
type Handler struct {
	snapshot func() *snapshot.Snapshot
	service  web.Service
	paths    map[string]route // by path
	slugs    map[string]route // by what precedes a slug
	unknown  route
	document *openapi.Document
	cached   atomic.Pointer[cachedOf]
}

// cachedOf caches the responses of one version. It does not keep the version in memory.
type cachedOf struct {
	version   weak.Pointer[snapshot.Snapshot]
	responses *web.Responses
}

// A route is an operation and its label in the metrics.
type route struct {
	pattern string
	op      operation
}

//go:embed openapi.json
var openAPI []byte

// Document returns the OpenAPI document that /api/v1/openapi.json serves with the values of
// an installation.
func Document() []byte { return openapi.Complete(openAPI) }

// New returns the handler.
func New(cfg Config) *Handler {
	h := &Handler{
		snapshot: cfg.Snapshot,
		service:  web.Service{Callers: cfg.Callers, Meter: cfg.Meter, Public: true, Compressor: web.NewCompressor()},
		document: openapi.New(Document(), cfg.BaseURL),
		paths:    map[string]route{},
		slugs:    map[string]route{},
	}
	h.unknown.op = h.unknownPath
	h.handle("/api/v1/tools", h.listTools)
	h.handle("/api/v1/tools/{slug}", h.getTool)
	h.handle("/api/v1/comparatifs", h.listComparisons)
	h.handle("/api/v1/comparatifs/{slug}", h.getComparison)
	h.handle("/api/v1/pricing", h.listPrices)
	h.handle("/api/v1/pricing/{slug}", h.getPrice)
	h.handle("/api/v1/cimetiere", h.listRetired)
	h.handle("/api/v1/categories", h.listCategories)
	h.handle("/api/v1/stats", h.getStats)
	h.handle("/api/v1/openapi.json", h.getDocument)
	h.handle("/api/embeddings/{slug}", h.getEmbeddings)
	return h
}

func (h *Handler) handle(pattern string, op operation) {
	if prefix, ok := strings.CutSuffix(pattern, "{slug}"); ok {
		h.slugs[prefix] = route{pattern, op}
		return
	}
	h.paths[pattern] = route{pattern, op}
}

// find returns the operation for a path. It does not use the standard mux, which took
// 3 % of a whole request in a profile, and which answers a path that is not clean with a
// redirect and a page of HTML; here such a path does not exist.
//
// A slash that is written %2F is not a slash: two URLs for one answer would confuse
// caches and rules in front of this server.
func (h *Handler) find(u *url.URL) (r route, slug string) {
	path := u.Path
	if u.RawPath != "" && strings.Contains(strings.ToLower(u.RawPath), "%2f") {
		return h.unknown, ""
	}
	if r, ok := h.paths[path]; ok {
		return r, ""
	}
	end := strings.LastIndexByte(path, '/') + 1
	if r, ok := h.slugs[path[:end]]; ok && end < len(path) {
		return r, path[end:]
	}
	return h.unknown, ""
}

// A request is what an operation sees: one snapshot, one caller.
type request struct {
	web.Request
	snap *snapshot.Snapshot
	slug string // of the path, if it has one
}

// An operation returns an answer or an error; it writes nothing itself.
type operation func(*request) (web.Answer, error)

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := request{snap: h.snapshot()}
	req.Bulk = req.snap.HasDataset()
	req.Begin(r)
	defer req.End()
	snap := req.snap
	common := func(header http.Header) { setCommonHeaders(header, snap) }
	if h.service.ReplyCached(w, &req.Request, h.responsesOf(snap), common) {
		return
	}
	common(w.Header())
	if r.Method == http.MethodOptions {
		web.WritePreflight(w)
		return
	}
	route, slug := h.find(r.URL)
	r.Pattern, req.slug = route.pattern, slug
	a, err := h.run(route.op, &req)
	h.service.Reply(w, &req.Request, &a, err)
}

// responsesOf returns the cache of the responses of a version. That of the version before goes.
func (h *Handler) responsesOf(snap *snapshot.Snapshot) *web.Responses {
	c := h.cached.Load()
	if c == nil || c.version.Value() != snap {
		c = &cachedOf{weak.Make(snap), web.NewResponses()}
		h.cached.Store(c)
	}
	return c.responses
}

// run does the checks that apply to every path before the operation.
func (h *Handler) run(op operation, req *request) (web.Answer, error) {
	if err := h.service.AdmitRead(&req.Request); err != nil {
		return web.Answer{}, err
	}
	return op(req)
}

func setCommonHeaders(h http.Header, snap *snapshot.Snapshot) {
	web.SetPublicHeaders(h)
	h["X-Service-Updated-At"], h["X-Service-Version"] = snap.UpdatedAtHeader, snap.VersionHeader
}

// WriteInternalError answers a request whose handler failed before it wrote anything.
func (h *Handler) WriteInternalError(w http.ResponseWriter) {
	clear(w.Header())
	setCommonHeaders(w.Header(), h.snapshot())
	h.service.WriteError(w, web.NewError(web.CodeInternal, ""))
}
