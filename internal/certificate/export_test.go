package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"time"
)

// What tests in another package use; they need a store, whose package imports this one.

const ProofPath = proofPath

var Ways = ways

func (m *Manager) Open(store Store, sealer Sealer) { m.values.open(store, sealer) }

func (m *Manager) Order(ctx context.Context, domain string) error { return m.order(ctx, domain) }

func (m *Manager) Load(ctx context.Context, domain string) error { return m.load(ctx, domain) }

func (m *Manager) Look(ctx context.Context, store Store, started bool) { m.look(ctx, store, started) }

func (m *Manager) Explain(err error, domain string) string {
	return explain(err, domain, m.cfg.Directory)
}

// Trust lets m connect to authorities whose certificates are signed by one of roots.
func (m *Manager) Trust(roots *x509.CertPool) {
	m.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
}

func (m *Manager) Put(ctx context.Context, name, value string) error {
	return m.values.put(ctx, name, value)
}

func (m *Manager) Get(ctx context.Context, name string) (string, error) {
	return m.values.get(ctx, name)
}

func (o Order) MayTry(now time.Time, started bool) bool { return !now.Before(o.next(now, started)) }
