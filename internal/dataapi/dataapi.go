// Package dataapi is /data/v1: the catalogue for programs that keep a copy of it, or that
// search it. It serves records in their canonical form, which package record defines, the
// feed of their changes and what a search finds, from one Snapshot and from memory, and the
// files of package dataset. What all operations have in common is in package web; quotas
// are counted together with those of /api.
package dataapi

import (
	_ "embed"
	"net/http"
	"net/url"
	"strings"
	"time"

	"palmares/internal/content"
	"palmares/internal/dataset"
	"palmares/internal/openapi"
	"palmares/internal/quota"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// Config is what the operations need from the rest of the server.
type Config struct {
	// Live holds the catalogue to answer from, which needs a feed and a search index.
	// Required.
	Live *snapshot.Live
	// Callers identifies who sent a request. Required.
	Callers web.Authorizer
	// Meter counts requests, as for /api; nil if there are no quotas.
	Meter *quota.Meter
	// Streams limits the requests that are held open. Required.
	Streams *Streams
	// Exports has the files of the last versions. If it is nil, they are unavailable.
	Exports *dataset.Exports
	// Stall is that of a web.Service.
	Stall time.Duration
	// BaseURL is where callers find the API; "" for the URL of the catalogue.
	BaseURL string
}

// A Handler answers every path under /data.
type Handler struct {
	live    *snapshot.Live
	service web.Service
	streams *Streams
	exports *dataset.Exports
	routes  map[string]route // by path
}

// A route is an operation and its label in the metrics.
type route struct {
	pattern string
	op      operation
	always  bool // also if the catalogue is not given away
}

//go:embed openapi.json
var openAPI []byte

// Document returns the OpenAPI document that /data/v1/openapi.json serves with the values of
// an installation.
func Document() []byte { return openapi.Complete(openAPI) }

// New returns the handler.
func New(cfg Config) *Handler {
	h := &Handler{
		live:    cfg.Live,
		service: web.Service{Callers: cfg.Callers, Meter: cfg.Meter, Public: true, Stall: cfg.Stall, Compressor: web.NewCompressor()},
		streams: cfg.Streams,
		exports: cfg.Exports,
	}
	h.routes = map[string]route{
		changesPath:             {pattern: changesPath, op: h.listChanges},
		searchPath:              {pattern: searchPath, op: searchTools, always: true},
		"/data/v1/embeddings":   {pattern: "/data/v1/embeddings", op: listEmbeddings},
		dataset.Path:            {pattern: dataset.Path, op: h.getManifest},
		"/data/v1/openapi.json": {pattern: "/data/v1/openapi.json", op: getDocument(openapi.New(Document(), cfg.BaseURL))},
	}
	for _, kind := range record.Kinds {
		schema, err := content.RecordSchema(kind)
		if err != nil {
			panic("dataapi: " + err.Error()) // only for an unknown kind
		}
		h.routes["/data/v1/records/"+string(kind)] = route{pattern: "/data/v1/records/{kind}", op: getRecords(kind)}
		h.routes["/data/v1/schema/"+string(kind)+".json"] = route{pattern: "/data/v1/schema/{kind}.json", op: fixed(schema)}
	}
	return h
}

// find returns the operation for a path, and the slug in it. A path that is escaped where
// it need not be is another one: two URLs for one answer would confuse caches.
func (h *Handler) find(u *url.URL) (r route, slug string) {
	if r, ok := h.routes[u.Path]; ok && u.RawPath == "" {
		return r, ""
	}
	if slug, ok := strings.CutPrefix(u.Path, historyPrefix); ok && u.RawPath == "" && slug != "" && !strings.Contains(slug, "/") {
		return route{pattern: historyPrefix + "{slug}", op: getHistory}, slug
	}
	if strings.HasPrefix(u.Path, dataset.Path+"/") && u.RawPath == "" {
		return route{pattern: dataset.Path + "/{version}/{file}", op: h.getFile}, ""
	}
	return route{op: func(*request) (web.Answer, error) { return web.Answer{}, pathNotFound() }}, ""
}

// A request is what an operation sees: one snapshot, one caller.
type request struct {
	web.Request
	snap     *snapshot.Snapshot
	replaced <-chan struct{} // closed when a newer one is served
	held     bool            // it has a place among the streams
	slug     string          // of the path, if it has one
}

// An operation returns an answer or an error; it writes nothing itself.
type operation func(*request) (web.Answer, error)

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := request{}
	req.snap, req.replaced = h.live.Watch()
	setCommonHeaders(w.Header(), req.snap)
	if r.URL.Path == changesPath {
		w.Header()["Vary"] = varyAccept
	}
	if r.Method == http.MethodOptions {
		web.WritePreflight(w)
		return
	}
	req.Bulk = req.snap.HasDataset()
	req.Begin(r)
	defer req.End()
	route, slug := h.find(r.URL)
	r.Pattern, req.slug = route.pattern, slug
	a, err := h.run(route, &req)
	if req.held {
		defer h.streams.leave(req.Caller.Subject)
	}
	req.snap = nil // it may be replaced, and must not be kept by a slow reader
	h.service.Reply(w, &req.Request, &a, err)
}

// run does the checks that apply to every path before the operation.
func (h *Handler) run(to route, req *request) (web.Answer, error) {
	if err := h.service.AdmitRead(&req.Request); err != nil {
		return web.Answer{}, err
	}
	if !to.always && isOff(req.snap) {
		return web.Answer{}, datasetOff()
	}
	return to.op(req)
}

// isOff reports whether a catalogue is not given away.
func isOff(snap *snapshot.Snapshot) bool {
	return snap.Feed() == nil || !snap.HasDataset()
}

func setCommonHeaders(h http.Header, snap *snapshot.Snapshot) {
	web.SetPublicHeaders(h)
	setVersion(h, snap)
}

// setVersion sets the headers that say which version an answer comes from.
func setVersion(h http.Header, snap *snapshot.Snapshot) {
	h["X-Service-Updated-At"], h["X-Service-Version"] = snap.UpdatedAtHeader, snap.VersionHeader
}

// WriteInternalError answers a request whose handler failed before it wrote anything.
func (h *Handler) WriteInternalError(w http.ResponseWriter) {
	clear(w.Header())
	setCommonHeaders(w.Header(), h.live.Snapshot())
	h.service.WriteError(w, web.NewError(web.CodeInternal, ""))
}

var licenseLink = []string{`</licence>; rel="license"`} // of every 200

// fixed returns the operation that answers with a file of this release.
func fixed(file []byte) operation {
	body := wire.NewBody(wire.Sum(file), file)
	return func(*request) (web.Answer, error) {
		return web.Answer{Body: body, Link: licenseLink}, nil
	}
}

func getDocument(d *openapi.Document) operation {
	return func(r *request) (web.Answer, error) {
		return web.Answer{Body: d.Body(r.snap), Link: licenseLink, Free: true}, nil
	}
}

// listEmbeddings answers with what there is to vectorise.
func listEmbeddings(r *request) (web.Answer, error) {
	if r.Caller.Key == nil {
		return web.Answer{}, web.MissingKey()
	}
	return web.Answer{Body: r.snap.EmbeddingsList(), Link: licenseLink}, nil
}

func pathNotFound() *web.Error {
	return web.NewError(web.CodeNotFound, "Ce chemin n’existe pas : la description, /data/v1/openapi.json, donne tous les chemins (sans barre oblique finale).")
}

func datasetOff() *web.Error {
	return web.NewError(web.CodeNotFound, "Ce catalogue n’est pas proposé en bloc : son éditeur ne l’a pas voulu. L’API, /api/v1/openapi.json, le donne page par page.")
}
