// Package api is the public, read-only JSON interface: ten operations over one
// Snapshot, and the OpenAPI document that describes them.
//
// An operation is a function from a request to an answer or an error; one
// adapter does for all of them what must be the same everywhere: who is asking,
// methods, cross-origin and cache headers, conditional requests, compression,
// and the one form of errors. Nothing is written before it is known whole.
package api

import (
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// A Caller is who sent a request.
type Caller struct {
	Keyed   bool          // with a valid API key
	Subject quota.Subject // whose quota the request is counted against
}

// Config is what the operations need of the rest of the server.
type Config struct {
	// Snapshot gives the catalogue to answer from; it is called once a request. Required.
	Snapshot func() *snapshot.Snapshot
	// Authorize tells who sent a request from its Authorization header, or
	// why it must be refused; the context limits what is asked of the store. Required.
	Authorize func(context.Context, *http.Request) (Caller, *Error)
	// Meter counts requests; nil when there are no quotas.
	Meter *quota.Meter
}

// A Handler answers every path under /api.
type Handler struct {
	cfg        Config
	paths      map[string]route // whole paths
	slugs      map[string]route // what stands before a slug
	unknown    route
	document   wire.Body
	compressor web.Compressor
}

// A route is an operation and the name it has in the figures of the operator.
type route struct {
	pattern string
	op      operation
}

//go:embed openapi.json
var openAPI []byte

// New makes the handler.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg, document: wire.NewBody(wire.Sum(openAPI), openAPI), paths: map[string]route{}, slugs: map[string]route{}}
	h.unknown.op = h.unknownPath
	h.handle("/api/v1/tools", h.listTools)
	h.handle("/api/v1/tools/{slug}", h.getTool)
	h.handle("/api/v1/comparatifs", h.listComparatifs)
	h.handle("/api/v1/comparatifs/{slug}", h.getComparatif)
	h.handle("/api/v1/pricing", h.listPricing)
	h.handle("/api/v1/pricing/{slug}", h.getPricing)
	h.handle("/api/v1/cimetiere", h.listCimetiere)
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

// find chooses the operation for a path. The standard mux is not asked: it answers
// a path that is not clean with a redirect and a page of HTML, where here such a
// path simply does not exist, and a profile showed it at 3 % of a whole request.
//
// A slash that is written %2F is none: two addresses for one answer would confuse
// the caches and rules in front of this server.
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
	*http.Request
	snap   *snapshot.Snapshot
	slug   string // of the path, if it has one
	caller Caller
	known  bool // who the caller is: it was not refused
	store  web.StoreContext
}

// An operation answers or fails; it writes nothing itself.
type operation func(*request) (answer, error)

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := request{Request: r, snap: h.cfg.Snapshot()}
	req.store.Start(r.Context())
	defer req.store.Stop()
	header := w.Header()
	setCommonHeaders(header, req.snap)
	if r.Method == http.MethodOptions {
		preflight(w)
		return
	}
	route, slug := h.find(r.URL)
	r.Pattern, req.slug = route.pattern, slug
	a, err := h.run(route.op, &req)
	if err == nil {
		a.prepare(r)
	}
	if req.caller.Keyed {
		header["CDN-Cache-Control"] = noStore
	}
	if req.known && h.cfg.Meter != nil {
		if over := h.count(header, &req, &a, err); over != nil {
			err = over
		}
	}
	if err != nil {
		writeError(w, err)
		return
	}
	h.write(w, &a)
}

// run puts the checks that hold for every path before the operation.
func (h *Handler) run(op operation, req *request) (answer, error) {
	if err := refuseKeyIn(req.URL.RawQuery); err != nil {
		return answer{}, err
	}
	caller, refusal := h.cfg.Authorize(&req.store, req.Request)
	if refusal != nil {
		return answer{}, refusal
	}
	req.caller, req.known = caller, true
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return answer{}, methodNotAllowed(req.Method)
	}
	if err := checkLength(req.URL); err != nil {
		return answer{}, err
	}
	return op(req)
}

// count takes one request off the caller's quota, if the answer is one that
// counts, and tells a caller with a key what is left. It comes between making the
// answer and writing it, so that nothing has to be given back; a caller with
// nothing left gets the error instead.
func (h *Handler) count(header http.Header, req *request, a *answer, failure error) error {
	caller := &req.caller
	status := a.status
	if failure != nil {
		status = asError(failure).Status
	}
	var counts bool
	switch status {
	case http.StatusOK, http.StatusPermanentRedirect, http.StatusBadRequest, http.StatusNotFound:
		counts = !a.free
	case http.StatusNotModified:
		counts = !a.free && !caller.Keyed
	}
	if !counts {
		if caller.Keyed {
			h.cfg.Meter.Look(&req.store, caller.Subject).SetHeaders(header)
		}
		return nil
	}
	grant := h.cfg.Meter.Take(&req.store, caller.Subject)
	grant.SetHeaders(header)
	if grant.Refused {
		return quotaExceeded(grant)
	}
	return nil
}

func (h *Handler) unknownPath(*request) (answer, error) { return answer{}, pathNotFound() }

func (h *Handler) getDocument(*request) (answer, error) {
	return answer{body: h.document, free: true}, nil
}

func (h *Handler) listTools(r *request) (answer, error) {
	p := parse(r.URL.RawQuery)
	q := snapshot.ToolQuery{
		Category:        p.text("category"),
		ScoreMin:        p.number("score_min"),
		ObsolescenceMax: p.number("obsolescence_max"),
		Sort:            snapshot.Sort(p.choice("sort", snapshot.Sorts[:])),
	}
	at := p.paging()
	if p.err != nil {
		return answer{}, p.err
	}
	return paginated(r, p, r.snap.Tools(q, at)), nil
}

func (h *Handler) listComparatifs(r *request) (answer, error) {
	p := parse(r.URL.RawQuery)
	category, at := p.text("category"), p.paging()
	if p.err != nil {
		return answer{}, p.err
	}
	return paginated(r, p, r.snap.Comparisons(category, at)), nil
}

func (h *Handler) listPricing(r *request) (answer, error) {
	p := parse(r.URL.RawQuery)
	category, at := p.text("category"), p.paging()
	if p.err != nil {
		return answer{}, p.err
	}
	return paginated(r, p, r.snap.Prices(category, at)), nil
}

func (h *Handler) listCimetiere(r *request) (answer, error) {
	p := parse(r.URL.RawQuery)
	category := p.text("category")
	var reason catalog.Reason
	if i := p.choice("reason", reasons); p.has("reason") {
		reason = catalog.Reasons[i]
	}
	at := p.paging()
	if p.err != nil {
		return answer{}, p.err
	}
	return paginated(r, p, r.snap.Retired(category, reason, at)), nil
}

func (h *Handler) listCategories(r *request) (answer, error) {
	page := r.snap.Categories()
	return answer{body: page.Body(), total: page.Total, isList: true}, nil
}

func (h *Handler) getStats(r *request) (answer, error) { return answer{body: r.snap.Stats()}, nil }

func (h *Handler) getTool(r *request) (answer, error) {
	return single(r, "/api/v1/tools/", r.snap.Tool)
}

func (h *Handler) getPricing(r *request) (answer, error) {
	return single(r, "/api/v1/pricing/", r.snap.Price)
}

func (h *Handler) getEmbeddings(r *request) (answer, error) {
	if !r.caller.Keyed {
		return answer{}, missingKey()
	}
	a, err := single(r, "/api/embeddings/", r.snap.Embeddings)
	if err != nil {
		if _, active := r.snap.Tool(r.slug); active {
			return answer{}, notInEmbeddingsSet(r.slug)
		}
	}
	return a, err
}

func (h *Handler) getComparatif(r *request) (answer, error) {
	body, ok := r.snap.Comparison(r.slug)
	if !ok {
		return answer{}, comparisonNotFound(r.slug)
	}
	return answer{body: body}, nil
}

// single finds what an operation shows of one tool, or where that tool went.
func single(r *request, prefix string, find func(slug string) (wire.Body, bool)) (answer, error) {
	if body, ok := find(r.slug); ok {
		return answer{body: body}, nil
	}
	if now, ok := r.snap.Alias(r.slug); ok {
		location := prefix + now
		if r.URL.RawQuery != "" {
			location += "?" + r.URL.RawQuery
		}
		return answer{location: location}, nil
	}
	if gone := r.snap.RetiredTool(r.slug); gone != nil {
		return answer{}, toolRetired(gone)
	}
	return answer{}, toolNotFound(r.slug)
}

func paginated(r *request, p *params, page *snapshot.Page) answer {
	return answer{body: page.Body(), total: page.Total, isList: true, paging: pagingLinks(r.URL.Path, p, page)}
}
