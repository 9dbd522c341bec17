// Package api is the public, read-only JSON interface: ten operations over one
// Snapshot, and the OpenAPI document that describes them.
//
// An operation is a function from a request to an answer or an error; one
// adapter does for all of them what must be the same everywhere: who is asking,
// methods, cross-origin and cache headers, conditional requests, compression,
// and the one form of errors. Nothing is written before it is known whole.
package api

import (
	_ "embed"
	"net/http"
	"path"

	"palmares/internal/catalog"
	"palmares/internal/coding"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
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
	// why it must be refused. Required.
	Authorize func(*http.Request) (Caller, *Error)
	// Meter counts requests; nil when there are no quotas.
	Meter *quota.Meter
}

// A Handler answers every path under /api.
type Handler struct {
	cfg       Config
	mux       *http.ServeMux
	document  snapshot.Body
	encodings coding.Cache
}

//go:embed openapi.json
var openAPI []byte

// New makes the handler.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg, mux: http.NewServeMux(), document: snapshot.NewBody(openAPI)}
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
	h.handle("/", h.unknownPath)
	return h
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The standard mux would redirect a path that is not clean, with a page of
	// HTML; here such a path simply does not exist.
	if p := r.URL.Path; path.Clean(p) != p {
		h.adapt(h.unknownPath)(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// A request is what an operation sees: one snapshot, one caller.
type request struct {
	*http.Request
	snap   *snapshot.Snapshot
	caller Caller
	known  bool // who the caller is: it was not refused
}

// An operation answers or fails; it writes nothing itself.
type operation func(*request) (answer, error)

func (h *Handler) handle(pattern string, op operation) { h.mux.HandleFunc(pattern, h.adapt(op)) }

func (h *Handler) adapt(op operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req := request{Request: r, snap: h.cfg.Snapshot()}
		header := w.Header()
		setCommonHeaders(header, req.snap)
		if r.Method == http.MethodOptions {
			preflight(w)
			return
		}
		a, err := h.run(op, &req)
		if err == nil {
			a.prepare(r)
		}
		if req.caller.Keyed {
			header["CDN-Cache-Control"] = noStore
		}
		if req.known && h.cfg.Meter != nil {
			if over := h.count(header, req.caller, &a, err); over != nil {
				err = over
			}
		}
		if err != nil {
			writeError(w, err)
			return
		}
		h.write(w, &a)
	}
}

// run puts the checks that hold for every path before the operation.
func (h *Handler) run(op operation, req *request) (answer, error) {
	if err := refuseKeyIn(req.URL.RawQuery); err != nil {
		return answer{}, err
	}
	caller, refusal := h.cfg.Authorize(req.Request)
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
func (h *Handler) count(header http.Header, caller Caller, a *answer, failure error) error {
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
			h.cfg.Meter.Look(caller.Subject).SetHeaders(header)
		}
		return nil
	}
	grant := h.cfg.Meter.Take(caller.Subject)
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
	if slug := r.PathValue("slug"); err != nil {
		if _, active := r.snap.Tool(slug); active {
			return answer{}, notInEmbeddingsSet(slug)
		}
	}
	return a, err
}

func (h *Handler) getComparatif(r *request) (answer, error) {
	slug := r.PathValue("slug")
	body, ok := r.snap.Comparison(slug)
	if !ok {
		return answer{}, comparisonNotFound(slug)
	}
	return answer{body: body}, nil
}

// single finds what an operation shows of one tool, or where that tool went.
func single(r *request, prefix string, find func(slug string) (snapshot.Body, bool)) (answer, error) {
	slug := r.PathValue("slug")
	if body, ok := find(slug); ok {
		return answer{body: body}, nil
	}
	if now, ok := r.snap.Alias(slug); ok {
		location := prefix + now
		if r.URL.RawQuery != "" {
			location += "?" + r.URL.RawQuery
		}
		return answer{location: location}, nil
	}
	if gone := r.snap.RetiredTool(slug); gone != nil {
		return answer{}, toolRetired(gone)
	}
	return answer{}, toolNotFound(slug)
}

func paginated(r *request, p *params, page *snapshot.Page) answer {
	return answer{body: page.Body(), total: page.Total, isList: true, paging: pagingLinks(r.URL.Path, p, page)}
}
