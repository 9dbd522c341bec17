// Package guard judges addresses that a stranger chose, when they are entered and when they are dialled, so that no
// request leads into a private network.
package guard

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrBlocked is wrapped by the error of every connection that the Guard refused.
var ErrBlocked = errors.New("nothing is sent to this address")

// unlisted are addresses that no registry lists as special, but that are reachable
// only in private networks.
var unlisted = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's platform, from inside any of its virtual machines
}

// A Guard protects the private network of this process from strangers' URLs (SSRF). It
// checks the address of each connection after the name was resolved and before
// anything is sent, so DNS rebinding does not help an attacker.
//
// Public addresses are allowed on port 443. Addresses in IANA's special-purpose
// registries are refused, and in IPv6 everything that is not global unicast: mapped
// IPv4, NAT64, link-local, site-local, unique local (which include the metadata
// services of clouds). Networks that the operator allowed are open on every port.
type Guard struct {
	allow  []netip.Prefix
	public *ssrf.Guardian
}

// New returns a guard that allows the networks of allow and public addresses.
func New(allow []netip.Prefix) *Guard {
	return &Guard{
		allow:  allow,
		public: ssrf.New(ssrf.WithPorts(443), ssrf.WithDeniedV4Prefixes(unlisted...)),
	}
}

// Check returns ErrBlocked for an address that nothing may be sent to. network is
// tcp4 or tcp6, as net.Dialer passes it.
func (g *Guard) Check(network string, to netip.AddrPort) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s is not TCP", ErrBlocked, network)
	}
	addr := to.Addr()
	switch {
	case !addr.IsValid() || addr.Zone() != "":
		return fmt.Errorf("%w: %s", ErrBlocked, to)
	case contains(g.allow, addr):
		return nil
	}
	if err := g.public.SafeAddrPort(to); err != nil {
		return fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	return nil
}

// Control is Check as a net.Dialer.Control.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	return g.Check(network, to)
}
