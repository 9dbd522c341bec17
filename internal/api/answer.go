package api

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// An answer is what an operation found, and how it goes out.
type answer struct {
	body     wire.Body
	isList   bool
	total    int    // of a list, before paging
	paging   string // Link values of a paginated list
	location string // where the tool is now; then there is no body
	free     bool   // never counted, whoever asks

	// Set by prepare.
	status int
	coding web.Coding
	tag    string
}

// Header values that never change are shared by all answers, ready to be set
// without an allocation. Names are set as they are written in documents, not in
// the canonical form of net/http, which would send Etag and X-Ratelimit-Limit.
var (
	jsonType       = []string{"application/json"}
	cacheHour      = []string{"s-maxage=3600, stale-while-revalidate=86400"}
	cacheMinute    = []string{"s-maxage=60"}
	noStore        = []string{"no-store"}
	anyOrigin      = []string{"*"}
	vary           = []string{"Authorization, Accept-Encoding"}
	exposed        = []string{"X-Total-Count, X-Service-Updated-At, X-RateLimit-Tier, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, ETag, Link"}
	licenseLink    = []string{licence}
	allowedMethods = "GET, HEAD, OPTIONS"
)

const licence = `</licence>; rel="license"`

func setCommonHeaders(h http.Header, snap *snapshot.Snapshot) {
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = exposed
	h["Vary"] = vary
	h["X-Service-Updated-At"] = snap.UpdatedAtHeader
}

// preflight tells a browser what a page of another origin may send.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Allow", allowedMethods)
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", "Authorization, If-None-Match")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// prepare decides what is sent, 308, 304 or 200, and in which coding, without
// putting the body together: whether a request is counted depends on it.
func (a *answer) prepare(r *http.Request) {
	if a.location != "" {
		a.status = http.StatusPermanentRedirect
		return
	}
	var known bool
	a.status = http.StatusOK
	if a.coding, a.tag, known = web.Negotiate(r, a.body.Digest()); known {
		a.status = http.StatusNotModified
	}
}

// rooms are buffers for pages, which must be put together. A page of 200 tools
// takes about 100 kB; a larger one is left to the garbage collector.
var rooms = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

const largestRoom = 256 << 10

// write sends a prepared answer.
func (h *Handler) write(w http.ResponseWriter, a *answer) {
	header := w.Header()
	header["Cache-Control"] = cacheHour
	if a.location != "" {
		header["Location"] = []string{a.location}
		header["Content-Length"] = []string{"0"}
		w.WriteHeader(a.status)
		return
	}
	values := &[3]string{a.tag} // one allocation for the values that differ each time
	header["ETag"] = values[0:1:1]
	header["Link"] = licenseLink
	if a.paging != "" {
		header["Link"] = []string{a.paging + ", " + licence}
	}
	if a.isList {
		values[1] = strconv.Itoa(a.total)
		header["X-Total-Count"] = values[1:2:2]
	}
	if a.status == http.StatusNotModified {
		w.WriteHeader(a.status)
		return
	}

	header["Content-Type"] = jsonType
	var body []byte
	switch {
	case a.coding != web.Identity:
		header["Content-Encoding"] = a.coding.Header()
		body = h.compressor.Compress(a.body, a.coding)
	case a.isList:
		room := rooms.Get().(*[]byte)
		*room = a.body.Append((*room)[:0])
		body = *room
		if cap(body) <= largestRoom {
			defer rooms.Put(room)
		}
	default:
		body = a.body.Bytes()
	}
	values[2] = strconv.Itoa(len(body))
	header["Content-Length"] = values[2:3:3]
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the caller is gone: nobody is left to tell
}

// pagingLinks are the Link values of a page: relative references that keep the
// filters as they were given.
func pagingLinks(path string, p *params, page *snapshot.Page) string {
	var b strings.Builder
	b.Grow(512) // four links with a filter or two
	link := func(number int64, rel string) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString("<" + path + "?")
		for _, kv := range p.pairs {
			if kv.key != "page" {
				b.WriteString(kv.key + "=" + safeQuery(kv.raw) + "&")
			}
		}
		b.WriteString("page=" + strconv.FormatInt(number, 10) + `>; rel="` + rel + `"`)
	}
	pages := page.Pages()
	link(1, "first")
	if page.Number > 1 && pages > 0 {
		link(min(page.Number-1, pages), "prev")
	}
	if page.Number < pages {
		link(page.Number+1, "next")
	}
	if pages > 0 {
		link(pages, "last")
	}
	return b.String()
}

// safeQuery escapes what would end the reference in a Link header. A query
// arrives with such bytes when a client did not encode it.
func safeQuery(raw string) string {
	clean := true
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == '"' {
			clean = false
		}
	}
	if clean {
		return raw
	}
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == '"' {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
