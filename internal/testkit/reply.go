package testkit

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// A Reply is an HTTP response that was read to its end. Its methods check it and
// return it, so that checks can be chained.
type Reply struct {
	T       testing.TB
	Request *http.Request
	Status  int
	Header  http.Header
	Raw     []byte // the body as it was sent
	Body    string // the body without its content coding
}

// NewRequest returns a request with headers, which are "Name: value" lines. A header
// that is given twice is sent twice.
func NewRequest(t testing.TB, method, url, body string, headers ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Add(name, value); name == "Host" {
			req.Host = value
		}
	}
	return req
}

// plain neither follows redirects nor decodes bodies.
var plain = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Send sends a request over the network.
func Send(t testing.TB, req *http.Request) *Reply {
	t.Helper()
	resp, err := plain.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return Read(t, req, resp)
}

// Serve has a handler respond to a request.
func Serve(t testing.TB, handler http.Handler, req *http.Request) *Reply {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	return Read(t, req, w.Result())
}

// Read reads a response to its end.
func Read(t testing.TB, req *http.Request, resp *http.Response) *Reply {
	t.Helper()
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := &Reply{T: t, Request: req, Status: resp.StatusCode, Header: resp.Header, Raw: raw, Body: string(raw)}
	if len(raw) > 0 { // not to HEAD, and not with 304
		r.decode()
	}
	return r
}

func (r *Reply) decode() {
	r.T.Helper()
	var from io.Reader
	var err error
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "":
		return
	case "gzip":
		from, err = gzip.NewReader(bytes.NewReader(r.Raw))
	case "br":
		from = brotli.NewReader(bytes.NewReader(r.Raw))
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(bytes.NewReader(r.Raw))
		if err == nil {
			defer z.Close()
		}
		from = z
	default:
		err = fmt.Errorf("unknown content coding %q", coding)
	}
	if err != nil {
		r.T.Fatalf("%s: %v", r, err)
	}
	body, err := io.ReadAll(from)
	if err != nil {
		r.T.Fatalf("%s: %v", r, err)
	}
	r.Body = string(body)
}

// String returns the request's method and path.
func (r *Reply) String() string { return r.Request.Method + " " + r.Request.URL.RequestURI() }

// Is checks the status, and ends the test if it is another: the rest of the reply
// means nothing then.
func (r *Reply) Is(status int) *Reply {
	r.T.Helper()
	if r.Status != status {
		r.T.Fatalf("%s: %d, not %d: %s", r, r.Status, status, r.Body)
	}
	return r
}

// OK checks that the status is 200.
func (r *Reply) OK() *Reply {
	r.T.Helper()
	return r.Is(http.StatusOK)
}

// HasHeader checks a header, "" for none. Several values are joined by " | ".
func (r *Reply) HasHeader(name, want string) *Reply {
	r.T.Helper()
	if got := strings.Join(r.Header.Values(name), " | "); got != want {
		r.T.Errorf("%s: %s is %q, not %q", r, name, got, want)
	}
	return r
}

// RedirectsTo checks status and Location.
func (r *Reply) RedirectsTo(status int, location string) *Reply {
	r.T.Helper()
	return r.Is(status).HasHeader("Location", location)
}

// Contains checks that the body contains every part.
func (r *Reply) Contains(parts ...string) *Reply {
	r.T.Helper()
	for _, part := range parts {
		if !strings.Contains(r.Body, part) {
			r.T.Errorf("%s does not contain %q: %s", r, part, r.Body)
		}
	}
	return r
}

// Lacks checks that the body contains none of the parts.
func (r *Reply) Lacks(parts ...string) *Reply {
	r.T.Helper()
	for _, part := range parts {
		if i := strings.Index(r.Body, part); i >= 0 {
			r.T.Errorf("%s contains %q: …%s…", r, part, r.Body[max(0, i-80):min(len(r.Body), i+len(part)+80)])
		}
	}
	return r
}

// Equals checks the whole body.
func (r *Reply) Equals(want string) *Reply {
	r.T.Helper()
	if r.Body != want {
		r.T.Errorf("%s:\n%s\nnot\n%s", r, r.Body, want)
	}
	return r
}

// Into decodes a JSON body.
func (r *Reply) Into(v any) *Reply {
	r.T.Helper()
	if err := json.Unmarshal([]byte(r.Body), v); err != nil {
		r.T.Fatalf("%s: %v in %d %s", r, err, r.Status, r.Body)
	}
	return r
}

// Fails checks an error of the API: status, code, and words that its sentence must
// contain.
func (r *Reply) Fails(status int, code string, words ...string) *Reply {
	r.T.Helper()
	var e struct{ Error, Code string }
	r.Into(&e)
	if r.Status != status || e.Code != code {
		r.T.Errorf("%s: %d %s, not %d %s", r, r.Status, r.Body, status, code)
	}
	for _, word := range words {
		if !strings.Contains(e.Error, word) {
			r.T.Errorf("%s: %q does not contain %q", r, e.Error, word)
		}
	}
	return r
}

// FailsOn is Fails for an error that names a parameter, or with "" none.
func (r *Reply) FailsOn(status int, code, param string, words ...string) *Reply {
	r.T.Helper()
	var e struct{ Param string }
	if r.Into(&e); e.Param != param {
		r.T.Errorf("%s: %s does not name %q", r, r.Body, param)
	}
	return r.Fails(status, code, words...)
}
