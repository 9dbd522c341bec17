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
	// End ends an order.
	End(ctx context.Context, domain string, succeeded bool) error
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

// Read returns what Expiry returns of the certificates in a database.
func (m *Manager) Read(ctx context.Context, store Store, sealer Sealer) (time.Time, error) {
	m.values.open(store, sealer)
	err := m.load(ctx)
	return m.Expiry(), err
}

// interval is how often a node looks for what another one has got, and whether anything is due.
const interval = time.Minute

// Run keeps the certificates valid until ctx ends.
func (m *Manager) Run(ctx context.Context, store Store, sealer Sealer) error {
	m.values.open(store, sealer)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	started := true
	for {
		if err := m.load(ctx); err != nil && ctx.Err() == nil {
			m.cfg.Log.Error(err.Error())
		}
		for _, domain := range m.cfg.Domains {
			if m.isDue(domain) {
				m.renew(ctx, store, domain, started)
			}
		}
		started = false
		wait := tick.C
		if next := m.soonest(); next < interval { // certificates of a few minutes, of test authorities
			wait = time.After(next)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wait:
		}
	}
}

// load reads the certificates that the database has. What cannot be read stays as it is.
func (m *Manager) load(ctx context.Context) (failed error) {
	held := maps.Clone(*m.held.Load())
	for _, domain := range m.cfg.Domains {
		text, err := m.values.get(ctx, certificateName(domain))
		if err == nil && text != "" {
			var c tls.Certificate
			c, err = tls.X509KeyPair([]byte(text), []byte(text))
			if err == nil {
				held[domain] = &c
			}
		}
		if err != nil {
			failed = fmt.Errorf("the certificate of %s cannot be read from the database: %w", domain, err)
		}
	}
	m.held.Store(&held)
	return failed
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

// soonest returns how long it takes until the next certificate is due, a second at least.
func (m *Manager) soonest() time.Duration {
	soonest := interval
	for _, c := range *m.held.Load() {
		if wait := dueAt(c.Leaf).Sub(m.cfg.Now()); wait > 0 {
			soonest = min(soonest, wait)
		}
	}
	return max(soonest, time.Second)
}
