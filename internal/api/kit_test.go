package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/klauspost/compress/zstd"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// document is the served OpenAPI document made strict: a field that it does not
// name is an error. exercised collects which of its answers the tests have seen.
var (
	document  *openapi3.T
	router    routers.Router
	exercised = struct {
		sync.Mutex
		seen map[string]bool
	}{seen: map[string]bool{}}
)

func TestMain(m *testing.M) {
	raw, err := os.ReadFile("openapi.json")
	if err != nil {
		panic(err)
	}
	document, err = openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		panic(err)
	}
	document.Servers = nil // relative to wherever it is served; the router wants paths alone
	closed := false
	for name, ref := range document.Components.Schemas {
		if name != "OpenAPIDocument" && ref.Value.Type.Is("object") {
			ref.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: &closed}
		}
	}
	if router, err = legacy.NewRouter(document); err != nil {
		panic(err)
	}
	code := m.Run()
	if code == 0 && !someTestsOnly() {
		if missing := unexercised(); len(missing) > 0 {
			fmt.Println("documented answers that no test has seen:", strings.Join(missing, ", "))
			code = 1
		}
	}
	os.Exit(code)
}

// someTestsOnly tells whether -run or -fuzz chose among the tests.
func someTestsOnly() bool {
	for _, arg := range os.Args {
		if strings.HasPrefix(arg, "-test.run=") || strings.HasPrefix(arg, "-test.fuzz=") || strings.HasPrefix(arg, "-test.bench=") {
			return true
		}
	}
	return false
}

// elsewhere are documented answers that need more than this package: suspended
// keys are refused by whoever authorizes, failures are answered by the server.
var elsewhere = []string{"403", "500"}

func unexercised() []string {
	var missing []string
	for path, item := range document.Paths.Map() {
		for status := range item.Get.Responses.Map() {
			if key := item.Get.OperationID + " " + status; !exercised.seen[key] && !slices.Contains(elsewhere, status) {
				missing = append(missing, path+" "+status)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// A service is the API over one catalogue, on a real listener.
type service struct {
	t    *testing.T
	url  string
	live *snapshot.Snapshot
}

func serve(t *testing.T, c *catalog.Catalog) *service {
	t.Helper()
	return serveCounting(t, c, nil)
}

// serveCounting counts requests, each caller's against the quota of its tier.
func serveCounting(t *testing.T, c *catalog.Catalog, meter *quota.Meter) *service {
	t.Helper()
	c.Sort()
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-01")
	s := &service{t: t, live: snapshot.Build(c, 1, "2026-11-02")}
	handler := api.New(api.Config{
		Meter:    meter,
		Snapshot: func() *snapshot.Snapshot { return s.live },
		Callers:  web.AuthorizerFunc(authorize),
	})
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// authorize accepts two keys, and cannot look up a third one.
func authorize(_ context.Context, r *http.Request) (web.Caller, error) {
	switch r.Header.Get("Authorization") {
	case "":
		return web.Caller{}, nil
	case "good":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Free, Account: "acc_1"}}, nil
	case "pro":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Pro, Account: "acc_2"}}, nil
	case "unreachable":
		return web.Caller{}, web.KeyError(errors.New("the store is unreachable"))
	}
	return web.Caller{}, web.KeyError(account.ErrInvalidKey)
}

// A reply is an answer with its body decoded.
type reply struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	raw    []byte // as it came
	body   []byte // without its content coding
}

// get asks for a path; headers are "Name: value" lines.
func (s *service) get(path string, headers ...string) *reply {
	s.t.Helper()
	return s.do("GET", path, headers...)
}

var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (s *service) do(method, path string, headers ...string) *reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := &reply{t: s.t, what: method + " " + path, status: resp.StatusCode, header: resp.Header, raw: raw, body: raw}
	r.decode()
	r.checkCommon()
	if method == "GET" {
		r.checkAgainstDocument(s.t.Context(), req)
	}
	return r
}

func (r *reply) decode() {
	r.t.Helper()
	var from io.Reader
	var err error
	switch coding := r.header.Get("Content-Encoding"); coding {
	case "":
		return
	case "gzip":
		from, err = gzip.NewReader(bytes.NewReader(r.raw))
	case "br":
		from = brotli.NewReader(bytes.NewReader(r.raw))
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(r.raw)); err == nil {
			defer z.Close()
		}
		from = z
	default:
		r.t.Fatalf("%s: content coding %q", r.what, coding)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if len(r.raw) == 0 {
		return // HEAD, 304
	}
	if r.body, err = io.ReadAll(from); err != nil {
		r.t.Fatalf("%s: %v", r.what, err)
	}
}

// checkCommon holds what is true of every answer under /api, whatever it is.
func (r *reply) checkCommon() {
	r.t.Helper()
	r.is("Access-Control-Allow-Origin", "*")
	r.is("Vary", "Authorization, Accept-Encoding")
	if !catalog.IsDate(r.header.Get("X-Service-Updated-At")) {
		r.t.Errorf("%s: X-Service-Updated-At: %q", r.what, r.header.Get("X-Service-Updated-At"))
	}
	for _, name := range []string{"X-Total-Count", "X-Service-Updated-At", "X-RateLimit-Tier", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy", "Retry-After", "ETag", "Link"} {
		if !slices.Contains(strings.Split(r.header.Get("Access-Control-Expose-Headers"), ", "), name) {
			r.t.Errorf("%s: %s is not exposed", r.what, name)
		}
	}
	cache := map[int]string{
		200: "s-maxage=3600, stale-while-revalidate=86400", 304: "s-maxage=3600, stale-while-revalidate=86400",
		308: "s-maxage=3600, stale-while-revalidate=86400", 404: "s-maxage=60", 204: "",
	}
	want, ok := cache[r.status]
	if !ok {
		want = "no-store"
	}
	r.is("Cache-Control", want)
	if r.status >= 400 && len(r.body) > 0 {
		var e struct{ Error, Code string }
		if err := json.Unmarshal(r.body, &e); err != nil || e.Error == "" || e.Code == "" {
			r.t.Errorf("%s: %d with the body %q", r.what, r.status, r.body)
		} else if want := web.Code(e.Code).Info().Status; r.status != want {
			r.t.Errorf("%s: %d, but the table of codes has %d for %s", r.what, r.status, want, e.Code)
		}
		r.is("Content-Type", "application/json")
	}
}

func (r *reply) checkAgainstDocument(ctx context.Context, req *http.Request) {
	r.t.Helper()
	route, params, err := router.FindRoute(req)
	if err != nil || strings.HasSuffix(req.URL.Path, "/") || req.URL.RawPath != "" { // the router overlooks a last slash and %2F
		if r.status < 400 {
			r.t.Errorf("%s: %d, but the document has no such path", r.what, r.status)
		}
		return
	}
	exercised.Lock()
	exercised.seen[route.Operation.OperationID+" "+fmt.Sprint(r.status)] = true
	exercised.Unlock()
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 r.status,
		Header:                 r.header,
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	input.SetBodyBytes(r.body)
	if err := openapi3filter.ValidateResponse(ctx, input); err != nil {
		r.t.Errorf("%s: the answer is not the documented one: %v", r.what, err)
	}
}

func (r *reply) is(header, want string) *reply {
	r.t.Helper()
	if got := strings.Join(r.header.Values(header), " | "); got != want {
		r.t.Errorf("%s: %s is %q, not %q", r.what, header, got, want)
	}
	return r
}

func (r *reply) ok() *reply {
	r.t.Helper()
	if r.status != 200 {
		r.t.Fatalf("%s: %d %s", r.what, r.status, r.body)
	}
	return r
}

// fails checks an error: its status, its code, and words its sentence must have.
func (r *reply) fails(status int, code string, words ...string) *reply {
	r.t.Helper()
	var e struct{ Error, Code string }
	if err := json.Unmarshal(r.body, &e); err != nil {
		r.t.Fatalf("%s: %d %s", r.what, r.status, r.body)
	}
	if r.status != status || e.Code != code {
		r.t.Errorf("%s: %d %s, not %d %s", r.what, r.status, r.body, status, code)
	}
	for _, w := range words {
		if !strings.Contains(e.Error, w) {
			r.t.Errorf("%s: %q does not say %q", r.what, e.Error, w)
		}
	}
	return r
}

// slugs of the elements of data, in order.
func (r *reply) slugs() []string {
	r.t.Helper()
	var list struct{ Data []struct{ Slug string } }
	r.into(&list)
	got := []string{}
	for _, d := range list.Data {
		got = append(got, d.Slug)
	}
	return got
}

func (r *reply) lists(want ...string) *reply {
	r.t.Helper()
	r.ok()
	if got := r.slugs(); !slices.Equal(got, want) {
		r.t.Errorf("%s lists\n%v, not\n%v", r.what, got, want)
	}
	return r
}

func (r *reply) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		r.t.Fatalf("%s: %v in %s", r.what, err, r.body)
	}
}

func (r *reply) exactly(want string) *reply {
	r.t.Helper()
	if string(r.body) != want {
		r.t.Errorf("%s:\n%s\nnot\n%s", r.what, r.body, want)
	}
	return r
}
