package api

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"palmares/internal/snapshot"
)

// An answer is what an operation found.
type answer struct {
	body     snapshot.Body
	isList   bool
	total    int    // of a list, before paging
	paging   string // Link values of a paginated list
	location string // where the tool is now; then there is no body
}

// Header values that never change are shared by all answers, ready to be set
// without an allocation. Keys are written in their canonical form for the same reason.
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
	h["X-Service-Updated-At"] = []string{snap.UpdatedAt}
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

// rooms are buffers for bodies that must be put together. A page of 200 tools
// takes about 100 kB; a larger one is left to the garbage collector.
var rooms = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

const largestRoom = 256 << 10

// write sends an answer: 308, 304 or 200, in the coding the caller likes best.
func (h *Handler) write(w http.ResponseWriter, r *http.Request, a answer) {
	header := w.Header()
	header["Cache-Control"] = cacheHour
	if a.location != "" {
		header.Set("Location", a.location)
		header.Set("Content-Length", "0")
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	if a.isList {
		header["X-Total-Count"] = []string{strconv.Itoa(a.total)}
	}
	header["Link"] = licenseLink
	if a.paging != "" {
		header["Link"] = []string{a.paging + ", " + licence}
	}

	digest := a.body.Digest()
	coding := chooseCoding(r.Header["Accept-Encoding"])
	tag := entityTag(digest, coding)
	header["Etag"] = []string{tag}
	if match := r.Header["If-None-Match"]; match != nil && matches(match, tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}

	header["Content-Type"] = jsonType
	if coding != identity {
		header["Content-Encoding"] = codingNames[coding]
		send(w, h.encodings.get(a.body, coding))
		return
	}
	room := rooms.Get().(*[]byte)
	body := a.body.Bytes(*room)
	send(w, body)
	if cap(body) <= largestRoom && len(body) > 0 && cap(*room) > 0 {
		rooms.Put(room)
	}
}

func send(w http.ResponseWriter, body []byte) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the caller is gone: nobody is left to tell
}

// entityTag is a strong validator: the digest of the body and its coding, since
// two codings of one body are different bytes.
func entityTag(d snapshot.Digest, c coding) string {
	var room [40]byte
	b := append(room[:0], '"')
	b = hex.AppendEncode(b, d[:])
	b = append(b, tagSuffixes[c]...)
	return string(append(b, '"'))
}

// matches tells whether an If-None-Match header, in one or more lines, names the
// tag. The comparison is weak, as RFC 9110 asks; what cannot be read matches nothing.
func matches(lines []string, tag string) bool {
	for _, line := range lines {
		for {
			line = strings.TrimLeft(line, " \t,")
			if line == "*" {
				return true
			}
			opaque, ok := strings.CutPrefix(strings.TrimPrefix(line, "W/"), `"`)
			if !ok {
				break
			}
			opaque, line, ok = strings.Cut(opaque, `"`)
			if !ok {
				break
			}
			if opaque == tag[1:len(tag)-1] {
				return true
			}
		}
	}
	return false
}

// pagingLinks are the Link values of a page: relative references that keep the
// filters as they were given.
func pagingLinks(path string, p *params, page *snapshot.Page) string {
	var b strings.Builder
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
