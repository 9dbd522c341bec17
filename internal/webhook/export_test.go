package webhook

import (
	"context"
	"crypto/x509"
	"net"
)

// Dial replaces the network, guard and all.
func (d *Dispatcher) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	d.sender.transport.DialContext = dial
}

// Resolve makes names lead where a test wants; the guard stays.
func (d *Dispatcher) Resolve(r *net.Resolver) { d.sender.dialer.Resolver = r }

// Trust adds the authority of a test's certificates.
func (d *Dispatcher) Trust(roots *x509.CertPool) { d.sender.transport.TLSClientConfig.RootCAs = roots }

// Send makes one attempt.
func (d *Dispatcher) Send(ctx context.Context, c Claim) Result { return d.sender.send(ctx, c) }
