package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
)

// What tests in another package use; they need a store, whose package imports this one.

func (m *Manager) Look(ctx context.Context, started bool) { m.look(ctx, started) }

// Trust lets m connect to authorities whose certificates are signed by one of roots.
func (m *Manager) Trust(roots *x509.CertPool) {
	m.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
}
