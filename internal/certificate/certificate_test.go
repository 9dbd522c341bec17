package certificate_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"palmares/internal/certificate"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/webhook"
)

func newSealer(t *testing.T, keys string) webhook.Sealer {
	t.Helper()
	sealer, err := webhook.ParseKeys(keys)
	if err != nil {
		t.Fatal(err)
	}
	return sealer
}

const (
	oldKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	key    = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
)

func openStore(t *testing.T) certificate.Store {
	t.Helper()
	db, err := testdb.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db.Certificates
}

func TestWhicheverNodeIsAskedProvesTheDomainByHTTPOrByTLS(t *testing.T) {
	a := testkit.NewAuthority(t)
	t.Setenv("SSL_CERT_FILE", a.Root)
	store, sealer := openStore(t), newSealer(t, key)
	cfg := certificate.Config{
		Domains: []string{"catalogue.example"}, Base: "https://catalogue.example", Directory: a.Directory, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	asked, orders := certificate.New(cfg), certificate.New(cfg)
	asked.Open(store, sealer)
	orders.Open(store, sealer)
	for i, serve := range []func(){
		func() {
			l := listen(t, a.Plain)
			go func() { _ = http.Serve(l, asked.Plain()) }() // until it is closed
		},
		func() {
			l := tls.NewListener(listen(t, a.Secure), asked.TLS())
			go func() { _ = http.Serve(l, http.NotFoundHandler()) }()
		},
	} {
		t.Run(certificate.Ways[i], func(t *testing.T) {
			serve()
			if err := orders.Order(t.Context(), "catalogue.example"); err != nil {
				t.Fatal(err)
			}
			if err := asked.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !asked.Expiry().After(time.Now()) || a.Issued() != i+1 {
				t.Errorf("it expires on %v, %d were issued", asked.Expiry(), a.Issued())
			}
		})
	}
}

// listen listens until the test ends.
func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestStrangersAskTheDatabaseOnceASecond(t *testing.T) {
	store := &countingStore{Store: openStore(t)}
	m := certificate.New(certificate.Config{Domains: []string{"catalogue.example"}, Log: slog.New(slog.DiscardHandler)})
	m.Open(store, newSealer(t, key))
	handler := m.Plain()
	for range 1000 {
		r := httptest.NewRequest(http.MethodGet, "http://catalogue.example"+certificate.ProofPath+"invented", nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusNotFound {
			t.Fatalf("the response is %d", w.Code)
		}
	}
	if store.reads > 20 { // a slow machine takes some seconds
		t.Errorf("the database was asked %d times", store.reads)
	}
}

func TestOrdersWaitLongerAfterEachFailureAndOneNodeOrdersAtATime(t *testing.T) {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		last    certificate.Order
		started bool
		want    bool
	}{
		{certificate.Order{}, false, true},
		{certificate.Order{Tried: now.Add(-time.Second), Failures: 1}, false, false},
		{certificate.Order{Tried: now.Add(-time.Minute), Failures: 1}, false, true},
		{certificate.Order{Tried: now.Add(-time.Hour), Failures: 100}, false, false},
		{certificate.Order{Tried: now.Add(-time.Hour), Failures: 100}, true, true},
		{certificate.Order{Tried: now.Add(-time.Minute), Failures: 2}, true, false},
		{certificate.Order{Tried: now.Add(-9 * time.Hour), Failures: 100}, false, true},
		{certificate.Order{Tried: now.Add(-time.Minute), ClaimedUntil: now.Add(time.Minute)}, true, false},
	} {
		if got := c.last.MayTry(now, c.started); got != c.want {
			t.Errorf("%+v, started %v: %v", c.last, c.started, got)
		}
	}
	store := openStore(t)
	one, err := store.Claim(t.Context(), "a.example", certificate.Order{}, now, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	two, err := store.Claim(t.Context(), "a.example", certificate.Order{}, now, now.Add(time.Minute))
	if err != nil || !one || two {
		t.Errorf("the first is %v, the second %v, %v", one, two, err)
	}
	if err := store.End(t.Context(), "a.example", false); err != nil {
		t.Fatal(err)
	}
	last, err := store.LastOrder(t.Context(), "a.example")
	if err != nil || last.Failures != 1 || !last.Tried.Equal(now) || !last.ClaimedUntil.IsZero() {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestAFormerKeyOpensWhatItSealedAndTheNewOneSealsIt(t *testing.T) {
	store := openStore(t)
	v := certificate.New(certificate.Config{})
	v.Open(store, newSealer(t, oldKey))
	if err := v.Put(t.Context(), "certificate a.example", "secret"); err != nil {
		t.Fatal(err)
	}
	v.Open(store, newSealer(t, key))
	if _, err := v.Get(t.Context(), "certificate a.example"); err == nil {
		t.Error("another key opens it")
	}
	for _, keys := range []string{key + "," + oldKey, key} {
		v.Open(store, newSealer(t, keys))
		if got, err := v.Get(t.Context(), "certificate a.example"); got != "secret" || err != nil {
			t.Errorf("with %d keys: %q, %v", len(keys)/44, got, err)
		}
	}
}

// A countingStore counts how often it is read.
type countingStore struct {
	certificate.Store
	reads int
}

func (s *countingStore) Get(ctx context.Context, name string) (string, error) {
	s.reads++
	return s.Store.Get(ctx, name)
}
