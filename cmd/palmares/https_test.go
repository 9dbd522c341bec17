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

	"palmares/internal/certificate"
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

// newAuthority starts an authority. In a trial, it is slow and refuses half of what it is sent at first.
func newAuthority(t *testing.T, isTrial bool) authority {
	t.Helper()
	if isTrial {
		return authority{testkit.NewAuthority(t, "PEBBLE_VA_NOSLEEP=0", "PEBBLE_WFE_NONCEREJECT=50"), t}
	}
	return authority{testkit.NewAuthority(t), t}
}

// launch starts a server with certificates of the authority.
func (a authority) launch(database, domains, secure, plain string) *process {
	a.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(a.t.Context()), "patient", "serve", "--drain", "0s", "--quota", "off",
		"--database", database, "--domain", domains, "--listen", secure, "--listen-http", plain,
		"--acme-directory", a.Directory, "--base-url", "https://catalogue.example")
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

func TestADomainIsServedOverHTTPSWithACertificateThatOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, false)
	database := databases.SQLite(t)
	const domains = "catalogue.example,www.catalogue.example"
	p := a.launch(database, domains, a.Secure, a.Plain).serves()
	first := a.awaitCertificate(a.Secure)
	testkit.Until(t, "the second certificate", func() bool { return a.Issued() == 2 })

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

	if out := must(t, "check", "--database", database, "--domain", "catalogue.example"); !strings.Contains(out, "the first one expires") {
		t.Errorf("check says %s", out)
	}
	p.kill()
	a.launch(database, domains, a.Secure, a.Plain).serves()
	if again := a.awaitCertificate(a.Secure); !again.Equal(first) || a.Issued() != 2 {
		t.Errorf("after a kill there is another certificate; %d were issued", a.Issued())
	}
}

func TestNodesShareTheirCertificatesAndRenewThemUnderLoad(t *testing.T) {
	t.Parallel()
	if *renewals > 0 {
		databases.EachDSN(t, testSharedCertificates)
	} else {
		testSharedCertificates(t, databases.Postgres(t))
	}
}

func testSharedCertificates(t *testing.T, database string) {
	a := newAuthority(t, *renewals > 0)
	if *renewals > 0 {
		a.Stop()
		a.Validity = time.Minute
		a.Start()
	}
	nodes := a.nodes(database)
	first := a.awaitCertificate(a.Secure)
	for _, n := range nodes {
		if shown := a.awaitCertificate(n.address); !shown.Equal(first) || a.Issued() != 1 {
			t.Errorf("the nodes have different certificates; %d were issued", a.Issued())
		}
	}
	if *renewals == 0 {
		return
	}
	ctx, stop := context.WithCancel(t.Context())
	var visitors sync.WaitGroup
	var requests atomic.Int64
	issuers := a.Issuers()
	for i, n := range slices.Concat(nodes, nodes) {
		visitors.Go(func() { requests.Add(a.visit(ctx, n.address, issuers, i < len(nodes))) })
	}
	for i := range *renewals {
		testkit.Until(t, "a renewal", func() bool { return a.Issued() > i+1 })
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
	t.Logf("%d certificates for %d nodes; %d requests, all answered", a.Issued(), len(nodes), requests.Load())
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

func TestServersThatAreKilledWhileTheyOrderHaveTheirCertificateLater(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		a := newAuthority(t, *orderKills > 1)
		st := databases.OpenDSN(t, database)
		took, cut, lost := time.Second, 0, 0
		for i := range *orderKills {
			nodes := a.nodes(database)
			before := a.Issued()
			order := func() certificate.Order {
				last, err := st.Certificates.LastOrder(t.Context(), "catalogue.example")
				if err != nil {
					t.Fatal(err)
				}
				return last
			}
			testkit.Until(t, "an order", func() bool { return !order().ClaimedUntil.IsZero() })
			if i == 0 {
				testkit.Until(t, "a proof", func() bool {
					proof, err := st.Certificates.Get(t.Context(), "proof catalogue.example")
					return err == nil && proof != ""
				})
			} else {
				<-time.After(rand.N(took))
			}
			for _, n := range nodes {
				n.kill()
			}
			if !order().ClaimedUntil.IsZero() {
				cut++
			}
			// The minutes until others may order pass.
			if err := sqldb.WriteOnce(t.Context(), st.SQL, `UPDATE certificate_orders SET claimed_until = ''`); err != nil {
				t.Fatal(err)
			}
			nodes = a.nodes(database)
			testkit.Until(t, "another order", func() bool { return !order().ClaimedUntil.IsZero() || a.Issued() > before })
			began := time.Now()
			for _, n := range nodes {
				a.awaitCertificate(n.address)
			}
			took = max(time.Since(began), time.Second)
			issued := a.Issued() - before
			if issued > 2 {
				t.Errorf("%d were issued", issued)
			}
			lost += issued - 1
			for _, n := range nodes {
				if n.log.Contains("no certificate for") {
					t.Errorf("an order failed: %s", n.log)
				}
				n.kill()
			}
			for _, statement := range []string{
				`DELETE FROM certificates WHERE name LIKE 'certificate %'`, `DELETE FROM certificate_orders`,
			} {
				if err := sqldb.WriteOnce(t.Context(), st.SQL, statement); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Logf("%d times killed, %d times during an order, %d certificates were issued and not stored", *orderKills, cut, lost)
	})
}

func TestWhyThereIsNoCertificateIsSaidInASentence(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, false)
	database := databases.SQLite(t)
	p := a.launch(database, "catalogue.example", "127.0.0.1:0", "127.0.0.1:0").serves() // where the authority does not look
	p.logs("open ports 80 and 443 to the world")
	taken, err := net.Listen("tcp", a.Plain)
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
		"--domain a.example --listen " + a.Secure + " --listen-http " + taken.Addr().String(): "or choose another address with --listen-http",
	} {
		refuses(t, sentence, append([]string{"serve", "--database", database}, strings.Fields(args)...)...)
	}
}
