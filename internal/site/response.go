package site

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"palmares/internal/web"
	"palmares/internal/wire"
)

// A response is a finished page, or a redirect.
type response struct {
	status    int
	kind      string // Content-Type
	cache     string // Cache-Control
	body      []byte
	digest    wire.Digest
	location  string // of a permanent redirect, which has no body
	passing   bool   // true of this moment rather than of the version: it is not kept
	canonical string // absolute URL of the HTML page that a Markdown page renders
}

// Cache lifetimes. A publication must be visible within minutes; browsers always
// revalidate and mostly get 304.
const (
	cachePage     = "public, max-age=0, s-maxage=300, must-revalidate"
	cacheNotFound = "public, max-age=0, s-maxage=60"
	cacheHour     = "public, max-age=3600"
	cacheYear     = "public, max-age=31536000, immutable"
	noStore       = "no-store"
)

const (
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
	xmlType      = "application/xml; charset=utf-8"
	textType     = "text/plain; charset=utf-8"
)

// formAction is the part of the content security policy that keeps forms on this
// site.
const formAction = "form-action 'self'"

// securityHeaders are set on every response. Pages load only our own styles, scripts
// and images, send forms nowhere else, and cannot be framed.
func securityHeaders(https bool) http.Header {
	h := http.Header{
		"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
			"connect-src 'self'; manifest-src 'self'; " +
			formAction + "; base-uri 'none'; frame-ancestors 'none'"},
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"strict-origin-when-cross-origin"},
		"Permissions-Policy":           {"camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Vary":                         {"Accept-Encoding"},
	}
	if https {
		h["Strict-Transport-Security"] = []string{"max-age=31536000"}
	}
	return h
}

func newResponse(kind string, body []byte) *response {
	return &response{status: http.StatusOK, kind: kind, cache: cachePage, body: body, digest: wire.Sum(body)}
}

// redirect leads to another path of this site. The path is escaped, so that a
// crafted one cannot lead to another site.
func redirect(path, query string) *response {
	to := url.URL{Path: path}
	return redirectTo(web.Location(to.String(), query))
}

func redirectTo(location string) *response {
	return &response{status: http.StatusMovedPermanently, cache: cacheHour, location: location}
}

// write sends a response. It is added to cached, unless that is nil, if it is the same for everybody.
func (s *Site) write(w http.ResponseWriter, r *request, a *response, cached *web.Responses) {
	h := w.Header()
	h.Set("Cache-Control", a.cache)
	if a.location != "" {
		if s.cfg.Preview != nil {
			h.Set("Cache-Control", noStore) // the folder may change at any time
		}
		h.Set("Location", a.location)
		h.Set("Content-Length", "0")
		w.WriteHeader(a.status)
		return
	}
	if a.canonical != "" {
		h.Set("Link", "<"+a.canonical+`>; rel="canonical"`)
	}
	chosen, tag, known := web.Negotiate(r.Request, a.digest, web.Brotli)
	if a.status == http.StatusOK {
		if a.kind == htmlType && s.CountsReaders() {
			s.cfg.Readers.View(r.Request)
		}
		h.Set("ETag", tag)
		if known {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	switch a.status {
	case http.StatusMethodNotAllowed:
		h.Set("Allow", "GET, HEAD")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", cmp.Or(h.Get("Retry-After"), web.RetrySoon))
	}
	h.Set("Content-Type", a.kind)
	body := a.body
	if chosen != web.Identity {
		h["Content-Encoding"] = chosen.Header()
		body = s.compressor.Compress(wire.NewBody(a.digest, a.body), chosen)
	}
	if cached != nil && a.status == http.StatusOK && !a.passing && r.URL.RawQuery == "" { // anybody can invent parameters
		cached.Put(w, r.Request, tag, h, body)
	}
	r.end() // a slow reader keeps nobody waiting
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // fails only when the client is gone
}

// render executes the template of a page about something, in the requested form. A template that
// does not fit its data panics; tests render every page.
func render(r *request, name string, p page, of any) *response {
	p.Of = of
	if r.markdown {
		a := newResponse(markdownType, textOf(name+markdownSuffix, &p))
		a.canonical = p.Canonical // the HTML page
		return a
	}
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := templates().ExecuteTemplate(b, name+".html", &p); err != nil {
		panic(err)
	}
	return newResponse(htmlType, bytes.Clone(b.Bytes()))
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
