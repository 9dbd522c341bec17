// Package site is what people see: pages in French, rendered on the server from
// the same Snapshot as the API.
//
// A page is a function from a request to an answer or an error; one adapter does
// for all of them what must be the same everywhere: methods, strict headers,
// conditional requests, compression, and the pages that say what went wrong.
// What pages need of a version beyond its records (who competes with whom, what
// changed last) is worked out once for it and kept in an edition, so no page
// costs more for a million tools than for a hundred. Nothing here needs
// JavaScript; a small script makes filters answer without reloading. For programs
// that read, most pages also stand in Markdown, from the same data (see text.go).
package site

import (
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// Config is what the pages need of the rest of the server.
type Config struct {
	// Snapshot gives the catalogue to show; it is called once a request. Required.
	Snapshot func() *snapshot.Snapshot
	// Demo tells whether a snapshot is the demo catalogue; its pages then say
	// that everything in them is invented. Required.
	Demo func(*snapshot.Snapshot) bool
	// BaseURL is where visitors find this server. When it begins with https://
	// their browsers are told to come back that way only; empty means http.
	BaseURL string
	// Document is the OpenAPI document, which /docs shows. Required.
	Document []byte
}

// A Site answers every path that is not under /api.
type Site struct {
	cfg        Config
	mux        *http.ServeMux
	headers    http.Header // of every answer
	assets     assets
	reference  docsReference
	inText     map[string]bool // patterns of the pages that also stand in Markdown
	compressor web.Compressor
	current    atomic.Pointer[edition]
	making     sync.Mutex
	renewed    chan struct{} // told when there is a new edition
}

// New makes the handler of the website. Its Run should run beside it, for search
// in whole texts.
func New(cfg Config) *Site {
	s := &Site{
		cfg: cfg, mux: http.NewServeMux(), assets: readAssets(), reference: newReference(cfg.Document), inText: map[string]bool{}, renewed: make(chan struct{}, 1),
		headers: strictHeaders(strings.HasPrefix(cfg.BaseURL, "https://")),
	}
	s.handle("/{$}", s.home)
	s.both("/outils", s.listTools)
	s.handle("/outils/{slug}", s.showTool)
	s.handle("/avis/{slug}", s.showReview)
	s.handle("/alternatives/{slug}", s.showAlternatives)
	s.handle("/categories/{slug}", s.showCategory)
	s.both("/comparatifs", s.listComparisons)
	s.handle("/comparatifs/{slug}", s.showComparison)
	s.both("/prix", s.listPrices)
	s.both("/cimetiere", s.showCemetery)
	s.both("/docs", s.docs)
	s.handle("/tarifs", s.plans)
	s.both("/licence", s.licence)
	s.handle("/confidentialite", s.privacy)
	s.handle("/flux.atom", s.feed)
	s.handle("/llms.txt", s.llms)
	s.handle("/robots.txt", s.robots)
	s.handle("/sitemap.xml", s.sitemap)
	s.handle("/static/{file}", s.asset)
	s.handle("/{file}", s.sitemapPart)
	s.handle("/", s.missing)
	return s
}

// ServeHTTP answers one request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, value := range s.headers {
		h[name] = value
	}
	// The mux would send such a path on too, but with an answer that is not ours.
	if p := r.URL.Path; strings.HasPrefix(p, "/") {
		if clean := path.Clean(p); clean != p && clean+"/" != p {
			s.write(w, r, movedTo(clean, r.URL.RawQuery))
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

// A request is what a page sees: one version of the catalogue.
type request struct {
	*http.Request
	*edition
	text bool // Markdown is asked for
}

// A pageFunc answers or fails; it writes nothing itself.
type pageFunc func(*request) (*answer, error)

func (s *Site) handle(pattern string, page pageFunc) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		req := &request{Request: r, edition: s.edition(), text: strings.HasSuffix(r.URL.Path, textSuffix)}
		if req.text {
			r.SetPathValue("slug", strings.TrimSuffix(r.PathValue("slug"), textSuffix))
		}
		a, err := s.run(page, req)
		if err != nil {
			a = s.failure(req, err)
		}
		s.write(w, r, a)
	})
}

// both registers a page that also stands in Markdown. Pages of a slug always do,
// under the same pattern.
func (s *Site) both(path string, page pageFunc) {
	s.inText[path] = true
	s.handle(path, page)
	s.handle(path+textSuffix, page)
}

func (s *Site) run(page pageFunc, r *request) (*answer, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, methodNotAllowed()
	}
	// A page without parameters is the same for everybody as long as its
	// version lasts. With parameters there are too many of them to keep.
	if r.URL.RawQuery != "" {
		return page(r)
	}
	if a := r.pages.get(r.URL.Path); a != nil {
		return a, nil
	}
	a, err := page(r)
	if err == nil {
		r.pages.put(r.URL.Path, a)
	}
	return a, err
}

// missing answers paths that do not exist; one with a slash too many is sent to
// the path that was meant.
func (s *Site) missing(r *request) (*answer, error) {
	if p := r.URL.Path; strings.HasSuffix(p, "/") {
		return movedTo(path.Clean(p), r.URL.RawQuery), nil
	}
	return nil, notFound("Cette adresse ne mène à aucune page. Peut-être a-t-elle changé\u00a0; la recherche retrouvera l’outil.")
}
