package lane

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// requestHeaders are the headers of a plain request. They are kept for the next one on the
// connection, which mostly has the same.
type requestHeaders struct {
	lines   string
	host    string
	header  http.Header
	request http.Request // the last one
	url     url.URL      // of it
}

var (
	isPath  = charSet("-._~/")
	isQuery = charSet("-._~/!$'()*+,;:@?&=")
	isHost  = charSet("-.:[]")
)

// charSet returns which bytes are letters, digits or in others.
func charSet(others string) (set [256]bool) {
	for c := range set {
		set[c] = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' ||
			strings.IndexByte(others, byte(c)) >= 0
	}
	return set
}

// harmless are the headers that a plain request may have. Handlers use or ignore them;
// net/http itself acts on none of them but Host, and Connection, whose only value here
// changes nothing.
var harmless = strings.Fields(`Host Connection Accept Accept-Encoding Accept-Language Authorization Cache-Control Dnt
	Forwarded From If-Modified-Since If-None-Match Origin Pragma Priority Referer Save-Data Sec-Ch-Ua Sec-Ch-Ua-Mobile
	Sec-Ch-Ua-Platform Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Sec-Fetch-User Sec-Gpc Traceparent Tracestate
	Upgrade-Insecure-Requests User-Agent Via X-Forwarded-For X-Forwarded-Host X-Forwarded-Port X-Forwarded-Proto X-Real-Ip
	X-Request-Id`)

// parse returns the plain request at the start of b and its length, or nil if it is not plain.
// The request is valid until the next call.
func (h *requestHeaders) parse(b []byte) (*http.Request, int) {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 || !bytes.HasPrefix(b, []byte("GET /")) {
		return nil, 0
	}
	line := bytes.IndexByte(b, '\n') + 1
	given, ok := bytes.CutSuffix(b[len("GET "):line], []byte(" HTTP/1.1\r\n"))
	target := string(given) // not one string with the headers: others may keep the path
	path, query, found := strings.Cut(target, "?")
	if !ok || !isPlain(path, query) || found && query == "" { // net/url remembers an empty query
		return nil, 0
	}
	if lines := b[line : end+2]; (h.host == "" || string(lines) != h.lines) && !h.read(string(lines)) {
		return nil, 0
	}
	h.url = url.URL{Path: path, RawQuery: query}
	h.request = http.Request{
		Method: http.MethodGet, URL: &h.url, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h.header, Body: http.NoBody, Host: h.host, RequestURI: target,
	}
	return &h.request, end + 4
}

// isPlain reports whether a path and a query have only bytes that mean themselves.
func isPlain(path, query string) bool {
	for i := range len(path) {
		if c := path[i]; !isPath[c] || (c == '/' || c == '.') && i > 0 && path[i-1] == '/' {
			return false
		}
	}
	for i := range len(query) {
		if !isQuery[query[i]] {
			return false
		}
	}
	return true
}

// read reads the lines of all headers, and reports whether they are those of a plain request.
func (h *requestHeaders) read(lines string) bool {
	*h = requestHeaders{lines: lines, header: http.Header{}}
	for line := range strings.Lines(lines) {
		given, value, _ := strings.Cut(line, ":")
		value, ok := strings.CutSuffix(value, "\r\n")
		name := http.CanonicalHeaderKey(given)
		if !ok || !slices.Contains(harmless, name) || h.header[name] != nil {
			return false
		}
		value = strings.Trim(value, " ")
		for i := range len(value) {
			if c := value[i]; c < ' ' || c > '~' || name == "Host" && !isHost[c] {
				return false
			}
		}
		if name == "Connection" && !strings.EqualFold(value, "keep-alive") {
			return false
		}
		h.header[name] = []string{value}
	}
	h.host = h.header.Get("Host")
	delete(h.header, "Host") // net/http keeps it apart
	return h.host != ""
}
