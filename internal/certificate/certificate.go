// Package certificate gives a server HTTPS by itself: autocert orders certificates of its domains from an
// authority (ACME) and answers the authority's questions, with a cache in the database.
//
// autocert alone orders in handshakes, as often as strangers connect and on every node, orders another
// certificate for clients of TLS 1.3 only, and hides why a domain could not be proven. Here handshakes
// order nothing, one node orders at a time, after growing delays, and the log says what is missing.
package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// Directory is the authority unless another one is given.
const Directory = autocert.DefaultACMEDirectory

// A Store is what nodes share: certificates, the account at the authority and the tokens of orders under
// way, each under the name that autocert gives it.
type Store interface {
	autocert.Cache
	// Claim begins an order that ends before a time, unless the order before it has not ended or the next
	// one has to wait.
	Claim(ctx context.Context, domain string, now, until time.Time) (Order, error)
	// End ends an order.
	End(ctx context.Context, domain string, o Order) error
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
	Kept      autocert.Cache // copies on this machine, for a start without the database; nil for none
}

// A Manager has the certificates of a server.
type Manager struct {
	cfg       Config
	held      map[string]*atomic.Pointer[tls.Certificate] // by domain
	store     Store                                       // of Run
	tokens    tokens
	answers   *autocert.Manager // answers the authority; orders nothing
	transport http.RoundTripper // to the authority
}

// New returns a Manager without certificates; Run gets them.
func New(cfg Config) *Manager {
	m := &Manager{cfg: cfg, held: map[string]*atomic.Pointer[tls.Certificate]{}, transport: http.DefaultTransport}
	m.tokens.log = cfg.Log
	m.answers = &autocert.Manager{Cache: &m.tokens}
	for _, domain := range cfg.Domains {
		m.held[domain] = &atomic.Pointer[tls.Certificate]{}
	}
	return m
}

// TLS returns the configuration of the listener.
func (m *Manager) TLS() *tls.Config {
	cfg := m.answers.TLSConfig()
	cfg.MinVersion, cfg.GetCertificate = tls.VersionTLS12, m.get
	return cfg
}

var errNoCertificate = errors.New("there is no certificate yet: the log says what is missing")

func (m *Manager) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	held, ok := m.held[strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))]
	if !ok {
		return nil, fmt.Errorf("%q is not a domain of this server", hello.ServerName)
	}
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return m.answers.GetCertificate(hello)
	}
	if c := held.Load(); c != nil {
		return c, nil
	}
	return nil, errNoCertificate
}

// tokens are the cache of autocert for the questions of authorities, and of strangers: these wait for each
// other, and learn nothing about the database.
type tokens struct {
	autocert.Cache
	store atomic.Pointer[Store] // nil until the database is open
	turn  sync.Mutex
	log   *slog.Logger
}

// Get returns the answer to a question.
func (t *tokens) Get(ctx context.Context, name string) ([]byte, error) {
	t.turn.Lock()
	defer t.turn.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	store := t.store.Load()
	if store == nil {
		return nil, autocert.ErrCacheMiss
	}
	value, err := (*store).Get(ctx, name)
	if err != nil && !errors.Is(err, autocert.ErrCacheMiss) {
		t.log.Warn("the authority's question cannot be answered", "error", err)
		err = autocert.ErrCacheMiss
	}
	return value, err
}

// Expiry returns when the first of the certificates expires; the zero time if one is missing.
func (m *Manager) Expiry() time.Time {
	_, first := m.First()
	return first
}

// First returns the domain whose certificate expires first, and when; the zero time if it has none.
func (m *Manager) First() (domain string, first time.Time) {
	for _, name := range m.cfg.Domains {
		c := m.held[name].Load()
		if c == nil {
			return name, time.Time{}
		}
		if first.IsZero() || c.Leaf.NotAfter.Before(first) {
			domain, first = name, c.Leaf.NotAfter
		}
	}
	return domain, first
}

// Open reads the certificates in a database, and returns their Expiry. It also reads the account, which
// renewals need.
func (m *Manager) Open(ctx context.Context, store Store) (first time.Time, err error) {
	m.store = store
	m.tokens.store.Store(&store)
	if _, err = store.Get(ctx, "acme_account+key"); errors.Is(err, autocert.ErrCacheMiss) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("the account at the authority cannot be read from the database: %w", err)
	}
	for _, domain := range m.cfg.Domains {
		err = errors.Join(err, m.load(ctx, domain))
	}
	return m.Expiry(), err
}

// Run keeps the certificates in the database that was opened valid until ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	for started := true; ctx.Err() == nil; started = false {
		m.look(ctx, started)
		// Certificates of test authorities live for minutes. If one is missing, the difference is negative.
		wait := max(2*time.Second, min(time.Minute, m.Expiry().Sub(m.cfg.Now())/8))
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil
}

// look reads the certificates of other nodes, and orders missing and old ones. Nothing is ordered in place
// of a certificate that cannot be read: it may be good.
func (m *Manager) look(ctx context.Context, started bool) {
	for _, domain := range m.cfg.Domains {
		err := m.load(ctx, domain)
		if err == nil && m.isDue(domain) {
			err = m.renew(ctx, domain, started)
		}
		if err != nil && ctx.Err() == nil {
			m.cfg.Log.Error(err.Error())
		}
	}
}

// load reads a certificate from the database. If it cannot be read, the one in memory stays.
func (m *Manager) load(ctx context.Context, domain string) error {
	text, err := m.store.Get(ctx, domain)
	if errors.Is(err, autocert.ErrCacheMiss) {
		return nil
	}
	var c tls.Certificate
	if err == nil {
		c, err = tls.X509KeyPair(text, text)
	}
	if err != nil {
		return fmt.Errorf("the certificate of %s cannot be read from the database: %w", domain, err)
	}
	before := m.held[domain].Swap(&c)
	if m.cfg.Kept == nil || before != nil && before.Leaf.Equal(c.Leaf) {
		return nil
	}
	if err := m.cfg.Kept.Put(ctx, domain, text); err != nil {
		m.cfg.Log.Warn("a certificate cannot be kept on this machine: while the database is away, it cannot start "+
			"over HTTPS", "domain", domain, "error", err)
	}
	return nil
}

// Recall holds the copies of certificates on this machine, until the database can be read.
func (m *Manager) Recall(ctx context.Context) {
	for domain, held := range m.held {
		text, err := m.cfg.Kept.Get(ctx, domain)
		if err != nil {
			continue // handshakes fail until the database is there
		}
		if c, err := tls.X509KeyPair(text, text); err == nil {
			held.Store(&c)
		}
	}
}

// isDue reports whether a certificate is missing or in the last third of its life, at most a month before
// its end.
func (m *Manager) isDue(domain string) bool {
	c := m.held[domain].Load()
	if c == nil {
		return true
	}
	rest := min(c.Leaf.NotAfter.Sub(c.Leaf.NotBefore)/3, 30*24*time.Hour)
	return !m.cfg.Now().Before(c.Leaf.NotAfter.Add(-rest))
}
