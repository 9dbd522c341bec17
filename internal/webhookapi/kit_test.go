package webhookapi_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/keyring"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/testkit/keyringtest"
	"palmares/internal/testkit/testdb"
	"palmares/internal/vault"
	"palmares/internal/web"
	"palmares/internal/webhook"
	"palmares/internal/webhookapi"
)

// contract is the served document.
var contract = testkit.NewContract(webhookapi.Document())

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

func TestMain(m *testing.M) { os.Exit(contract.Run(m)) }

// startTime is what the clock of every test shows first.
var startTime = time.Date(2026, 11, 15, 9, 30, 0, 250_000_000, time.UTC)

// A service is the API over a real store, on a real listener.
type service struct {
	t           testing.TB
	url         string
	store       *testdb.DB
	sealer      vault.Sealer
	key         string       // Ada's, on the Pro plan
	otherKey    string       // Bob's, on the Pro plan
	now         atomic.Int64 // milliseconds
	lookupsFail atomic.Bool
	woken       atomic.Int64 // how often Wake was called
	keys        *keyring.Keyring
	log         *testkit.Log
}

// each runs a test over an empty store of both kinds; endpoints may be in the networks
// allow.
func each(t *testing.T, test func(t *testing.T, s *service), allow ...string) {
	t.Helper()
	databases.Each(t, func(t *testing.T, st *testdb.DB) { test(t, serve(t, st, allow...)) })
}

func serve(t testing.TB, st *testdb.DB, allow ...string) *service {
	t.Helper()
	s := &service{t: t, store: st, log: &testkit.Log{}}
	s.now.Store(startTime.UnixMilli())
	var err error
	if s.sealer, err = vault.ParseKeys(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, vault.KeySize))); err != nil {
		t.Fatal(err)
	}
	s.keys = keyring.New(keyringtest.Store{Find: func(ctx context.Context, hash [sha256.Size]byte) (account.Key, error) {
		if s.lookupsFail.Load() {
			return account.Key{}, errors.New("the store is unreachable")
		}
		// A machine that is busy with other tests may need longer than a caller waits.
		return st.Keys.ByHash(context.WithoutCancel(ctx), hash)
	}}, s.clock)
	s.key, s.otherKey = s.newKey("ada@example.org", account.Pro), s.newKey("bob@example.org", account.Pro)
	var networks []netip.Prefix
	for _, a := range allow {
		networks = append(networks, netip.MustParsePrefix(a))
	}
	srv := httptest.NewServer(webhookapi.New(webhookapi.Config{
		Store: st.AccountDB, Events: st.Events, Keys: s.keys, Sealer: s.sealer, Allow: networks, Now: s.clock, Log: slog.New(slog.NewJSONHandler(s.log, nil)),
		Wake: func() { s.woken.Add(1) }, BaseURL: "https://essai.example",
		Snapshot: func() *snapshot.Snapshot {
			return snapshot.Build(&catalog.Catalog{Name: "Essai", URL: "https://essai.example"}, 1, "2026-11-16")
		},
	}))
	t.Cleanup(func() {
		srv.Close()
		if t.Failed() && s.log.String() != "" {
			t.Logf("log:\n%s", s.log)
		}
	})
	s.url = srv.URL
	return s
}

func (s *service) clock() time.Time { return time.UnixMilli(s.now.Load()).UTC() }

func (s *service) advance(d time.Duration) { s.now.Add(d.Milliseconds()) }

// newKey creates a key, and its account if it does not exist.
func (s *service) newKey(email string, plan account.Plan) string {
	s.t.Helper()
	if _, err := s.store.Accounts.Create(s.t.Context(), email, plan, s.clock()); err != nil && !errors.Is(err, accountdb.ErrAccountExists) {
		s.t.Fatal(err)
	}
	key, _, err := s.store.Keys.Create(s.t.Context(), email, "essai", nil, s.clock())
	if err != nil {
		s.t.Fatal(err)
	}
	return key
}

// publish publishes a catalogue of tools, given as slug, price, slug, price…
func (s *service) publish(tools ...string) {
	s.t.Helper()
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}
	for i := 0; i < len(tools); i += 2 {
		c.Tools = append(c.Tools, &catalog.Tool{
			Slug: tools[i], Name: "Outil <é>", Domain: tools[i] + ".example", Category: "code", ICP: "mixte", Pricing: "payant", Price: tools[i+1], Tagline: "Un outil", Tier: 3,
		})
	}
	c.Sort()
	if _, err := s.store.Catalogue.Publish(s.t.Context(), c, catalogdb.PublishOptions{Now: s.clock}); err != nil {
		s.t.Fatal(err)
	}
}

// create creates an endpoint of Ada's and returns its id and secret.
func (s *service) create(body string) (id, secret string) {
	s.t.Helper()
	var e struct{ ID, Secret string }
	s.do("POST", "/webhooks/v1/endpoints", body).Is(201).Into(&e)
	return e.ID, e.Secret
}

// attempt claims the deliveries that are due and finishes them with a verdict.
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

func (s *service) get(path string) *testkit.Reply {
	s.t.Helper()
	return s.do("GET", path, "")
}

// do sends a request with Ada's key.
func (s *service) do(method, path, body string) *testkit.Reply {
	s.t.Helper()
	return s.ask(method, path, body, "Authorization: Bearer "+s.key)
}

// ask sends a request; headers are "Name: value" lines. A body is JSON unless they
// say otherwise.
func (s *service) ask(method, path, body string, headers ...string) *testkit.Reply {
	s.t.Helper()
	if body != "" && !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Content-Type: ") }) {
		headers = append(headers, "Content-Type: application/json")
	}
	s.remember(headers)
	r := testkit.Send(s.t, testkit.NewRequest(s.t, method, s.url+path, body, headers...))
	checkCommon(r)
	contract.Check(r, body)
	return r
}

// remember looks up Ada's and Bob's keys before a request needs them: a machine that is
// busy with other tests may take longer than a caller waits.
func (s *service) remember(headers []string) {
	s.t.Helper()
	for _, key := range []string{s.key, s.otherKey} {
		if !s.lookupsFail.Load() && slices.Contains(headers, "Authorization: Bearer "+key) {
			_, _ = s.keys.Check(s.t.Context(), key, netip.MustParsePrefix("127.0.0.1/32")) // the answer to the request says what is wrong
		}
	}
}

// checkCommon checks what is true of every answer under /webhooks, whatever it is.
func checkCommon(r *testkit.Reply) {
	r.T.Helper()
	if r.Request.Method != http.MethodOptions || r.Status != http.StatusNoContent { // which no cache keeps
		r.HasHeader("Cache-Control", "no-store")
	}
	for name := range r.Header {
		isOpen := r.Request.URL.Path == "/webhooks/v1/openapi.json"
		if strings.HasPrefix(name, "Access-Control-") && !isOpen || strings.Contains(strings.ToLower(name), "ratelimit") {
			r.T.Errorf("%s: the answer has %s", r, name)
		}
	}
	if r.Status == http.StatusNoContent || r.Request.Method == http.MethodHead {
		return
	}
	r.HasHeader("Content-Type", "application/json")
	if r.Status >= 400 {
		var e struct{ Error, Code string }
		if r.Into(&e); e.Error == "" || e.Code == "" {
			r.T.Errorf("%s: %d with the body %q", r, r.Status, r.Body)
		} else if want := web.Code(e.Code).Info().Status; r.Status != want {
			r.T.Errorf("%s: %d, but the table of codes has %d for %s", r, r.Status, want, e.Code)
		}
		for _, bad := range []string{" :", " ;", " !", " ?", "« ", " »", "'"} {
			if strings.Contains(e.Error, bad) {
				r.T.Errorf("%s: %q contains %q, which is not French typography", r, e.Error, bad)
			}
		}
	}
}

// nextPage returns the path of the next page from the Link header, "" without one.
func nextPage(r *testkit.Reply) string {
	r.T.Helper()
	link := r.Header.Get("Link")
	if link == "" {
		return ""
	}
	ref, ok := strings.CutSuffix(link, `>; rel="next"`)
	if !ok || ref[0] != '<' {
		r.T.Fatalf("%s: Link: %s", r, link)
	}
	return ref[1:]
}
