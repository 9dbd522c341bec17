package web

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"weak"

	"palmares/internal/cache"
	"palmares/internal/problem"
)

// Responses caches whole responses of one version of the catalogue, as the front lane sends them.
//
// Those that say that there is nothing have a cache of their own: anybody can invent addresses.
type Responses struct {
	found, missing *cache.Cache[responseKey, *readyResponse]
}

const (
	// responsesSize is enough for 600 pages of 50 tools, or for 6,000 single ones.
	responsesSize = 16 << 20
	missingSize   = 1 << 20
)

// NewResponses returns an empty cache for one version.
func NewResponses() *Responses {
	return &Responses{cache.New(responsesSize, readySize), cache.New(missingSize, readySize)}
}

// A responseKey is what a response depends on.
type responseKey struct {
	path, query string
	coding      Coding
	language    problem.Language // of an error
}

func keyOf(r *http.Request) responseKey {
	return responseKey{path: r.URL.Path, query: r.URL.RawQuery, coding: ChooseCoding(r.Header["Accept-Encoding"], Brotli)}
}

// A readyResponse is a response in the form in which it is sent.
type readyResponse struct {
	pattern string // of its route
	status  int
	tag     string // "" for none
	free    bool
	isPage  bool   // of HTML
	head    []byte // the lines of all headers, those about the content first
	rest    []byte // the lines behind those, which a 304 has, too
	body    []byte
}

func readySize(key responseKey, r *readyResponse) int {
	const fields = 250
	return fields + len(key.path) + len(key.query) + len(r.head) + cap(r.body)
}

// A ReadyWriter is an http.ResponseWriter that can send a whole response at once, if it is for a
// plain GET request of the front lane.
type ReadyWriter interface {
	// IsPlain reports whether it can.
	IsPlain() bool
	// WriteReady sends a response. Of its headers, lines are those that are not in Header, each
	// with its end.
	WriteReady(status int, lines, body []byte)
	// Identify tells the log whose key the request has. It may be called of any request.
	Identify(accountID string)
}

// asReady returns w if it can send whole responses, or nil.
func asReady(w http.ResponseWriter) ReadyWriter {
	if ready, ok := w.(ReadyWriter); ok && ready.IsPlain() {
		return ready
	}
	return nil
}

func (c *Responses) get(r *http.Request) *readyResponse {
	key := keyOf(r)
	if found, ok := c.found.Get(key); ok {
		return found
	}
	key.language = preferred(r)
	missing, _ := c.missing.Get(key)
	return missing
}

// put adds a response with its headers, which must have all but Content-Length.
func (c *Responses) put(r *http.Request, ready readyResponse, header http.Header) {
	if len(ready.body) > pieceSize {
		return // its reader may need more time
	}
	head := appendLines(nil, header, true)
	about := len(head)
	ready.head = bytes.Clone(appendLines(head, header, false)) // without the spare room
	ready.rest = ready.head[about:]
	ready.pattern, ready.isPage = r.Pattern, strings.HasPrefix(header.Get("Content-Type"), "text/html")
	to, key := c.found, keyOf(r)
	if ready.status == http.StatusNotFound {
		to, key.language = c.missing, preferred(r)
	}
	to.Put(key, &ready)
}

// appendLines appends the headers that are about the content, or the other ones.
func appendLines(b []byte, header http.Header, aboutContent bool) []byte {
	for name, values := range header {
		isAbout := name == "Content-Type" || name == "Content-Encoding"
		if name == "Connection" || name == "Content-Length" || isAbout != aboutContent {
			continue
		}
		for _, v := range values {
			b = append(append(append(append(b, name...), ": "...), v...), "\r\n"...)
		}
	}
	return b
}

// statusFor returns the status with which the response is sent to a request.
func (a *readyResponse) statusFor(r *http.Request) int {
	if match := r.Header["If-None-Match"]; match != nil && a.tag != "" && MatchesTag(match, a.tag) {
		return http.StatusNotModified
	}
	return a.status
}

// send sends the response with the headers that are in the header of w already.
func (a *readyResponse) send(w ReadyWriter, status int) {
	if status == http.StatusNotModified {
		w.WriteReady(status, a.rest, nil)
		return
	}
	w.WriteReady(status, a.head, a.body)
}

// Reply sends the cached response to a request, and reports whether it did, and whether that is a page
// of HTML: for responses that are the same for everybody and not counted.
func (c *Responses) Reply(w http.ResponseWriter, r *http.Request) (sent, isPage bool) {
	to := asReady(w)
	if to == nil {
		return false, false
	}
	cached := c.get(r)
	if cached == nil {
		return false, false
	}
	r.Pattern = cached.pattern
	cached.send(to, cached.statusFor(r))
	return true, cached.isPage
}

// Put adds a response that is sent as 200 to w. The header, with all but the length, and the body
// must not be changed any more; tag is in the header.
func (c *Responses) Put(w http.ResponseWriter, r *http.Request, tag string, header http.Header, body []byte) {
	if asReady(w) != nil {
		c.put(r, readyResponse{status: http.StatusOK, tag: tag, body: body}, header)
	}
}

// cachedOf caches the responses of one version. It does not keep the version in memory.
type cachedOf[S any] struct {
	version   weak.Pointer[S]
	responses *Responses
}

// responsesOf returns the cache of the responses of a version. It drops the cache of the version before.
func (h *Handler[S]) responsesOf(version *S) *Responses {
	c := h.cached.Load()
	if c == nil || c.version.Value() != version {
		c = &cachedOf[S]{weak.Make(version), NewResponses()}
		h.cached.Store(c)
	}
	return c.responses
}

// replyCached sends the cached response to a request, and reports whether it did.
func (h *Handler[S]) replyCached(w http.ResponseWriter, r *Request[S]) bool {
	to := asReady(w)
	if to == nil {
		return false
	}
	cached := h.responsesOf(r.Snapshot).get(r.Request)
	if cached == nil {
		return false
	}
	r.Pattern = cached.pattern
	caller, err := h.cfg.Callers(r.Context(), r.Request)
	if err == nil {
		r.Caller = caller
		if caller.Key != nil {
			to.Identify(caller.Key.AccountID)
		}
		status := cached.statusFor(r.Request)
		err = h.count(w.Header(), r, status, cached.free)
		if err == nil {
			cached.send(to, status)
			return true
		}
	}
	h.setCommonHeaders(w.Header(), r.Snapshot)
	h.WriteError(w, r.Request, err)
	return true
}

// cache adds a response, or the error that says that there is nothing, to the cache of its version.
func (h *Handler[S]) cache(r *Request[S], a *Response, body []byte, err error) {
	header := http.Header{}
	h.setCommonHeaders(header, r.Snapshot)
	if r.Pattern != "" {
		at, _ := h.find(r.URL.Path)
		at.setHeaders(header)
	}
	responses := h.responsesOf(r.Snapshot)
	if err == nil {
		whole := *a
		whole.Status = http.StatusOK // also if this client has it already
		h.setHeaders(header, &whole)
		ready := readyResponse{status: whole.Status, tag: a.tag, free: a.Free, body: slices.Clip(body)}
		responses.put(r.Request, ready, header)
		return
	}
	if e := AsError(err); e.Status() == http.StatusNotFound {
		h.setErrorHeaders(header, e)
		responses.put(r.Request, readyResponse{status: e.Status(), body: e.JSON(r.Request)}, header)
	}
}
