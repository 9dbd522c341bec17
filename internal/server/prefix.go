package server

import (
	"net/http"
	"slices"
	"strings"

	"palmares/internal/assistant"
	"palmares/internal/web"
)

// A prefix is a part of the addresses with all that the server knows of it.
type prefix struct {
	path    string
	isExact bool // without what is below it
	handler http.Handler
	// inLane says that plain requests may take the front lane: none of them waits, streams or
	// writes.
	inLane bool
	// isProbe says that load balancers send requests all the time, which would drown the others
	// in the log.
	isProbe bool
}

// handlers are the parts of a server. Where one is nil, the site takes its place.
type handlers struct {
	api, data, mcp, apiCatalog, account, desk, webhooks, publish, stripe, site http.Handler
}

// prefixes returns the table of a server. The first one that matches an address counts. It is not
// the standard mux, which would redirect unclean paths under /api and /data before these can refuse
// them.
func (h handlers) prefixes(ready func() bool) []prefix {
	readyz := func(w http.ResponseWriter, r *http.Request) { serveReady(w, r, ready == nil || ready()) }
	all := []prefix{
		{path: "/api", handler: h.api, inLane: true},
		{path: "/data", handler: h.data},
		{path: assistant.Path, isExact: true, handler: h.mcp},
		{path: assistant.Path + "/", isExact: true, handler: h.mcp}, // people copy it like this
		{path: apiCatalogPath, isExact: true, handler: h.apiCatalog, inLane: true},
		{path: "/compte", handler: h.account},
		{path: "/signaler", handler: h.account},
		{path: "/suivre", handler: h.account},
		{path: "/redaction", handler: h.desk},
		{path: "/apercu", handler: h.desk},
		{path: "/webhooks", handler: h.webhooks},
		{path: "/publish", handler: h.publish},
		{path: "/hooks/stripe", isExact: true, handler: h.stripe},
		{path: "/healthz", isExact: true, handler: http.HandlerFunc(serveHealth), inLane: true, isProbe: true},
		{path: "/readyz", isExact: true, handler: http.HandlerFunc(readyz), inLane: true, isProbe: true},
		{path: "/static", handler: h.site, inLane: true},
		{handler: h.site, inLane: true},
	}
	return slices.DeleteFunc(all, func(p prefix) bool { return p.handler == nil })
}

func (s *server) at(path string) *prefix {
	last := len(s.prefixes) - 1
	for i := range last {
		p := &s.prefixes[i]
		rest, ok := strings.CutPrefix(path, p.path)
		if ok && (rest == "" || rest[0] == '/' && !p.isExact) {
			return p
		}
	}
	return &s.prefixes[last]
}

// A JSONHandler responds in JSON, also after a panic.
type JSONHandler interface {
	http.Handler
	// WriteInternalError sends 500 for a request whose handler panicked.
	WriteInternalError(http.ResponseWriter, *http.Request)
}

// writeInternalError sends 500 for a request whose handler panicked.
func (p *prefix) writeInternalError(w http.ResponseWriter, r *http.Request) {
	if h, ok := p.handler.(JSONHandler); ok {
		h.WriteInternalError(w, r)
		return
	}
	clear(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, web.CodeInternal.Info().Text.French, http.StatusInternalServerError)
}
