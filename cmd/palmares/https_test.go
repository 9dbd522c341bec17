package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// make chaos has many more kills, and renews certificates under load.
var (
	orderKills = flag.Int("order-kills", 1, "how many times servers are killed while they order a certificate")
	renewals   = flag.Int("renewals", 0, "how many times certificates are renewed under load")
)

// An authority issues certificates to servers.
type authority struct {
	*testkit.Authority
	t *testing.T
}

// launch starts a server with certificates of the authority.
func (a authority) launch(database, domains, secure, plain string, more ...string) *process {
	a.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(a.t.Context()), "patient", "serve", "--drain", "0s", "--quota", "off",
		"--database", database, "--domain", domains, "--listen", secure, "--listen-http", plain,
		"--acme-directory", a.Directory, "--base-url", "https://catalogue.example")
	cmd.Args = append(cmd.Args, more...)
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+a.Root)
	return launch(a.t, cmd)
}

// A secureNode is a server with HTTPS.
type secureNode struct {
	*process
	address string
}

// nodes starts the nodes of a database: one on SQLite, two on PostgreSQL. The authority asks the first.
func (a authority) nodes(database string) []secureNode {
	a.t.Helper()
	const domain = "catalogue.example"
	all := []secureNode{{a.launch(database, domain, a.Secure, a.Plain), a.Secure}}
	if !strings.HasPrefix(database, "sqlite:") {
		testkit.UntilListening(a.t, a.Plain) // or the second may order before anybody can answer
		away, err := testkit.FreeAddress()
		if err != nil {
			a.t.Fatal(err)
		}
		all = append(all, secureNode{a.launch(database, domain, away, "127.0.0.1:0"), away})
	}
	return all
}

// greet connects to a server as a domain, and returns the certificate it shows and how it responds to a
// request.
func greet(t *testing.T, address, domain, host string) (*x509.Certificate, *http.Response) {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{ServerName: domain, InsecureSkipVerify: true}, // the root is the authority's secret
		ForceAttemptHTTP2: true,
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/api/v1/tools?limit=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, nil
	}
	resp.Body.Close()
	return resp.TLS.PeerCertificates[0], resp
}

func (a authority) awaitCertificate(address string) *x509.Certificate {
	a.t.Helper()
	var shown *x509.Certificate
	testkit.Until(a.t, "a certificate", func() bool {
		shown, _ = greet(a.t, address, "catalogue.example", "catalogue.example")
		return shown != nil
	})
	return shown
}

func TestADomainIsServedOverHTTPSByServersThatAreKilledAndRenewItsCertificate(t *testing.T) {
	t.Parallel()
	if *renewals == 0 {
		a := authority{testkit.NewAuthority(t), t}
		database := databases.SQLite(t)
		a.killOrders(database)
		a.serveDomains(database)
		return
	}
	databases.EachDSN(t, func(t *testing.T, database string) {
		a := authority{testkit.NewAuthority(t, "PEBBLE_VA_NOSLEEP=0", "PEBBLE_WFE_NONCEREJECT=20"), t}
		a.killOrders(database)
		a.serveDomains(database)
		a.renewUnderLoad(database)
	})
}

// killOrders kills servers while they order a certificate; later ones have it issued.
func (a authority) killOrders(database string) {
	a.t.Helper()
	st := databases.OpenDSN(a.t, database)
	took, cut, lost := time.Second, 0, 0
	for i := range *orderKills {
		before := a.Issued()
		nodes := a.nodes(database)
		isOrdering := func() bool {
			n, err := sqldb.Get[int](a.t.Context(), st.SQL, `
				SELECT count(*) FROM certificates WHERE sealed = '' AND next_at <> ''`)
			if err != nil {
				a.t.Fatal(err)
			}
			return n > 0
		}
		testkit.Until(a.t, "an order", isOrdering)
		if i > 0 {
			<-time.After(rand.N(took))
		}
		for _, n := range nodes {
			n.kill()
		}
		if isOrdering() {
			cut++
		}
		// The minutes until others may order pass.
		if err := sqldb.WriteOnce(a.t.Context(), st.SQL, `UPDATE certificates SET next_at = ''`); err != nil {
			a.t.Fatal(err)
		}
		nodes = a.nodes(database)
		began := time.Now()
		for _, n := range nodes {
			a.awaitCertificate(n.address)
		}
		took = max(time.Since(began), time.Second)
		issued := a.Issued() - before
		if issued > 2 {
			a.t.Errorf("%d were issued", issued)
		}
		lost += issued - 1
		for _, n := range nodes {
			if n.log.Contains("no certificate for") {
				a.t.Errorf("an order failed: %s", n.log)
			}
			n.kill()
		}
		if i < *orderKills-1 {
			err := sqldb.WriteOnce(a.t.Context(), st.SQL, `DELETE FROM certificates WHERE name = 'catalogue.example'`)
			if err != nil {
				a.t.Fatal(err)
			}
		}
	}
	a.t.Logf("%d times killed, %d times during an order, %d certificates were issued and not stored", *orderKills, cut, lost)
}

// serveDomains serves two domains, the first with the certificate that is there.
func (a authority) serveDomains(database string) {
	t := a.t
	t.Helper()
	before := a.Issued()
	p := a.launch(database, "catalogue.example,www.catalogue.example", a.Secure, a.Plain).serves()
	p.logs(`"domain":"www.catalogue.example","expires"`)
	if n := a.Issued() - before; n != 1 {
		t.Errorf("%d were issued", n)
	}

	_, resp := greet(t, a.Secure, "catalogue.example", "catalogue.example")
	if resp.ProtoMajor != 2 || resp.StatusCode != 200 || resp.Header.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Errorf("HTTP/%d, %d, %v", resp.ProtoMajor, resp.StatusCode, resp.Header)
	}
	if _, resp := greet(t, a.Secure, "catalogue.example", "ailleurs.example"); resp.StatusCode != 421 {
		t.Errorf("another host is answered %d", resp.StatusCode)
	}
	if shown, _ := greet(t, a.Secure, "ailleurs.example", "ailleurs.example"); shown != nil {
		t.Errorf("another domain is shown the certificate of %v", shown.DNSNames)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Plain+"/outils?q=a", nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"www.catalogue.example": "https://catalogue.example/outils?q=a", "ailleurs.example": ""} {
		req.Host = host
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Location"); got != want {
			t.Errorf("%s on port 80: %d to %q", host, resp.StatusCode, got)
		}
	}
	if out := must(t, "check", "--database", database, "--domain", "catalogue.example"); !strings.Contains(out, "the first one, that of catalogue.example, expires on") {
		t.Errorf("check says %s", out)
	}
	p.kill()

	// While its database is away, a node shows the certificate that it has seen.
	p = a.launch("postgres://nobody@127.0.0.1:1/none", "catalogue.example", a.Secure, a.Plain,
		"--export-dir", strings.TrimPrefix(database, "sqlite:")+"-export")
	testkit.Until(t, "a 503 over HTTPS", func() bool {
		shown, resp := greet(t, a.Secure, "catalogue.example", "catalogue.example")
		return resp != nil && resp.StatusCode == http.StatusServiceUnavailable && shown.DNSNames[0] == "catalogue.example"
	})
	p.kill()
}

// renewUnderLoad has nodes share certificates of two minutes, and renew them while visitors connect.
func (a authority) renewUnderLoad(database string) {
	t := a.t
	t.Helper()
	a.Stop()
	a.Validity = 2 * time.Minute
	a.Start()
	err := sqldb.WriteOnce(t.Context(), databases.OpenDSN(t, database).SQL, `DELETE FROM certificates`)
	if err != nil {
		t.Fatal(err)
	}
	before := a.Issued()
	nodes := a.nodes(database)
	first := a.awaitCertificate(a.Secure)
	for _, n := range nodes {
		if shown := a.awaitCertificate(n.address); !shown.Equal(first) || a.Issued() != before+1 {
			t.Errorf("the nodes have different certificates; %d were issued", a.Issued()-before)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var visitors sync.WaitGroup
	var requests atomic.Int64
	issuers := a.Issuers()
	for i, n := range slices.Concat(nodes, nodes) {
		visitors.Go(func() { requests.Add(a.visit(ctx, n.address, issuers, i < len(nodes))) })
	}
	for i := range *renewals {
		testkit.Until(t, "a renewal", func() bool { return a.Issued() > before+i+1 })
	}
	testkit.Until(t, "a new certificate on all nodes", func() bool {
		isNew := true
		for _, n := range nodes {
			shown, _ := greet(t, n.address, "catalogue.example", "catalogue.example")
			isNew = isNew && shown != nil && shown.NotAfter.After(first.NotAfter)
		}
		return isNew
	})
	stop()
	visitors.Wait()
	t.Logf("%d certificates for %d nodes; %d requests, all answered", a.Issued()-before, len(nodes), requests.Load())
}

// visit sends requests to a node until ctx ends, each over a new connection or over one that it keeps,
// and expects a valid certificate and a response. It returns how many it has sent.
func (a authority) visit(ctx context.Context, address string, issuers *x509.CertPool, keeps bool) (n int64) {
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{ServerName: "catalogue.example", RootCAs: issuers},
		ForceAttemptHTTP2: true, DisableKeepAlives: !keeps,
	}
	defer transport.CloseIdleConnections()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for ; ctx.Err() == nil; n++ {
		req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, "https://"+address+"/api/v1/tools", nil)
		if err != nil {
			a.t.Error(err)
			return n
		}
		req.Host = "catalogue.example"
		resp, err := transport.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if err != nil || resp.StatusCode != http.StatusOK {
			a.t.Errorf("after %d requests: %v, %v", n, resp, err)
			return n
		}
		<-pace.C
	}
	return n
}

func TestDomainsAndAuthoritiesThatCannotBeAreRefusedWithASentence(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for args, sentence := range map[string]string{
		"--domain https://a.example":                           "without https://, port and *",
		"--domain a.example:443":                               "not a domain that can have a certificate",
		"--domain *.a.example":                                 "not a domain that can have a certificate",
		"--domain 192.0.2.1":                                   "not a domain that can have a certificate",
		"--domain a..example":                                  "not a domain that can have a certificate",
		"--domain a_b.example":                                 "not a domain that can have a certificate",
		"--domain " + strings.Repeat("a", 64) + ".example":     "not a domain that can have a certificate",
		"--domain localhost":                                   "not a domain that can have a certificate",
		"--domain a.example,a.example":                         "twice",
		"--domain a.example --acme-directory http://b.example": "begins with https://",
		"--domain a.example --acme-directory https://":         "is not the directory of an authority",
		"--domain a.example --acme-contact Ada":                "not a mail address",
		"--domain a.example --listen 127.0.0.1:0 --listen-http " + taken.Addr().String(): "or choose another address with --listen-http",
	} {
		refuses(t, sentence, append([]string{"serve", "--database", database}, strings.Fields(args)...)...)
	}
}

func TestWhichCertificateHasExpiredIsSaid(t *testing.T) {
	now := time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
	for days, want := range map[int]string{-1: "that of a.example expired on", 1: "that of a.example expires on"} {
		if err := judgeExpiry(now, "a.example", now.AddDate(0, 0, days), "why"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
