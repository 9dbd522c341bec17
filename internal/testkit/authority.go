package testkit

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An Authority is Pebble, the test authority of Let's Encrypt, with a DNS server that finds every
// domain on this machine. It refuses some requests at first, as authorities may.
type Authority struct {
	Directory string
	Root      string         // file with the certificate of its own server
	Roots     *x509.CertPool // with the same
	Secure    string         // where it expects domains to serve HTTPS
	Plain     string         // and HTTP
	Validity  time.Duration  // of certificates, from the next Start on
	Log       *Log

	t          *testing.T
	dir        string
	listen     string
	management string
	dns        string
	settings   []string
	pebble     *exec.Cmd // nil while it is stopped
}

// NewAuthority starts an authority until the test ends, with settings of Pebble (variables of its
// environment).
func NewAuthority(t *testing.T, settings ...string) *Authority {
	t.Helper()
	addresses := make([]string, 6)
	for i := range addresses {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = address
	}
	a := &Authority{
		Directory: "https://" + addresses[0] + "/dir", Secure: addresses[1], Plain: addresses[2],
		Validity: 90 * 24 * time.Hour, Log: &Log{},
		t: t, dir: t.TempDir(), listen: addresses[0], management: addresses[3], dns: addresses[4],
		settings: append([]string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=5"}, settings...),
	}
	a.Root = filepath.Join(a.dir, "root.pem")
	own, roots := NewRoot(t, time.Now().Add(-time.Hour))
	a.Roots = roots
	a.write(own)
	a.launch("pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", a.dns,
		"-management", addresses[5], "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	a.Start()
	return a
}

func (a *Authority) key() string { return filepath.Join(a.dir, "key.pem") }

// Start starts an authority that was stopped. It remembers nothing.
func (a *Authority) Start() {
	a.t.Helper()
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": a.listen, "managementListenAddress": a.management, "certificate": a.Root, "privateKey": a.key(),
		"tlsPort": port(a.Secure), "httpPort": port(a.Plain), "keyAlgorithm": "ecdsa",
		"profiles": map[string]any{"default": map[string]any{"description": "", "validityPeriod": int(a.Validity.Seconds())}},
	}})
	if err != nil {
		a.t.Fatal(err)
	}
	file := filepath.Join(a.dir, "pebble.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		a.t.Fatal(err)
	}
	a.pebble = a.launch("pebble", "-config", file, "-dnsserver", a.dns)
	UntilListening(a.t, a.listen)
	UntilListening(a.t, a.management)
}

// Stop lets nobody reach the authority.
func (a *Authority) Stop() {
	a.t.Helper()
	if err := a.pebble.Process.Kill(); err != nil {
		a.t.Fatal(err)
	}
	_ = a.pebble.Wait() // it was killed
}

// Issuers returns the roots of the certificates that it issues.
func (a *Authority) Issuers() *x509.CertPool {
	a.t.Helper()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Roots}, DisableKeepAlives: true}}
	resp, err := client.Get("https://" + a.management + "/roots/0")
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		a.t.Fatalf("no certificate: %s", text)
	}
	return roots
}

func port(address string) int {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		panic(err) // it comes from a listener
	}
	return at.Port
}

// launch starts a program of tools/acme until the test ends.
func (a *Authority) launch(tool string, args ...string) *exec.Cmd {
	a.t.Helper()
	path, err := exec.Command("go", "tool", "-modfile=../../tools/acme/go.mod", "-n", tool).Output()
	if err != nil {
		a.t.Fatalf("%s cannot be built: %v", tool, err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(a.t.Context()), strings.TrimSpace(string(path)), args...)
	cmd.Stdout, cmd.Stderr = a.Log, a.Log
	cmd.Env = append(os.Environ(), a.settings...)
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	return cmd
}

// NewRoot returns the certificate of a server on loopback, which signs itself, and a pool with it. It is
// valid for a day.
func NewRoot(t *testing.T, from time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, roots
}

// write writes the certificate of the authority's server and its key.
func (a *Authority) write(own tls.Certificate) {
	a.t.Helper()
	secret, err := x509.MarshalECPrivateKey(own.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		a.Root: {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, a.key(): {Type: "EC PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}

// Issued returns how many certificates it has issued.
func (a *Authority) Issued() int { return strings.Count(a.Log.String(), "Issued certificate serial") }
