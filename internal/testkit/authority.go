package testkit

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An Authority is Pebble, the test authority of Let's Encrypt, with a DNS server that finds every
// domain on this machine.
type Authority struct {
	Directory string
	Root      string // file with the certificate of its own server
	Secure    string // where it expects domains to serve HTTPS
	Plain     string // and HTTP
	Log       *Log

	t *testing.T
}

// NewAuthority starts an authority until the test ends.
func NewAuthority(t *testing.T) *Authority {
	t.Helper()
	dir := t.TempDir()
	a := &Authority{t: t, Root: filepath.Join(dir, "root.pem"), Log: &Log{}}
	addresses := make([]string, 6)
	for i := range addresses {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = address
	}
	a.Directory, a.Secure, a.Plain = "https://"+addresses[0]+"/dir", addresses[2], addresses[3]
	key := filepath.Join(dir, "key.pem")
	writeRoot(t, a.Root, key)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": addresses[0], "managementListenAddress": addresses[1], "certificate": a.Root, "privateKey": key,
		"tlsPort": port(a.Secure), "httpPort": port(a.Plain),
		"profiles": map[string]any{"default": map[string]any{"description": "", "validityPeriod": 90 * 24 * 3600}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	a.start("pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", addresses[4],
		"-management", addresses[5], "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	a.start("pebble", "-config", file, "-dnsserver", addresses[4])
	Until(t, "the authority", func() bool {
		c, err := net.Dial("tcp", addresses[0])
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return a
}

func port(address string) int {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		panic(err) // it comes from a listener
	}
	return at.Port
}

// start starts a program of tools/acme until the test ends.
func (a *Authority) start(tool string, args ...string) {
	a.t.Helper()
	path, err := exec.Command("go", "tool", "-modfile=../../tools/acme/go.mod", "-n", tool).Output()
	if err != nil {
		a.t.Fatalf("%s cannot be built: %v", tool, err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(a.t.Context()), strings.TrimSpace(string(path)), args...)
	cmd.Stdout, cmd.Stderr = a.Log, a.Log
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=20") // some requests are refused at first
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}

// writeRoot writes the certificate of a server on loopback, which signs itself, and its key.
func writeRoot(t *testing.T, certificate, private string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: der}, private: {Type: "EC PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Issued returns how many certificates it has issued.
func (a *Authority) Issued() int { return strings.Count(a.Log.String(), "Issued certificate serial") }
