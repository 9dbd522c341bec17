// Package dataapi is /data/v1: the catalogue for programs that keep a copy of it, or that
// search it. It serves records in their canonical form, which package record defines, the
// feed of their changes and what a search finds, from one Snapshot and from memory, and the
// files of package dataset. What all operations have in common is in package web; quotas
// are counted together with those of /api.
package dataapi

import (
	_ "embed"
	"net/url"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/dataset"
	"palmares/internal/openapi"
	"palmares/internal/problem"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// Config is what the operations need from the rest of the server.
type Config struct {
	// Live holds the catalogue that is served, which needs a feed and a search index.
	// Required.
	Live *snapshot.Live
	// Callers identifies who sent a request. Required.
	Callers web.Authorizer
	// Meter counts requests, as for /api; nil if there are no quotas.
	Meter *quota.Meter
	// Places are described in web.Config.
	Places *web.Places
	// Exports has the files of the last versions. If it is nil, they are unavailable.
	Exports *dataset.Exports
	// StallTimeout is described in web.Config.
	StallTimeout time.Duration
	// BaseURL is where callers find the API; "" for the URL of the catalogue.
	BaseURL string
}

// A Handler serves every path under /data.
type Handler struct {
	*web.Handler[snapshot.Snapshot]
	exports *dataset.Exports
}

type (
	request   = web.Request[snapshot.Snapshot]
	operation = web.Operation[snapshot.Snapshot]
)

//go:embed openapi.json
var openAPI []byte

// Document returns the OpenAPI document that /data/v1/openapi.json serves with the values of
// an installation.
func Document() []byte { return withRecordTypes(openapi.Complete(openAPI)) }

// New returns the handler.
func New(cfg Config) *Handler {
	h := &Handler{exports: cfg.Exports}
	h.Handler = web.NewHandler(web.Config[snapshot.Snapshot]{
		Snapshot: cfg.Live.Snapshot, Header: (*snapshot.Snapshot).SetHeader,
		Bulk:    func(s *snapshot.Snapshot) bool { return s.Catalog.HasDataset() },
		Callers: cfg.Callers, Places: cfg.Places, Meter: cfg.Meter, Public: true, StallTimeout: cfg.StallTimeout,
		IsPath:   func(u *url.URL) bool { return u.RawPath == "" },
		Fallback: unlessOff(h.fallback),
	})
	h.Handle("GET", searchPath, searchTools) // also if the catalogue is not given away
	h.Handle("GET", changesPath, unlessOff(listChanges))
	h.Handle("GET", historyPrefix+"{slug}", unlessOff(getHistory))
	h.Handle("GET", "/data/v1/embeddings", unlessOff(listEmbeddings))
	h.Handle("GET", "/data/v1/freshness", unlessOff(getFreshness))
	h.Handle("GET", dataset.Path, unlessOff(h.getManifest))
	document := openapi.New(Document(), cfg.BaseURL)
	h.Handle("GET", "/data/v1/openapi.json", unlessOff(func(r *request) (web.Response, error) {
		return web.Response{Body: document.Body(r.Snapshot), Link: licenseLink, Free: true}, nil
	}))
	for _, kind := range catalog.Kinds {
		schema, err := content.RecordSchema(kind)
		if err != nil {
			panic("dataapi: " + err.Error()) // only for an unknown kind
		}
		h.Handle("GET", "/data/v1/records/"+kind.Name, unlessOff(getRecords(kind)))
		body := wire.NewBody(wire.Sum(schema), schema)
		h.Handle("GET", "/data/v1/schema/"+kind.Name+".json", unlessOff(func(*request) (web.Response, error) {
			return web.Response{Body: body, Link: licenseLink}, nil
		}))
	}
	return h
}

// fallback returns a file of an export, or says that a path does not exist.
func (h *Handler) fallback(r *request) (web.Response, error) {
	if !strings.HasPrefix(r.URL.Path, dataset.Path+"/") || r.URL.RawPath != "" {
		return web.Response{}, web.NewError(web.CodeNotFound, problem.New("path-not-described", "/data/v1/openapi.json"))
	}
	r.Pattern = dataset.Path + "/{version}/{file}"
	return h.getFile(r)
}

// unlessOff returns an operation that refuses if the catalogue is not given away.
func unlessOff(op operation) operation {
	return func(r *request) (web.Response, error) {
		if r.Snapshot.Feed == nil || !r.Snapshot.Catalog.HasDataset() {
			return web.Response{}, web.NewError(web.CodeNotFound, problem.New("catalogue-not-offered"))
		}
		return op(r)
	}
}

var licenseLink = []string{`</licence>; rel="license"`} // of every 200

// listEmbeddings returns what there is to vectorise.
func listEmbeddings(r *request) (web.Response, error) {
	if r.Caller.Key == nil {
		return web.Response{}, web.MissingKey()
	}
	return web.Response{Body: r.Snapshot.EmbeddingsList(), Link: licenseLink}, nil
}
