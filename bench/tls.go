package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/node"
	"palmares/internal/vault"
)

// domain is served over TLS, on loopback.
const domain = "bench.example"

// lookHere lets wrk find the domain.
const lookHere = `
function wrk.resolve(host, service)
  wrk.addrs = wrk.lookup("127.0.0.1", service)
end
`

// dialHere lets net/http find the domain.
func dialHere(ctx context.Context, network, address string) (net.Conn, error) {
	if port, ok := strings.CutPrefix(address, domain+":"); ok {
		address = "127.0.0.1:" + port
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// secureURL returns the URL of the domain on a port of loopback.
func secureURL(address string) string {
	_, port, _ := strings.Cut(address, ":")
	return "https://" + net.JoinHostPort(domain, port)
}

// encrypted compares HTTPS with that of nginx, which sends the same headers and bytes with the same
// certificate and cipher.
func (b *bench) encrypted() error {
	pair, err := newKeyPair(b.dir)
	if err != nil {
		return err
	}
	own, err := b.secureSide(pair)
	if err != nil {
		return err
	}
	list, err := get(own.url + "/api/v1/tools?limit=1")
	if err != nil {
		return err
	}
	tool := "/api/v1/tools/" + string(firstSlug.FindSubmatch(list.Body)[1])
	fmt.Printf("The same over TLS 1.3, with the ratio to nginx (wanted: 0.75, and 0.5 with new connections):\n")
	host := "Host: " + domain
	for _, c := range []call{
		{name: "one tool", path: tool, headers: []string{host}},
		{name: "page of 50 tools", path: "/api/v1/tools?limit=50", headers: []string{host}},
		{name: "one tool, new connections", path: tool, headers: []string{host, "Connection: close"}},
		{name: "one tool, HTTP/2 with 10 streams", path: tool, streams: 10},
		{name: "page of 50 tools, HTTP/2 with 10 streams", path: "/api/v1/tools?limit=50", streams: 10},
	} {
		if err := b.compareSecure(own, c, pair); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return own.stop()
}

func (b *bench) compareSecure(own side, c call, pair *keyPair) error {
	want, err := get(own.url+c.path, own.key)
	if err != nil {
		return err
	}
	nginx, err := b.startNginx(want, pair)
	if err != nil {
		return err
	}
	if err := b.race([]side{own, {"nginx", own.key, nginx}}, c, want); err != nil {
		return err
	}
	return nginx.stop()
}

// secureSide starts a palmares that serves the demo over TLS, with a certificate in its database as if an
// authority had issued it.
func (b *bench) secureSide(pair *keyPair) (side, error) {
	database, key, err := b.proDatabase("tls", b.binary)
	if err != nil {
		return side{}, err
	}
	secret := base64.StdEncoding.EncodeToString(make([]byte, vault.KeySize))
	sealer, err := vault.ParseKeys(secret)
	if err != nil {
		return side{}, err
	}
	st, err := node.Open(b.ctx, database)
	if err != nil {
		return side{}, err
	}
	err = st.Certificates.Sealed(sealer).Put(b.ctx, domain, []byte(pair.text))
	if err := cmp.Or(err, st.Close()); err != nil {
		return side{}, err
	}
	address, err := freeAddress()
	if err != nil {
		return side{}, err
	}
	p, err := b.start(address, b.binary, "serve", "--database", database, "--secret-key", secret, "--domain", domain,
		"--listen", address, "--listen-http", "127.0.0.1:0", "--base-url", "https://"+domain)
	if err != nil {
		return side{}, err
	}
	p.url = secureURL(address)
	return side{"palmares", key, p}, p.await("/readyz", http.StatusOK)
}

// A keyPair is a certificate of the domain, which another one has signed, with its key.
type keyPair struct{ text, file string }

func newKeyPair(dir string) (*keyPair, error) {
	var parent *x509.Certificate
	var signer *ecdsa.PrivateKey
	var text string
	for i := range int64(2) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		template := &x509.Certificate{
			SerialNumber: big.NewInt(i + 1), NotBefore: time.Now(), NotAfter: time.Now().AddDate(0, 0, 90),
			IsCA: parent == nil, BasicConstraintsValid: true,
		}
		if parent == nil {
			parent, signer = template, key
		} else {
			template.DNSNames = []string{domain}
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			return nil, err
		}
		secret, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return nil, err
		}
		text = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) + text
		if i == 1 {
			text += string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
		}
	}
	file := filepath.Join(dir, "tls.pem")
	return &keyPair{text, file}, os.WriteFile(file, []byte(text), 0o600)
}

// nginx returns how nginx listens: with the cipher that Go chooses.
func (p *keyPair) nginx(address string) string {
	return fmt.Sprintf("listen %s ssl http2; ssl_certificate %[2]s; ssl_certificate_key %[2]s; "+
		"ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;", address, p.file)
}

// h2load sends a load over HTTP/2 once.
func (b *bench) h2load(l load) (figure, error) {
	log, err := os.CreateTemp(b.dir, "h2load-")
	if err != nil {
		return figure{}, err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	port := l.url[strings.LastIndex(l.url, ":")+1:]
	port, _, _ = strings.Cut(port, "/")
	args := []string{
		"-t", "2", "-c", strconv.Itoa(cmp.Or(l.connections, connections)), "-m", strconv.Itoa(l.streams), "-D", "1",
		"--connect-to", "127.0.0.1:" + port, "--log-file", log.Name(), "-H", ":authority: " + domain,
	}
	for _, h := range l.headers {
		args = append(args, "-H", h)
	}
	out, err := exec.CommandContext(b.ctx, "h2load", append(args, l.url)...).CombinedOutput()
	if err != nil {
		return figure{}, fmt.Errorf("h2load: %w: %s", err, out)
	}
	// Each line is when a request was sent, its status, and how many microseconds the response took.
	var took []float64
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[1] != "200" {
			return figure{}, fmt.Errorf("h2load on %s: %q: %s", l.url, lines.Text(), out)
		}
		micros, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return figure{}, err
		}
		took = append(took, micros/1e3)
	}
	if len(took) == 0 {
		return figure{}, fmt.Errorf("h2load on %s: no response: %s", l.url, out)
	}
	slices.Sort(took)
	return figure{
		rate: float64(len(took)), requests: int64(len(took)), half: took[len(took)/2], most: took[len(took)*99/100],
	}, nil
}
