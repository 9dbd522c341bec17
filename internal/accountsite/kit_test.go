package accountsite_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/api"
	"palmares/internal/billing"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/vault"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

var monday = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

// A server is the account pages over a real store.
type server struct {
	t       testing.TB
	handler *accountsite.Handler
	store   *testdb.DB
	snap    *snapshot.Snapshot
	now     time.Time
	woken   atomic.Int64
	cfg     accountsite.Config

	wokenHooks atomic.Int64
	log        testkit.Log
	base       string
}

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

// each runs a test on both databases.
func each(t *testing.T, base string, test func(t *testing.T, p *server)) {
	t.Helper()
	databases.Each(t, func(t *testing.T, st *testdb.DB) { test(t, newServer(t, st, base)) })
}

const (
	publicURL = "https://palmares.example"
	localURL  = "http://localhost:8080"
)

func open(t testing.TB, dsn, base string) *server {
	t.Helper()
	return newServer(t, databases.OpenDSN(t, dsn), base)
}

// newServer returns the pages over a store, at a base URL.
func newServer(t testing.TB, st *testdb.DB, base string) *server {
	p := &server{t: t, store: st, now: monday, base: base, snap: snapshot.Empty("Palmarès", base)}
	pages := site.New(site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, BaseURL: base, Document: api.Document()})
	if err := p.snap.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages.Show(p.snap)
	sealer, err := vault.ParseKeys("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	p.cfg = accountsite.Config{
		Store: st.AccountDB, Desk: st.DeskDB, Readers: st.ReaderDB, Site: pages, BaseURL: base, Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, MailLogged: true,
		Now: func() time.Time { return p.now }, Log: slog.New(slog.NewTextHandler(&p.log, nil)), WakeMail: func() { p.woken.Add(1) },
		WakeWebhooks: func() { p.wokenHooks.Add(1) }, Sealer: sealer, Quota: 1000, Billing: p.billing(billing.Config{}),
	}
	p.handler = accountsite.New(p.cfg)
	return p
}

// billing returns the billing of the pages.
func (p *server) billing(cfg billing.Config) *billing.Billing {
	p.t.Helper()
	st := p.store
	cfg.BaseURL, cfg.Now, cfg.Log = p.base, func() time.Time { return p.now }, slog.New(slog.NewTextHandler(&p.log, nil))
	cfg.Ledger, cfg.Keys = st.Subscriptions, st.Keys
	b, err := billing.New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// A browser keeps the session cookie.
type browser struct {
	*server
	cookie *http.Cookie
	agent  string
	from   string // IP address
}

func (p *server) browser() *browser {
	return &browser{server: p, agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", from: "198.51.100.7"}
}

func (b *browser) get(path string, headers ...string) *testkit.Reply {
	b.t.Helper()
	return b.do(http.MethodGet, path, "", headers...)
}

// post sends a form from one of our pages; fields are alternating names and values.
func (b *browser) post(path string, fields ...string) *testkit.Reply {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return b.do(http.MethodPost, path, form.Encode(), "Sec-Fetch-Site: same-origin", "Origin: "+b.base)
}

func (b *browser) do(method, path, body string, headers ...string) *testkit.Reply {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.1:5000" // the proxy
	r.Header.Set("X-Forwarded-For", b.from)
	r.Header.Set("User-Agent", b.agent)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	answer := testkit.Serve(b.t, b.handler, r)
	answer.Body = strings.ReplaceAll(answer.Body, "<wbr>", "")
	for _, c := range (&http.Response{Header: answer.Header}).Cookies() {
		if b.cookie = c; c.MaxAge < 0 {
			b.cookie = nil
		}
	}
	return answer
}

// form is the sign-in form.
const form = `<form class="sign-in" action="/compte" method="post"`

// link creates the link that a mail contains.
func (p *server) link(email string) (token string) {
	p.t.Helper()
	token, err := p.store.Links.Create(p.t.Context(), email, account.LinkSignIn, p.now)
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

// signedIn returns a browser in which email is signed in.
func (p *server) signedIn(email string) *browser {
	p.t.Helper()
	b := p.browser()
	b.post("/compte/connexion", "jeton", p.link(email)).RedirectsTo(303, "/compte?fait=connexion")
	if b.cookie == nil {
		p.t.Fatal("there is no cookie")
	}
	return b
}

// contents returns what is stored, as far as these pages can change it.
func (p *server) contents() string {
	p.t.Helper()
	accounts, err := p.store.Accounts.List(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	all := fmt.Sprintln(accounts, p.woken.Load())
	for _, a := range accounts {
		sessions, err := p.store.Sessions.List(p.t.Context(), a.ID, p.now)
		if err != nil {
			p.t.Fatal(err)
		}
		all += fmt.Sprintln(sessions)
	}
	return all
}
