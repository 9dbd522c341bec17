package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

// An authority issues certificates to servers.
type authority struct {
	*testkit.Authority
	t *testing.T
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	return authority{testkit.NewAuthority(t), t}
}

// serve starts a server with certificates of the authority.
func (a authority) serve(database, secure, plain string) *process {
	a.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(a.t.Context()), "patient", "serve", "--drain", "0s",
		"--database", database, "--domain", "catalogue.example,www.catalogue.example", "--listen", secure,
		"--listen-http", plain, "--acme-directory", a.Directory, "--base-url", "https://catalogue.example")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+a.Root)
	return launch(a.t, cmd).serves()
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
	a := newAuthority(t)
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	p := a.serve(database, a.Secure, a.Plain)
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
	a.serve(database, a.Secure, a.Plain)
	if again := a.awaitCertificate(a.Secure); !again.Equal(first) || a.Issued() != 2 {
		t.Errorf("after a kill there is another certificate; %d were issued", a.Issued())
	}
}

func TestNodesShareTheirCertificates(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	database := databases.Postgres(t)
	away, err := testkit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	a.serve(database, a.Secure, a.Plain)
	one := a.awaitCertificate(a.Secure)
	testkit.Until(t, "the second certificate", func() bool { return a.Issued() == 2 })
	a.serve(database, away, "127.0.0.1:0")
	if two := a.awaitCertificate(away); !one.Equal(two) || a.Issued() != 2 {
		t.Errorf("the nodes have different certificates; %d were issued", a.Issued())
	}
}

func TestWhyThereIsNoCertificateIsSaidInASentence(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	p := a.serve(database, "127.0.0.1:0", "127.0.0.1:0") // where the authority does not look
	testkit.Until(t, "the reason", func() bool { return strings.Contains(p.log.String(), "open ports 80 and 443 to the world") })
	for args, sentence := range map[string]string{
		"--domain https://a.example":                           "without https:// and port",
		"--domain 192.0.2.1":                                   "not a domain that can have a certificate",
		"--domain a.example,a.example":                         "twice",
		"--domain a.example --acme-directory http://b.example": "begins with https://",
		"--domain a.example --acme-contact Ada":                "not a mail address",
	} {
		refuses(t, sentence, append([]string{"serve", "--database", database}, strings.Fields(args)...)...)
	}
}
