package lane

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A request is a plain one.
type request struct {
	target, path, query, host string
	names, values             [maxHeaders]string
	count                     int
}

// maxHeaders is how many headers a plain request has at most, besides Host.
const maxHeaders = 24

var (
	isPath  = charSet("-._~/")
	isQuery = charSet("-._~/!$'()*+,;:@?&=")
	isHost  = charSet("-.:[]")
)

// charSet returns which bytes are letters, digits or in others.
func charSet(others string) (set [256]bool) {
	for c := range set {
		set[c] = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte(others, byte(c)) >= 0
	}
	return set
}

// harmless are the headers that a plain request may have. Handlers use or ignore them;
// net/http itself acts on none of them but Host, and Connection, whose only value here
// changes nothing.
var harmless = func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`Host Connection Accept Accept-Encoding Accept-Language Authorization Cache-Control Dnt
		Forwarded From If-Modified-Since If-None-Match Origin Pragma Priority Referer Save-Data Sec-Ch-Ua Sec-Ch-Ua-Mobile
		Sec-Ch-Ua-Platform Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Sec-Fetch-User Sec-Gpc Traceparent Tracestate
		Upgrade-Insecure-Requests User-Agent Via X-Forwarded-For X-Forwarded-Host X-Forwarded-Port X-Forwarded-Proto X-Real-Ip
		X-Request-Id`) {
		all[name] = true
	}
	return all
}()

// parse reads the request at the start of b and returns its length, or false if it is not
// plain.
func (r *request) parse(b []byte) (int, bool) {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 || !bytes.HasPrefix(b, []byte("GET /")) {
		return 0, false
	}
	line := bytes.IndexByte(b, '\n') + 1
	target, ok := bytes.CutSuffix(b[len("GET "):line], []byte(" HTTP/1.1\r\n"))
	if !ok || !r.setTarget(string(target)) {
		return 0, false
	}
	for header := range strings.Lines(string(b[line : end+2])) { // not one string with the path, which others may keep
		if !r.add(header) {
			return 0, false
		}
	}
	return end + 4, r.host != ""
}

// setTarget reads the path and the query.
func (r *request) setTarget(t string) bool {
	path, query, found := strings.Cut(t, "?")
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
	r.target, r.path, r.query = t, path, query
	return !found || query != "" // net/url remembers an empty query
}

// add reads the line of a header, with its end.
func (r *request) add(line string) bool {
	given, value, _ := strings.Cut(line, ":")
	value, ok := strings.CutSuffix(value, "\r\n")
	name := http.CanonicalHeaderKey(given)
	if !ok || !harmless[name] || r.count == maxHeaders || slices.Contains(r.names[:r.count], name) {
		return false
	}
	value = strings.Trim(value, " ")
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || name == "Host" && !isHost[c] {
			return false
		}
	}
	switch name {
	case "Host":
		ok = r.host == "" && value != ""
		r.host = value
		return ok
	case "Connection":
		ok = strings.EqualFold(value, "keep-alive")
	}
	r.names[r.count], r.values[r.count] = name, value
	r.count++
	return ok
}

// http returns the request as net/http would pass it to a handler.
func (r *request) http(remote string) *http.Request {
	values := slices.Clone(r.values[:r.count])
	header := make(http.Header, r.count)
	for i, name := range r.names[:r.count] {
		header[name] = values[i : i+1 : i+1]
	}
	return &http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: r.path, RawQuery: r.query}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: http.NoBody, Host: r.host, RemoteAddr: remote, RequestURI: r.target,
	}
}
