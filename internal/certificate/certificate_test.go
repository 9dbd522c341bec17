package certificate_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/certificate"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/vault"
)

func newSealer(t *testing.T, keys string) vault.Sealer {
	t.Helper()
	sealer, err := vault.ParseKeys(keys)
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
	return databases.OpenDSN(t, databases.SQLite(t)).Certificates.Sealed(newSealer(t, key))
}

// domain is the one that certificates are for.
const domain = "catalogue.example"

// newNode returns the manager of a node, which trusts the authority of a directory.
func newNode(
	t *testing.T, directory string, roots *x509.CertPool, store certificate.Store, now func() time.Time, log io.Writer,
) *certificate.Manager {
	t.Helper()
	m := certificate.New(certificate.Config{
		Domains: []string{domain}, Base: "https://" + domain, Directory: directory, Now: now,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	m.Trust(roots)
	if _, err := m.Open(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhicheverNodeIsAskedProvesTheDomainByHTTPOrByTLS(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	for way, serves := range map[string]func(*testing.T, *certificate.Manager){
		"HTTP": func(t *testing.T, m *certificate.Manager) { serve(t, listen(t, a.Plain), m.Plain()) },
		"TLS": func(t *testing.T, m *certificate.Manager) {
			serve(t, tls.NewListener(listen(t, a.Secure), m.TLS()), http.NotFoundHandler())
		},
	} {
		t.Run(way, func(t *testing.T) {
			store, log, before := openStore(t), &testkit.Log{}, a.Issued()
			asked := newNode(t, a.Directory, a.Roots, store, time.Now, log)
			serves(t, asked)
			newNode(t, a.Directory, a.Roots, store, time.Now, log).Look(t.Context(), true)
			expiry, err := asked.Open(t.Context(), store)
			if err != nil || !expiry.After(time.Now()) || a.Issued() != before+1 {
				t.Errorf("it expires on %v, %d were issued, %v: %s", expiry, a.Issued()-before, err, log)
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
		store := db.Certificates.Sealed(newSealer(t, key))
		for i := range nodes {
			nodes[i] = newNode(t, a.Directory, a.Roots, store, clock.Now, log)
		}
		serve(t, listen(t, a.Plain), nodes[1].Plain())
		look := func(started bool) {
			for _, n := range nodes {
				n.Look(t.Context(), started)
			}
			clock.Advance(30 * time.Minute)
		}
		// A third node was killed while it ordered.
		o, err := store.Claim(t.Context(), domain, clock.Now(), clock.Now().Add(5*time.Minute))
		if err != nil || !o.Claimed {
			t.Fatalf("%+v, %v", o, err)
		}
		look(true)
		if a.Issued() != 0 || log.Count("a certificate is not ordered yet") != 2 {
			t.Errorf("%d were issued: %s", a.Issued(), log)
		}
		look(false)
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
		if n := log.Count("cannot be reached"); n < 7*24/2 || n > 7*24/2+5 { // every two hours in the end
			t.Errorf("it was tried %d times: %s", n, log)
		}
		a.Validity *= 2 // it counts from today, unlike the clock
		a.Start()
		for end := clock.Now().Add(2*time.Hour + time.Minute); clock.Now().Before(end); {
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
		ServerName: domain, InsecureSkipVerify: true, // its time is another one
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
	node := newNode(t, a.Directory, a.Roots, openStore(t), clock.Now, log)
	serve(t, listen(t, a.Plain), node.Plain())
	for range 30 {
		node.Look(t.Context(), false)
		clock.Advance(time.Minute)
	}
	if n := log.Count("check this machine's clock"); n != a.Issued() || n != 3 { // after 0, 1 and 16 minutes
		t.Errorf("%d were issued within half an hour: %s", a.Issued(), log)
	}
}

func TestWhyThereIsNoCertificateIsSaidInASentence(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	says := func(name, sentence, directory string, roots *x509.CertPool) {
		log, clock := &testkit.Log{}, testkit.NewClock(time.Now())
		newNode(t, directory, roots, store, clock.Now, log).Look(t.Context(), true)
		if !log.Contains(sentence) {
			t.Errorf("%s is explained as %s", name, log)
		}
		if err := store.End(t.Context(), domain, certificate.Order{}); err != nil {
			t.Fatal(err)
		}
	}
	a := testkit.NewAuthority(t)
	says("a domain elsewhere", "open ports 80 and 443 to the world", a.Directory, a.Roots)
	a.Stop()
	says("nobody", "cannot be reached", a.Directory, a.Roots)
	const year = 365 * 24 * time.Hour
	for name, from := range map[string]time.Duration{"": 0, "a clock ahead": -year, "a clock behind": year} {
		own, roots := testkit.NewRoot(t, time.Now().Add(from-time.Hour))
		l := listen(t, "127.0.0.1:0")
		serve(t, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{own}}), http.NotFoundHandler())
		directory := "https://" + l.Addr().String()
		if name != "" {
			says(name, "check this machine's clock", directory, roots)
			continue
		}
		says("another path", "is no directory of an authority", directory, roots)
		says("a stranger", "add its root to the machine's certificates", directory, x509.NewCertPool())
	}
}

func TestACertificateThatAnotherKeySealedIsNotReplaced(t *testing.T) {
	t.Parallel()
	certificates, log := databases.OpenDSN(t, databases.SQLite(t)).Certificates, &testkit.Log{}
	node := newNode(t, "https://127.0.0.1:1/dir", nil, certificates.Sealed(newSealer(t, key)), time.Now, log)
	if err := certificates.Sealed(newSealer(t, oldKey)).Put(t.Context(), domain, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	node.Look(t.Context(), true)
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
	m := newNode(t, "https://"+l.Addr().String(), roots, store, time.Now, io.Discard)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		m.Look(ctx, true)
		close(ended)
	}()
	<-asked
	stop()
	close(stopped)
	<-ended
	o, err := store.Claim(t.Context(), domain, time.Now(), time.Now())
	if err != nil || !o.Claimed || o.Failures != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestStrangersAskTheDatabaseOneAfterAnotherAndLearnNothingAboutIt(t *testing.T) {
	t.Parallel()
	store := &sickStore{Store: openStore(t)}
	m := newNode(t, "", nil, store, time.Now, io.Discard)
	store.isSick.Store(true)
	handler := m.Plain()
	var strangers sync.WaitGroup
	for range 100 {
		strangers.Go(func() {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "http://"+domain+"/.well-known/acme-challenge/invented", nil)
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "sick") {
				t.Errorf("the response is %d %s", w.Code, w.Body)
			}
		})
	}
	strangers.Wait()
	if n := store.most.Load(); n != 1 {
		t.Errorf("%d strangers asked at once", n)
	}
}

func TestARedirectLeadsToNoOtherSite(t *testing.T) {
	t.Parallel()
	handler := newNode(t, "", nil, openStore(t), time.Now, io.Discard).Plain()
	for target, want := range map[string]string{
		"x:@evil.example/": "400 ", "x:.evil.example/": "400 ", "*": "400 ", "http://evil.example/": "421 ", "//evil.example/": "301 https://" + domain + "//evil.example/",
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: " + domain + "\r\n\r\n")))
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("Location")); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

// A sickStore counts how many ask it at once.
type sickStore struct {
	certificate.Store
	isSick    atomic.Bool
	now, most atomic.Int64
}

func (s *sickStore) Get(ctx context.Context, name string) ([]byte, error) {
	if !s.isSick.Load() {
		return s.Store.Get(ctx, name)
	}
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	runtime.Gosched()
	s.now.Add(-1)
	return nil, errors.New("sick")
}

func TestOneNodeOrdersAtATime(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		store, now := db.Certificates.Sealed(newSealer(t, key)), time.Now().UTC().Truncate(time.Millisecond)
		claim := func(at time.Time, want certificate.Order) {
			t.Helper()
			got, err := store.Claim(t.Context(), domain, at, at.Add(time.Minute))
			got.Next = got.Next.In(want.Next.Location())
			if err != nil || got != want {
				t.Errorf("%+v, %v", got, err)
			}
		}
		claim(now, certificate.Order{Claimed: true, Next: now.Add(time.Minute)})
		claim(now.Add(time.Second), certificate.Order{Next: now.Add(time.Minute)})
		if err := store.End(t.Context(), domain, certificate.Order{Next: now.Add(time.Hour), Failures: 3}); err != nil {
			t.Fatal(err)
		}
		claim(now, certificate.Order{Next: now.Add(time.Hour), Failures: 3})
		claim(now.Add(time.Hour), certificate.Order{Claimed: true, Next: now.Add(time.Hour + time.Minute), Failures: 3})
		yearBefore := now.AddDate(-1, 0, 0) // the clock was wrong
		claim(yearBefore, certificate.Order{Claimed: true, Next: yearBefore.Add(time.Minute), Failures: 3})
	})
}

func TestAFormerKeyOpensWhatItSealedAndTheNewOneSealsIt(t *testing.T) {
	t.Parallel()
	certificates := databases.OpenDSN(t, databases.SQLite(t)).Certificates
	opens := func(keys string) error {
		_, err := certificate.New(certificate.Config{}).Open(t.Context(), certificates.Sealed(newSealer(t, keys)))
		return err
	}
	err := certificates.Sealed(newSealer(t, oldKey)).Put(t.Context(), "acme_account+key", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if opens(key) == nil {
		t.Error("nothing is said of an account that another key sealed")
	}
	for _, keys := range []string{key + "," + oldKey, key} { // a server that starts reads it, long before it is needed
		if err := opens(keys); err != nil {
			t.Errorf("with %d keys: %v", len(keys)/44, err)
		}
	}
}
