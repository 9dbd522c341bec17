// Package clientip determines the address of the client that sent a request. It is
// the only identification of callers without a key.
//
// The address is the TCP peer's. If the peer is a proxy, X-Forwarded-For has
// the address of its client; but anybody can send that header, so an entry can be
// trusted only as far as the machine that appended it. The list is therefore read
// from the right, as long as the current address belongs to a trusted proxy. What
// an untrusted client wrote is further left and never reached.
package clientip

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Addr returns the address of the client that sent r, without a zone, and as IPv4
// if it is an IPv4-mapped IPv6 address. X-Forwarded-For is used only if the peer is
// trusted. Everything to the left of an invalid entry is ignored. If every entry is
// trusted, the left-most is the client.
//
// Addr returns the zero Addr if the peer has no address, as on a Unix socket.
func Addr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := normalize(peer.Addr())
	// Several header lines are one list (RFC 9110, section 5.3).
	list := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, entry := range slices.Backward(list) {
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return addr
		}
		entry = strings.Trim(entry, " \t")
		if entry == "" {
			continue // empty list elements are ignored (RFC 9110, section 5.6.1)
		}
		next, ok := parseEntry(entry)
		if !ok {
			return addr
		}
		addr = next
	}
	return addr
}

// parseEntry parses one entry of X-Forwarded-For. The header is not standardized:
// proxies write an address, with or without a port, with or without brackets.
func parseEntry(s string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return normalize(addr), true
	}
	if with, err := netip.ParseAddrPort(s); err == nil {
		return normalize(with.Addr()), true
	}
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		if addr, err := netip.ParseAddr(s[1 : len(s)-1]); err == nil && addr.Is6() {
			return normalize(addr), true
		}
	}
	return netip.Addr{}, false
}

// normalize returns the form in which addresses are compared. A zone names an
// interface of the machine that wrote it, not a client.
func normalize(a netip.Addr) netip.Addr { return a.WithZone("").Unmap() }

// IsLoopback reports whether the host of a request, with or without a port, is this machine.
// Names other than localhost are not: their owner decides what they resolve to.
func IsLoopback(host string) bool {
	name := hostName(host)
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.IsLoopback()
}

// IsPrivateName reports whether nobody else can have decided what the host of a request resolves to:
// it is an address, a name without a dot or the known one, or there is none. So a page that a browser
// shows cannot reach a private server under a name of its own.
func IsPrivateName(host, known string) bool {
	name := hostName(host)
	_, err := netip.ParseAddr(name)
	return err == nil || !strings.Contains(name, ".") || strings.EqualFold(name, known)
}

// hostName returns the name, or the address, of a host with or without a port.
func hostName(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return strings.TrimSuffix(strings.Trim(name, "[]"), ".")
}

// Network returns the network that counts as one anonymous caller: an IPv4 address,
// or the /64 of an IPv6 address, which is the smallest that providers assign to a
// household, and within which addresses change at will. For the zero Addr it
// returns the zero Prefix.
func Network(a netip.Addr) netip.Prefix {
	a = normalize(a)
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // only the zero Addr has no prefix of that length
	}
	return p
}

// ParseTrusted parses a comma-separated list of trusted proxies: networks in CIDR
// notation or single addresses. An empty list is valid.
func ParseTrusted(s string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		p, err := parsePrefix(item)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q is neither a network nor an address: "+
				"write it as in 10.0.0.0/8 or 192.0.2.7", item)
		}
		list = append(list, p)
	}
	return list, nil
}

func parsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return netip.Prefix{}, err
		}
		if addr.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("%s has a zone", addr)
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	p = p.Masked()
	// Client addresses are unmapped, so the network must be too.
	if a := p.Addr(); a.Is4In6() {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p, nil
}
