package certificate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
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

// databases are migrated ones.
var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

func openStore(t *testing.T) certificate.Store {
	t.Helper()
	return databases.OpenDSN(t, databases.SQLite(t)).Certificates
}

// newNode returns the manager of a node, which trusts an authority.
func newNode(
	t *testing.T, a *testkit.Authority, store certificate.Store, now func() time.Time, log io.Writer,
) *certificate.Manager {
	t.Helper()
	m := certificate.New(certificate.Config{
		Domains: []string{"catalogue.example"}, Base: "https://catalogue.example", Directory: a.Directory, Now: now,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	m.Trust(a.Roots)
	m.Open(store, newSealer(t, key))
	return m
}

func TestWhicheverNodeIsAskedProvesTheDomainByHTTPOrByTLS(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	store := openStore(t)
	asked, orders := newNode(t, a, store, time.Now, io.Discard), newNode(t, a, store, time.Now, io.Discard)
	for i, begin := range []func(){
		func() {
			serve(t, listen(t, a.Plain), asked.Plain())
		},
		func() {
			serve(t, tls.NewListener(listen(t, a.Secure), asked.TLS()), http.NotFoundHandler())
		},
	} {
		t.Run(certificate.Ways[i], func(t *testing.T) {
			begin()
			if err := orders.Order(t.Context(), "catalogue.example"); err != nil {
				t.Fatal(err)
			}
			if err := asked.Load(t.Context(), "catalogue.example"); err != nil {
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

// serve serves until the listener is closed.
func serve(t *testing.T, l net.Listener, handler http.Handler) {
	t.Helper()
	quiet := log.New(io.Discard, "", 0) // handshakes fail while there is no certificate
	go func() { _ = (&http.Server{Handler: handler, ErrorLog: quiet}).Serve(l) }()
}

func TestAnAuthorityThatIsAwayForAWeekIsAskedRarelyAndNobodyNotices(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		a := testkit.NewAuthority(t)
		clock, log := testkit.NewClock(time.Now()), &testkit.Log{}
		nodes := make([]*certificate.Manager, 2)
		for i := range nodes {
			nodes[i] = newNode(t, a, db.Certificates, clock.Now, log)
		}
		serve(t, listen(t, a.Plain), nodes[1].Plain())
		look := func(started bool) {
			for _, n := range nodes {
				n.Look(t.Context(), db.Certificates, started)
			}
			clock.Advance(30 * time.Minute)
		}
		look(true)
		first := nodes[0].Expiry()
		if first.IsZero() || !nodes[1].Expiry().Equal(first) || a.Issued() != 1 {
			t.Fatalf("%d were issued: %s", a.Issued(), log)
		}

		address := listen(t, "127.0.0.1:0")
		serve(t, tls.NewListener(address, nodes[0].TLS()), http.NotFoundHandler())
		ctx, stop := context.WithCancel(t.Context())
		greeted := make(chan int)
		go func() { greeted <- greet(ctx, t, address.Addr().String(), clock.Now) }()

		a.Stop()
		clock.Set(first.AddDate(0, 0, -30))
		for end := clock.Now().AddDate(0, 0, 7); clock.Now().Before(end); {
			look(false)
		}
		if n := log.Count("cannot be reached: check the network"); n < 7*24/8 || n > 7*24/8+5 { // every eight hours in the end
			t.Errorf("it was tried %d times: %s", n, log)
		}
		a.Validity *= 2 // it counts from today, unlike the clock
		a.Start()
		for end := clock.Now().Add(8*time.Hour + time.Minute); clock.Now().Before(end); {
			look(false)
		}
		stop()
		t.Logf("%d handshakes, all with a valid certificate", <-greeted)
		for i, n := range nodes {
			if !n.Expiry().After(first) || a.Issued() != 2 {
				t.Errorf("node %d: its certificate expires on %s; %d were issued: %s", i, n.Expiry(), a.Issued(), log)
			}
		}
	})
}

// greet connects to a server until ctx ends, expects a certificate that is valid by a clock, and
// returns how often it did.
func greet(ctx context.Context, t *testing.T, address string, now func() time.Time) (n int) {
	dialer := tls.Dialer{Config: &tls.Config{
		ServerName: "catalogue.example", InsecureSkipVerify: true, // its time is another one
	}}
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for ; ctx.Err() == nil; <-pace.C {
		c, err := dialer.DialContext(context.WithoutCancel(ctx), "tcp", address)
		if err != nil {
			t.Error(err)
			return n
		}
		if shown := c.(*tls.Conn).ConnectionState().PeerCertificates[0]; !now().Before(shown.NotAfter) {
			t.Errorf("a certificate that expired on %s was shown", shown.NotAfter)
		}
		c.Close()
		n++
	}
	return n
}

func TestNoCertificateIsOrderedAgainAndAgainByAClockThatIsWrong(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	clock, log := testkit.NewClock(time.Now().AddDate(1, 0, 0)), &testkit.Log{}
	store := openStore(t)
	node := newNode(t, a, store, clock.Now, log)
	serve(t, listen(t, a.Plain), node.Plain())
	for range 60 {
		node.Look(t.Context(), store, false)
		clock.Advance(time.Minute)
	}
	if n := log.Count("check this machine's clock"); n != a.Issued() || n != 3 {
		t.Errorf("%d were issued within an hour: %s", a.Issued(), log)
	}
}

func TestWhatIsWrongWithTheDirectoryIsSaidInASentence(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<!doctype html>")) })
	object := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	for _, c := range []struct {
		name     string
		handler  http.Handler
		from     time.Duration // when its certificate is valid, for a day
		host     string
		trusted  bool
		sentence string
	}{
		{"another path", http.NotFoundHandler(), 0, "127.0.0.1", true, "is no directory of an authority: correct --acme-directory"},
		{"a page", page, 0, "127.0.0.1", true, "is no directory of an authority: correct --acme-directory"},
		{"an object", object, 0, "127.0.0.1", true, "is no directory of an authority: correct --acme-directory"},
		{"another name", page, 0, "localhost", true, "certificate of another name: correct --acme-directory"},
		{"a stranger", page, 0, "127.0.0.1", false, "add its root to the machine's certificates"},
		{"a clock ahead", page, -365 * 24 * time.Hour, "127.0.0.1", true, "check this machine's clock"},
		{"a clock behind", page, 365 * 24 * time.Hour, "127.0.0.1", true, "check this machine's clock"},
		{"nobody", nil, 0, "127.0.0.1", true, "cannot be reached: check the network and --acme-directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			own, roots := testkit.NewRoot(t, time.Now().Add(c.from-time.Hour))
			l := listen(t, "127.0.0.1:0")
			_, port, err := net.SplitHostPort(l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if c.handler != nil {
				serve(t, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{own}}), c.handler)
			} else {
				l.Close()
			}
			if !c.trusted {
				roots = x509.NewCertPool()
			}
			m := certificate.New(certificate.Config{
				Domains: []string{"catalogue.example"}, Directory: "https://" + net.JoinHostPort(c.host, port) + "/dir",
			})
			m.Trust(roots)
			m.Open(store, newSealer(t, key))
			failure := m.Order(t.Context(), "catalogue.example")
			if failure == nil || !strings.Contains(m.Explain(failure, "catalogue.example"), c.sentence) {
				t.Errorf("%v is explained as %q", failure, m.Explain(failure, "catalogue.example"))
			}
		})
	}
}

func TestACertificateThatAnotherKeySealedIsNotReplaced(t *testing.T) {
	t.Parallel()
	store, log := openStore(t), &testkit.Log{}
	m := certificate.New(certificate.Config{
		Domains: []string{"catalogue.example"}, Directory: "https://127.0.0.1:1/dir", Now: time.Now,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	m.Open(store, newSealer(t, oldKey))
	if err := m.Put(t.Context(), "certificate catalogue.example", "secret"); err != nil {
		t.Fatal(err)
	}
	m.Open(store, newSealer(t, key))
	m.Look(t.Context(), store, true)
	if !log.Contains("which is not in --secret-key: add the previous key") || log.Contains("authority") {
		t.Errorf("it says %s", log)
	}
}

func TestAnOrderThatTheEndOfAServerCutsOffIsNoFailure(t *testing.T) {
	t.Parallel()
	own, roots := testkit.NewRoot(t, time.Now().Add(-time.Hour))
	asked, stopped, ended := make(chan bool), make(chan bool), make(chan bool)
	l := listen(t, "127.0.0.1:0")
	serve(t, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{own}}),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- true
			<-stopped
			http.NotFound(w, r)
		}))
	store := openStore(t)
	m := certificate.New(certificate.Config{
		Domains: []string{"catalogue.example"}, Directory: "https://" + l.Addr().String(), Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	})
	m.Trust(roots)
	m.Open(store, newSealer(t, key))
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		m.Look(ctx, store, true)
		close(ended)
	}()
	<-asked
	stop()
	close(stopped)
	<-ended
	last, err := store.LastOrder(t.Context(), "catalogue.example")
	if err != nil || last.Tried.IsZero() || last.Failures != 0 || !last.ClaimedUntil.IsZero() {
		t.Errorf("%+v, %v", last, err)
	}
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
		{certificate.Order{Tried: now.AddDate(1, 0, 0), ClaimedUntil: now.AddDate(1, 0, 1), Failures: 100}, false, true},
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
	if err := store.End(t.Context(), "a.example", 1); err != nil {
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
	v.Open(store, newSealer(t, oldKey))
	if err := v.Put(t.Context(), "account ", "secret"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Read(t.Context(), store, newSealer(t, key)); err == nil {
		t.Error("nothing is said of an account that another key sealed")
	}
	for _, keys := range []string{key + "," + oldKey, key} { // a server that starts reads it, long before it is needed
		if _, err := v.Read(t.Context(), store, newSealer(t, keys)); err != nil {
			t.Errorf("with %d keys: %v", len(keys)/44, err)
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
