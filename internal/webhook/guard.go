package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrBlocked is in the error of every connection that the Guard refused.
var ErrBlocked = errors.New("webhooks are not sent to this address")

// unlisted are addresses that no registry calls special and that answer only
// inside somebody's house.
var unlisted = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's platform, from inside any of its virtual machines
}

// A Guard keeps customers' URLs from turning this process against the network it
// stands in. It looks at the address of each connection after the name was
// resolved and before anything is sent, so a name that resolves to something else
// the second time gains nothing.
//
// Public addresses are open on port 443. What IANA's registries of special
// addresses list is closed, and in IPv6 all that is not global unicast: mapped
// IPv4, NAT64, link-local, site-local, unique local (the metadata service of
// clouds is in one of these). What the operator opened is open on every port.
type Guard struct {
	allow  []netip.Prefix
	public *ssrf.Guardian
}

// NewGuard makes a guard that opens allow beside the public addresses.
func NewGuard(allow []netip.Prefix) *Guard {
	return &Guard{
		allow:  allow,
		public: ssrf.New(ssrf.WithPorts(443), ssrf.WithDeniedV4Prefixes(unlisted...)),
	}
}

// Check refuses, with ErrBlocked, an address that no webhook may be sent to.
// network is tcp4 or tcp6, as a net.Dialer has it.
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

// control is Check in the form of net.Dialer.Control.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	return g.Check(network, to)
}
