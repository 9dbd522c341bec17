// Package certificate gives a server HTTPS by itself. It orders certificates of its domains from an
// authority (ACME), and keeps them where all nodes find them.
//
// One node orders at a time, and whichever node the authority asks proves that the domain is ours:
// certificates, the account and the tokens of orders under way are in the database, sealed.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
)

// Directory is the authority unless another one is given.
const Directory = acme.LetsEncryptURL

// A Store is what nodes share.
type Store interface {
	// Get returns a sealed value, "" if there is none.
	Get(ctx context.Context, name string) (sealed string, err error)
	Put(ctx context.Context, name, sealed string) error
	Delete(ctx context.Context, name string) error
	// LastOrder returns what is known of the orders of a domain.
	LastOrder(ctx context.Context, domain string) (Order, error)
	// Claim begins an order, and reports whether nobody else has begun one since last was read.
	Claim(ctx context.Context, domain string, last Order, now, until time.Time) (bool, error)
	// End ends an order, after so many failures.
	End(ctx context.Context, domain string, failures int) error
}

// An Order is the last order of a certificate.
type Order struct {
	Tried        time.Time // when it began; zero for never
	ClaimedUntil time.Time // zero if it has ended
	Failures     int       // since the last success
}

// A Sealer seals values with the secret key.
type Sealer interface {
	Seal(name, value string) string
	Open(name, sealed string) (string, error)
	// Missing returns the id of the key that sealed needs if the sealer does not have it.
	Missing(sealed string) (keyID string)
	// Current reports whether sealed was sealed with the key that seals now.
	Current(sealed string) bool
}

// Config is what a Manager needs. Contact may be empty.
type Config struct {
	Domains   []string // in lower case and ASCII; the first is the canonical one
	Base      string   // the URL of the canonical one, without a final slash
	Directory string   // URL of the authority
	Contact   string   // mail address that the authority may write to
	Agent     string   // name and version of the program
	Now       func() time.Time
	Log       *slog.Logger
}

// A Manager has the certificates of a server.
type Manager struct {
	cfg    Config
	held   atomic.Pointer[map[string]*tls.Certificate] // by domain
	values sealed
	proofs proofs

	transport http.RoundTripper // to the authority; nil for that of net/http
}

// New returns a Manager without certificates; Run gets them.
func New(cfg Config) *Manager {
	m := &Manager{cfg: cfg, proofs: newProofs()}
	m.held.Store(&map[string]*tls.Certificate{})
	return m
}

// TLS returns the configuration of the listener.
func (m *Manager) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: m.get,
		NextProtos:     []string{"h2", "http/1.1", acme.ALPNProto},
	}
}

var errNoCertificate = errors.New("there is no certificate yet: the log says what is missing")

// get returns the certificate of a handshake. It never orders one: a stranger decides how often there
// is a handshake.
func (m *Manager) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if !slices.Contains(m.cfg.Domains, name) {
		return nil, fmt.Errorf("%q is not a domain of this server", hello.ServerName)
	}
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return m.proveByTLS(hello.Context(), name)
	}
	if c := (*m.held.Load())[name]; c != nil {
		return c, nil
	}
	return nil, errNoCertificate
}

// Expiry returns when the first of the certificates expires; the zero time if one is missing.
func (m *Manager) Expiry() (first time.Time) {
	held := *m.held.Load()
	for _, domain := range m.cfg.Domains {
		c := held[domain]
		if c == nil {
			return time.Time{}
		}
		if first.IsZero() || c.Leaf.NotAfter.Before(first) {
			first = c.Leaf.NotAfter
		}
	}
	return first
}

// Read returns what Expiry returns of the certificates in a database. It also reads the account, which
// is needed only when they are renewed.
func (m *Manager) Read(ctx context.Context, store Store, sealer Sealer) (first time.Time, err error) {
	m.values.open(store, sealer)
	_, err = m.account(ctx)
	for _, domain := range m.cfg.Domains {
		err = errors.Join(err, m.load(ctx, domain))
	}
	return m.Expiry(), err
}

const (
	// interval is how often a node looks for what another one has got, and whether anything is due.
	interval = time.Minute
	// soon is the same for what is missing.
	soon = 2 * time.Second
)

// Run keeps the certificates valid until ctx ends.
func (m *Manager) Run(ctx context.Context, store Store, sealer Sealer) error {
	m.values.open(store, sealer)
	for started := true; ; started = false {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(m.look(ctx, store, started)):
		}
	}
}

// look reads what other nodes have got, orders what is due, and returns when to look again.
func (m *Manager) look(ctx context.Context, store Store, started bool) time.Duration {
	wait := interval
	for _, domain := range m.cfg.Domains {
		if err := m.load(ctx, domain); err != nil {
			if ctx.Err() == nil {
				m.cfg.Log.Error(err.Error())
			}
			continue // what is there may be good: nothing is ordered in its place
		}
		if m.isDue(domain) {
			m.renew(ctx, store, domain, started)
		}
		wait = min(wait, m.rest(domain))
	}
	return max(wait, soon)
}

// load reads a certificate from the database. If it cannot be read, that in memory stays.
func (m *Manager) load(ctx context.Context, domain string) error {
	text, err := m.values.get(ctx, certificateName(domain))
	if err == nil && text != "" {
		var c tls.Certificate
		c, err = tls.X509KeyPair([]byte(text), []byte(text))
		if err == nil {
			held := maps.Clone(*m.held.Load())
			held[domain] = &c
			m.held.Store(&held)
		}
	}
	if err != nil {
		return fmt.Errorf("the certificate of %s cannot be read from the database: %w", domain, err)
	}
	return nil
}

func certificateName(domain string) string { return "certificate " + domain }

// dueAt returns when a certificate is renewed: in the last third of its life, at most a month before
// its end.
func dueAt(leaf *x509.Certificate) time.Time {
	return leaf.NotAfter.Add(-min(leaf.NotAfter.Sub(leaf.NotBefore)/3, 30*24*time.Hour))
}

func (m *Manager) isDue(domain string) bool {
	c := (*m.held.Load())[domain]
	return c == nil || !m.cfg.Now().Before(dueAt(c.Leaf))
}

// rest returns how long nothing happens to a certificate. Those of test authorities live for minutes.
func (m *Manager) rest(domain string) time.Duration {
	c := (*m.held.Load())[domain]
	if c == nil {
		return 0
	}
	now := m.cfg.Now()
	if rest := dueAt(c.Leaf).Sub(now); rest > 0 {
		return rest
	}
	return c.Leaf.NotAfter.Sub(now) / 4 // another node may have renewed it long before
}
