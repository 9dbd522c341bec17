package site

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"palmares/internal/web"
	"palmares/internal/wire"
)

// An answer is a finished page, or where to go instead.
type answer struct {
	status    int
	kind      string // Content-Type
	cache     string // Cache-Control
	body      []byte
	digest    wire.Digest
	location  string // of a permanent redirection; then there is no body
	canonical string // absolute; of an answer that stands for a page
}

// How long shared caches may keep what. A publication must be seen within
// minutes; a visitor's browser always asks, and mostly hears 304.
const (
	cachePage  = "public, max-age=0, s-maxage=300, must-revalidate"
	cacheGone  = "public, max-age=0, s-maxage=60"
	cacheMoved = "public, max-age=3600"
	cacheYear  = "public, max-age=31536000, immutable"
	noStore    = "no-store"
)

const (
	htmlType = "text/html; charset=utf-8"
	atomType = "application/atom+xml; charset=utf-8"
	xmlType  = "application/xml; charset=utf-8"
	textType = "text/plain; charset=utf-8"
)

// formsHere is the part of the policy that keeps forms on this site.
const formsHere = "form-action 'self'"

// strictHeaders are on every answer. Pages load nothing but our own style, script
// and pictures, send forms nowhere else, and are shown in no frame.
func strictHeaders(https bool) http.Header {
	h := http.Header{
		"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
			formsHere + "; base-uri 'none'; frame-ancestors 'none'"},
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

func found(kind string, body []byte) *answer {
	return &answer{status: http.StatusOK, kind: kind, cache: cachePage, body: body, digest: wire.Sum(body)}
}

// movedTo leads to another path of this site. The path is escaped, so that
// whatever a stranger wrote into it cannot lead elsewhere.
func movedTo(path, query string) *answer {
	to := url.URL{Path: path, RawQuery: query}
	return &answer{status: http.StatusMovedPermanently, cache: cacheMoved, location: to.String()}
}

func (s *Site) write(w http.ResponseWriter, r *http.Request, a *answer) {
	h := w.Header()
	h.Set("Cache-Control", a.cache)
	if a.location != "" {
		h.Set("Location", a.location)
		h.Set("Content-Length", "0")
		w.WriteHeader(a.status)
		return
	}
	if a.canonical != "" {
		h.Set("Link", "<"+a.canonical+`>; rel="canonical"`)
	}
	chosen, tag, known := web.Negotiate(r, a.digest)
	if a.status == http.StatusOK {
		h.Set("ETag", tag)
		if known {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if a.status == http.StatusMethodNotAllowed {
		h.Set("Allow", "GET, HEAD")
	}
	body := a.body
	if chosen != web.Identity {
		h["Content-Encoding"] = chosen.Header()
		body = s.compressor.Compress(wire.NewBody(a.digest, a.body), chosen)
	}
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the reader is gone: nobody is left to tell
}

// A failure is a page that says what is wrong and what to do about it.
type failure struct {
	status int
	title  string
	text   string
	cache  string
	link   *link // where else to go
}

func (f *failure) Error() string { return f.text }

func notFound(text string) *failure {
	return &failure{status: http.StatusNotFound, title: "Page introuvable", text: text, cache: cacheGone}
}

func methodNotAllowed() *failure {
	return &failure{
		status: http.StatusMethodNotAllowed, title: "Méthode refusée", cache: noStore,
		text: "Cette page se lit seulement\u00a0: demandez-la avec GET ou HEAD.",
	}
}

// failurePage is the page of a failure.
type failurePage struct {
	Page   page
	Status int
	Text   string
	Link   *link
}

// failure renders what went wrong. An error that is not ours to explain goes on
// to the server, which logs it and answers 500.
func (s *Site) failure(r *request, err error) *answer {
	var f *failure
	if !errors.As(err, &f) {
		panic(err)
	}
	var a *answer
	if r.text {
		a = failureText(f)
	} else {
		p := s.page(r, f.title, f.text, r.URL.Path)
		p.Canonical, p.NoIndex = "", true
		a = render(r, "failure", p, failurePage{Page: p, Status: f.status, Text: f.text, Link: f.link})
	}
	a.status, a.cache = f.status, f.cache
	return a
}

// render makes a page of a template and what it shows, in the form that was asked
// for. A template that does not fit its data is a mistake of ours that tests find.
func render(r *request, name string, p page, data any) *answer {
	if r.text {
		return renderText(name, p, data)
	}
	room := rooms.Get().(*bytes.Buffer)
	defer rooms.Put(room)
	room.Reset()
	if err := templates[name].ExecuteTemplate(room, "layout", data); err != nil {
		panic(err)
	}
	return found(htmlType, bytes.Clone(room.Bytes()))
}

var rooms = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// A pageCache keeps finished pages of one version.
type pageCache struct {
	mu      sync.Mutex
	size    int
	answers map[string]*answer
}

// pageCacheSize bounds the memory for finished pages: about 2,000 of them. When
// it is full it starts anew, which costs a page its half millisecond again.
const pageCacheSize = 32 << 20

func (c *pageCache) get(path string) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[path]
}

func (c *pageCache) put(path string, a *answer) {
	size := len(a.body) + len(path) + 200
	if size > pageCacheSize/8 {
		return // one large sitemap must not push out all pages
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size+size > pageCacheSize || c.answers == nil {
		c.answers, c.size = map[string]*answer{}, 0
	}
	if _, ok := c.answers[path]; !ok {
		c.answers[path] = a
		c.size += size
	}
}
