package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"palmares/internal/quota"
	"palmares/internal/wire"
)

// A Sender sends the responses of one API.
type Sender struct {
	public       bool
	stallTimeout time.Duration
	compressor   *Compressor
	room         *sharedLimit[quota.Subject] // for large bodies
}

// A Response is the result of an operation.
type Response struct {
	Status   int       // 200 if zero
	Body     wire.Body // unused for 204 and redirects
	Type     string    // media type of the body; "" for JSON
	Location string
	Link     []string
	IsList   bool
	Total    int  // length of the whole list, if IsList
	Free     bool // not counted against any quota
	NoCache  bool // caches must ask each time whether it is still true
	Size     int  // of the body in bytes, or a few more, if it may be large
	Cached   bool // the same for every caller, so that it may be cached; also of a 404
	// Handler, if it is not nil, writes the response, once the request is counted: for files, and for
	// what is written while it is made. Of the other fields only Status is used then.
	Handler http.Handler

	coding Coding
	tag    string
}

const (
	// large is the size of what is compressed quickly rather than well.
	large = 1 << 20
	// largeRoom is how many bytes of bodies over pieceSize may be under way: being made, or being sent.
	largeRoom = 64 << 20
	// callerRoom is how many of them one caller may have: a slow one leaves room to others.
	callerRoom = largeRoom / 8
	// largeWait is how long a caller waits for that room.
	largeWait = 2 * time.Second
)

// JSON returns the body that encodes v. It has no digest: it is for APIs that are
// not Public.
func JSON(v any) wire.Body { return wire.NewBody(wire.Digest{}, wire.AppendJSON(nil, v)) }

// prepare decides the status and the coding without assembling the body: whether a
// request is counted depends on it.
func (s *Sender) prepare(r *http.Request, a *Response) {
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if !s.public || a.Status != http.StatusOK || a.Handler != nil {
		return
	}
	best := Brotli
	if a.Size > large {
		best = Zstd
	}
	var known bool
	a.coding, a.tag, known = Negotiate(r, a.Body.Digest(), best)
	if known {
		a.Status = http.StatusNotModified
	}
}

// Header values that never change are shared by all responses, so that setting them costs
// no allocation. Names are written as in the documents, not in the canonical form of
// net/http, which would send Etag and X-Ratelimit-Limit.
var (
	jsonType    = []string{"application/json"}
	cacheHour   = []string{"s-maxage=3600, stale-while-revalidate=86400"}
	cacheMinute = []string{"s-maxage=60"}
	noStore     = []string{"no-store"}
	noCache     = []string{"no-cache"}
	zero        = []string{"0"}
	anyOrigin   = []string{"*"}
	vary        = []string{"Authorization, Accept-Encoding"}
	noSniff     = []string{"nosniff"}
	exposed     = []string{"X-Total-Count, X-Service-Updated-At, X-Service-Version, X-RateLimit-Tier, " +
		"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, ETag, " +
		"Link, Accept-Ranges, Content-Range"}
)

// ReadMethods are the methods of a Public API.
const ReadMethods = "GET, HEAD, OPTIONS"

// AllowAnyOrigin lets pages of every origin read a response.
func AllowAnyOrigin(h http.Header) { h["Access-Control-Allow-Origin"] = anyOrigin }

// WritePreflight tells a browser what a page of another origin may send.
func WritePreflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Allow", ReadMethods)
	h.Set("Access-Control-Allow-Methods", ReadMethods)
	h.Set("Access-Control-Allow-Headers", "*, Authorization") // the star is any other one
	h.Set("Access-Control-Max-Age", "86400")
	h["X-Content-Type-Options"] = noSniff
	w.WriteHeader(http.StatusNoContent)
}

// Location returns the value of Location for a path, which is escaped, with the query of
// a request. Bytes that must not occur in a header are escaped.
func Location(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + escape(query, "")
}

// escape escapes bytes that are not printable ASCII, and those in others.
func escape(s, others string) string {
	var b []byte
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte(others, c) >= 0 {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// write sends a prepared response with its body.
func (s *Sender) write(w http.ResponseWriter, a *Response, body []byte) {
	header := w.Header()
	s.setHeaders(header, a)
	switch a.Status {
	case http.StatusPermanentRedirect, http.StatusTemporaryRedirect:
		header["Content-Length"] = zero
		w.WriteHeader(a.Status)
		return
	case http.StatusNoContent, http.StatusNotModified:
		w.WriteHeader(a.Status)
		return
	}
	if s.isUnpacked(a) {
		w.WriteHeader(a.Status)
		unpack(s.ExtendTimeout(w), body)
		return
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(a.Status)
	if len(body) > pieceSize {
		w = s.ExtendTimeout(w)
	}
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// isUnpacked reports whether the body of a response is compressed when it is made and unpacked on its
// way: a large one, so that its plain form is never in memory as a whole, however slow its reader is.
func (s *Sender) isUnpacked(a *Response) bool {
	return s.public && a.coding == Identity && a.Size > large
}

// setCommonHeaders sets the headers that every response has.
func (h *Handler[S]) setCommonHeaders(header http.Header, from *S) {
	if h.cfg.Public {
		AllowAnyOrigin(header)
		header["Access-Control-Expose-Headers"] = exposed
		header["Vary"] = vary
	}
	if h.cfg.Header != nil {
		h.cfg.Header(from, header)
	}
}

// setHeaders sets the headers of a prepared response, except Content-Length.
func (s *Sender) setHeaders(header http.Header, a *Response) {
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	switch {
	case s.public && a.NoCache:
		header["Cache-Control"] = noCache
	case s.public:
		header["Cache-Control"] = cacheHour
	}
	if a.Location != "" {
		header["Location"] = []string{a.Location}
	}
	switch a.Status {
	case http.StatusPermanentRedirect, http.StatusTemporaryRedirect, http.StatusNoContent:
		return
	}
	if a.tag != "" {
		header["ETag"] = []string{a.tag}
	}
	if a.Link != nil {
		header["Link"] = a.Link
	}
	if a.IsList {
		header["X-Total-Count"] = []string{strconv.Itoa(a.Total)}
	}
	if a.Status != http.StatusNotModified {
		header["Content-Type"] = jsonType
		if a.Type != "" {
			header["Content-Type"] = []string{a.Type}
		}
		if a.coding != Identity {
			header["Content-Encoding"] = a.coding.Header()
		}
	}
}
