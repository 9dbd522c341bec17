package webhookapi_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/keyring"
	"palmares/internal/keyring/keyringtest"
	"palmares/internal/store"
	"palmares/internal/testkit"
	"palmares/internal/web"
	"palmares/internal/webhook"
	"palmares/internal/webhookapi"
)

// described is the served OpenAPI document made strict: a field that it does not
// name is an error. exercised collects which of its answers the tests have seen.
var (
	described *openapi3.T
	router    routers.Router
	exercised = struct {
		sync.Mutex
		seen map[string]bool
	}{seen: map[string]bool{}}
)

func TestMain(m *testing.M) {
	var err error
	if described, err = openapi3.NewLoader().LoadFromData(webhookapi.Document()); err != nil {
		panic(err)
	}
	described.Servers = nil // relative to wherever it is served; the router wants paths alone
	closed := false
	for name, ref := range described.Components.Schemas {
		if name != "OpenAPIDocument" && ref.Value.Type.Is("object") {
			ref.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: &closed}
		}
	}
	if router, err = legacy.NewRouter(described); err != nil {
		panic(err)
	}
	code := testkit.Run(m)
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
	return slices.ContainsFunc(os.Args, func(arg string) bool {
		return strings.HasPrefix(arg, "-test.run=") || strings.HasPrefix(arg, "-test.fuzz=") || strings.HasPrefix(arg, "-test.bench=")
	})
}

func unexercised() []string {
	var missing []string
	for path, item := range described.Paths.Map() {
		for method, op := range item.Operations() {
			for status := range op.Responses.Map() {
				if !exercised.seen[op.OperationID+" "+status] {
					missing = append(missing, method+" "+path+" "+status)
				}
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// sunday is when every test begins.
var sunday = time.Date(2026, 11, 15, 9, 30, 0, 250_000_000, time.UTC)

// A service is the interface over a real store, on a real listener.
type service struct {
	t      testing.TB
	url    string
	store  *store.Store
	sealer webhook.Sealer
	key    string       // Ada's, on the plan Pro
	foe    string       // Bob's, on the plan Pro too
	now    atomic.Int64 // milliseconds
	away   atomic.Bool  // keys cannot be looked up
	woken  atomic.Int64 // how often something was said to be due
	keys   *keyring.Keyring
	log    *bytes.Buffer // read it only when nothing is being asked
}

// each runs a test over an empty store of both kinds; allow are networks that are
// opened.
func each(t *testing.T, test func(t *testing.T, s *service), allow ...string) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, serve(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"), allow...))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, serve(t, testkit.Postgres(t), allow...))
	})
}

func serve(t testing.TB, dsn string, allow ...string) *service {
	t.Helper()
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &service{t: t, store: st, log: &bytes.Buffer{}}
	s.now.Store(sunday.UnixMilli())
	if s.sealer, err = webhook.ParseKeys(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, webhook.KeySize))); err != nil {
		t.Fatal(err)
	}
	s.keys = keyring.New(keyringtest.Store{Find: func(ctx context.Context, hash [sha256.Size]byte) (account.Key, error) {
		if s.away.Load() {
			return account.Key{}, errors.New("the store is away")
		}
		// A machine that is busy with other tests may need longer than a caller waits.
		return st.Keys.ByHash(context.WithoutCancel(ctx), hash)
	}}, s.clock)
	s.key, s.foe = s.newKey("ada@example.org", account.Pro), s.newKey("bob@example.org", account.Pro)
	var networks []netip.Prefix
	for _, a := range allow {
		networks = append(networks, netip.MustParsePrefix(a))
	}
	srv := httptest.NewServer(webhookapi.New(webhookapi.Config{
		Store: st, Keys: s.keys, Sealer: s.sealer, Allow: networks, Now: s.clock, Log: slog.New(slog.NewJSONHandler(s.log, nil)),
		Wake: func() { s.woken.Add(1) },
	}))
	t.Cleanup(func() {
		srv.Close()
		if t.Failed() && s.log.Len() > 0 {
			t.Logf("the log:\n%s", s.log)
		}
	})
	s.url = srv.URL
	return s
}

func (s *service) clock() time.Time { return time.UnixMilli(s.now.Load()).UTC() }

func (s *service) pass(d time.Duration) { s.now.Add(d.Milliseconds()) }

// newKey makes a key, and its account if that has none.
func (s *service) newKey(email string, plan account.Plan) string {
	s.t.Helper()
	if _, err := s.store.Accounts.Create(s.t.Context(), email, plan, s.clock()); err != nil && !errors.Is(err, store.ErrAccountExists) {
		s.t.Fatal(err)
	}
	key, _, err := s.store.Keys.Create(s.t.Context(), email, "essai", s.clock())
	if err != nil {
		s.t.Fatal(err)
	}
	return key
}

// publish makes the tools named, by slug and price, the whole catalogue.
func (s *service) publish(tools ...string) {
	s.t.Helper()
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}
	for i := 0; i < len(tools); i += 2 {
		c.Tools = append(c.Tools, catalog.Tool{
			Slug: tools[i], Name: "Outil <é>", Domain: tools[i] + ".example", Category: "code", ICP: "mixte", Pricing: "payant", Price: tools[i+1], Tagline: "Un outil", Tier: 3,
		})
	}
	c.Sort()
	if _, err := s.store.Catalogue.Publish(s.t.Context(), c, store.PublishOptions{Now: s.clock()}); err != nil {
		s.t.Fatal(err)
	}
}

// create makes an endpoint of Ada's and gives its id and its secret.
func (s *service) create(body string) (id, secret string) {
	s.t.Helper()
	var e struct{ ID, Secret string }
	s.do("POST", "/webhooks/v1/endpoints", body).has(201).into(&e)
	return e.ID, e.Secret
}

// attempt takes what is due and settles it as the verdict has it.
func (s *service) attempt(v webhook.Verdict) {
	s.t.Helper()
	claims, err := s.store.Deliveries.Claim(s.t.Context(), s.clock(), webhook.Lease, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(claims) == 0 {
		s.t.Fatal("nothing is due")
	}
	for _, c := range claims {
		v.Attempt.Number, v.Attempt.At = c.Attempt, s.clock()
		if err := s.store.Deliveries.Finish(s.t.Context(), c, v); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A reply is an answer.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
}

func (s *service) get(path string) *reply {
	s.t.Helper()
	return s.do("GET", path, "")
}

// do asks with Ada's key.
func (s *service) do(method, path, body string) *reply {
	s.t.Helper()
	return s.ask(method, path, body, "Authorization: Bearer "+s.key)
}

// ask sends a request; headers are "Name: value" lines. A body is JSON unless they
// say otherwise.
func (s *service) ask(method, path, body string, headers ...string) *reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Content-Type" {
			req.Header.Del(name)
		}
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // no redirect is followed
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := &reply{t: s.t, what: method + " " + path, status: resp.StatusCode, header: resp.Header, body: raw}
	r.checkCommon(method)
	req.Body = io.NopCloser(strings.NewReader(body))
	r.checkAgainstDocument(s.t.Context(), req)
	return r
}

// checkCommon holds what is true of every answer under /webhooks, whatever it is.
func (r *reply) checkCommon(method string) {
	r.t.Helper()
	r.is("Cache-Control", "no-store")
	for name := range r.header {
		if strings.HasPrefix(name, "Access-Control-") || strings.Contains(strings.ToLower(name), "ratelimit") {
			r.t.Errorf("%s: the answer has %s", r.what, name)
		}
	}
	if r.status == http.StatusNoContent || method == http.MethodHead {
		return
	}
	r.is("Content-Type", "application/json")
	if r.status >= 400 {
		var e struct{ Error, Code string }
		if err := json.Unmarshal(r.body, &e); err != nil || e.Error == "" || e.Code == "" {
			r.t.Errorf("%s: %d with the body %q", r.what, r.status, r.body)
		} else if want := web.Code(e.Code).Info().Status; r.status != want {
			r.t.Errorf("%s: %d, but the table of codes has %d for %s", r.what, r.status, want, e.Code)
		}
		for _, bad := range []string{" :", " ;", " !", " ?", "« ", " »", "'"} {
			if strings.Contains(e.Error, bad) {
				r.t.Errorf("%s: %q holds %q, which is not French typography", r.what, e.Error, bad)
			}
		}
	}
}

// checkAgainstDocument wants answers to be as described and, where they are good
// ones, requests too.
func (r *reply) checkAgainstDocument(ctx context.Context, req *http.Request) {
	r.t.Helper()
	route, params, err := router.FindRoute(req)
	// The router overlooks a last slash and %2F, and takes no id for an empty one.
	if err != nil || strings.HasSuffix(req.URL.Path, "/") || req.URL.RawPath != "" || strings.HasSuffix(route.Path, "{id}") && params["id"] == "" {
		if r.status < 400 && req.Method != http.MethodHead {
			r.t.Errorf("%s: %d, but the document has no such operation", r.what, r.status)
		}
		return
	}
	exercised.Lock()
	exercised.seen[route.Operation.OperationID+" "+fmt.Sprint(r.status)] = true
	exercised.Unlock()
	request := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true},
	}
	if r.status < 300 {
		if err := openapi3filter.ValidateRequest(ctx, request); err != nil {
			r.t.Errorf("%s: %d, but the document does not allow the request: %v", r.what, r.status, err)
		}
	}
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request, Status: r.status, Header: r.header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	answer.SetBodyBytes(r.body)
	if err := openapi3filter.ValidateResponse(ctx, answer); err != nil {
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

func (r *reply) has(status int) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: %d %s", r.what, r.status, r.body)
	}
	return r
}

// fails checks an error: its status, its code, its param, and words its sentence
// must have.
func (r *reply) fails(status int, code, param string, words ...string) *reply {
	r.t.Helper()
	var e struct{ Error, Code, Param string }
	r.into(&e)
	if r.status != status || e.Code != code || e.Param != param {
		r.t.Errorf("%s: %d %s, not %d %s %s", r.what, r.status, r.body, status, code, param)
	}
	for _, w := range words {
		if !strings.Contains(e.Error, w) {
			r.t.Errorf("%s: %q does not say %q", r.what, e.Error, w)
		}
	}
	return r
}

func (r *reply) into(v any) *reply {
	r.t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		r.t.Fatalf("%s: %v in %d %s", r.what, err, r.status, r.body)
	}
	return r
}

// next is the page that the Link header leads to, "" when there is none.
func (r *reply) next() string {
	r.t.Helper()
	link := r.header.Get("Link")
	if link == "" {
		return ""
	}
	ref, ok := strings.CutSuffix(link, `>; rel="next"`)
	if !ok || ref[0] != '<' {
		r.t.Fatalf("%s: Link: %s", r.what, link)
	}
	return ref[1:]
}
