// Package site is the website: pages in French, rendered on the server from the
// same Snapshot as the API.
//
// A page is a function from a request to a response or an error. One adapter does
// the rest for all of them: methods, security headers, conditional requests,
// compression and error pages. What pages need beyond the records of a version
// (which tools compete, what changed last) is computed once per version and kept
// in a view, so that no page costs more with a million tools than with a hundred.
// Pages without parameters, error pages and sitemaps are made once per version.
// Nothing needs JavaScript; a small script updates filtered lists without a
// reload. Most pages also exist in Markdown, for programs (see markdown.go).
package site

import (
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/dataset"
	"palmares/internal/reference"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// Config is what the pages need from the rest of the server.
type Config struct {
	// Demo reports whether a snapshot is the demo catalogue; its pages then say
	// that everything on them is invented. Required.
	Demo func(*snapshot.Snapshot) bool
	// BaseURL is the public URL of this server. If it starts with https://,
	// browsers are told to use HTTPS only; empty means http.
	BaseURL string
	// Pictures returns the bytes of the pictures of the catalogue. It may be nil if
	// no catalogue has any.
	Pictures Pictures
	// Preview returns what the pages of a snapshot say to the author of a folder that
	// is not published; they are then not indexed. nil on a public site.
	Preview func(*snapshot.Snapshot) *Preview
	// Exports has the files that /donnees shows with their sizes, once they are written. It
	// may be nil.
	Exports *dataset.Exports
	// Document is the OpenAPI document that /docs explains. Required.
	Document []byte
	// Readers counts requests that are answered with pages, and searches that found nothing, if the
	// publisher wants that; nil for nobody.
	Readers interface {
		View(r *http.Request)
		Missed(r *http.Request, text string)
	}
	// Places are where pages are made, as everything else that is costly; nil for places of its own.
	Places *web.Places
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// A Site serves every path that is not under /api.
type Site struct {
	cfg         Config
	mux         *http.ServeMux
	headers     http.Header // of every response
	assets      assets
	reference   *reference.Reference
	withoutPro  func() *reference.Reference // made when first needed
	hasMarkdown map[string]bool             // by pattern; pages of a slug always have it
	sections    map[string]bool             // first segments of the paths that are served
	compressor  *web.Compressor
	reads       *web.Limit // of pictures
	pictures    *pictureCache
	cards       *pictureCache
	current     atomic.Pointer[view] // what Show was last called with
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if sent, isPage := s.current.Load().responses.Reply(w, r); sent {
		if isPage && s.CountsReaders() {
			s.cfg.Readers.View(r)
		}
		return
	}
	h := w.Header()
	for name, value := range s.headers {
		h[name] = value
	}
	// The mux would redirect too, but with its own HTML body and cache lifetime.
	if p := r.URL.Path; strings.HasPrefix(p, "/") {
		if clean := path.Clean(p); clean != p && clean+"/" != p {
			s.write(w, &request{Request: r}, redirect(clean, r.URL.RawQuery), nil)
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

// A request is one HTTP request and the version of the catalogue that serves it.
type request struct {
	*http.Request
	*view
	markdown bool   // the page is requested in Markdown
	query    string // the parameters, of a page that reads them
	leave    func() // the place where the page is made; nil for none
}

// end gives the place to another page.
func (r *request) end() {
	if r.leave != nil {
		r.leave()
	}
}

// A pageFunc returns a response or an error; it writes nothing itself.
type pageFunc func(*request) (*response, error)

func (s *Site) handle(pattern string, page pageFunc) { s.register(pattern, page, false) }

// handleBoth registers a page that also exists in Markdown. Pages of a slug do not
// need it: the suffix is part of the slug's path segment.
func (s *Site) handleBoth(path string, page pageFunc) {
	s.hasMarkdown[path] = true
	s.register(path, page, false)
	s.register(path+markdownSuffix, page, false)
}

// handleList registers a page with parameters, which also exists in Markdown.
func (s *Site) handleList(path string, page pageFunc) {
	s.hasMarkdown[path] = true
	s.register(path, page, true)
	s.register(path+markdownSuffix, page, true)
}

func (s *Site) register(pattern string, page pageFunc, hasParameters bool) {
	first, _, _ := strings.Cut(pattern[1:], "/")
	s.sections[first] = first != "" && first[0] != '{'
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		req := &request{Request: r, view: s.current.Load(), markdown: strings.HasSuffix(r.URL.Path, markdownSuffix)}
		if hasParameters {
			req.query = r.URL.RawQuery
		}
		if req.markdown {
			r.SetPathValue("slug", strings.TrimSuffix(r.PathValue("slug"), markdownSuffix))
		}
		isFeed := strings.HasSuffix(r.URL.Path, feedSuffix)
		isOpen := req.markdown || isFeed || r.Pattern == llmsPath || r.Pattern == badgePath // to programs, also those in a browser
		if isOpen && s.cfg.Preview == nil {
			// Pages of other origins may read the response.
			web.AllowAnyOrigin(w.Header())
			w.Header()["Access-Control-Expose-Headers"] = []string{"ETag, Link"}
			w.Header()["Cross-Origin-Resource-Policy"] = []string{"cross-origin"}
			if r.Method == http.MethodOptions {
				web.WritePreflight(w)
				return
			}
		}
		defer req.end()
		a, err := s.run(page, req)
		if err != nil {
			a = s.failure(req, err)
		}
		s.write(w, req, a, req.responses)
	})
}

func (s *Site) run(page pageFunc, r *request) (*response, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, methodNotAllowed()
	}
	// Without parameters a page is the same for everybody while its version
	// lasts. With parameters there are too many pages to keep.
	if a, ok := r.pages.Get(r.URL.Path); ok && r.query == "" {
		return a, nil
	}
	leave, err := s.cfg.Places.Enter(r.Request)
	if err != nil {
		return nil, unavailable("Trop de visites", web.AsError(err).Text.French)
	}
	r.leave = leave // once the page is compressed
	if r.query != "" {
		return page(r)
	}
	return r.cachedPage(r.URL.Path, func() (*response, error) { return page(r) })
}

// notFound responds to unknown paths. A trailing slash is removed by a redirect.
func (s *Site) notFound(r *request) (*response, error) {
	if p := r.URL.Path; strings.HasSuffix(p, "/") {
		return redirect(path.Clean(p), r.URL.RawQuery), nil
	}
	if lower := strings.ToLower(r.URL.Path); lower != r.URL.Path {
		first, _, _ := strings.Cut(lower[1:], "/")
		if s.sections[strings.TrimSuffix(first, markdownSuffix)] {
			return redirect(lower, r.URL.RawQuery), nil
		}
	}
	f := r.notFound("Cette adresse ne mène à aucune page. Peut-être a-t-elle changé\u202f; " +
		"la recherche retrouvera l’outil.")
	if given := strings.TrimSuffix(r.URL.Path, markdownSuffix); len(given) <= 2*catalog.MaxSlug {
		f.suggestNear(strings.ToLower(given), r.ownPages)
	}
	return nil, f
}
