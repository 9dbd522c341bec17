// Package clientip tells who is at the other end of a request, by address: the one
// thing there is to know about somebody who sends no key.
//
// The address is that of the TCP peer. Behind a proxy that is the proxy, which
// says in X-Forwarded-For whom it speaks for; but anybody can send that header, so
// each entry is worth only as much as the machine that wrote it. The list grows to
// the right: it is read from there, for as long as the address at hand is one that
// the operator trusts to tell the truth about the next. What a stranger wrote
// stands further left and is never reached.
package clientip

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Addr is the address of the client that sent r: IPv4 as such also when it came
// as IPv4-mapped IPv6, and without a zone. The header is believed only from a
// trusted peer. When it cannot be read at some place, what stands left of that is
// not looked at, and when every entry is trusted the left-most is the client.
//
// The zero Addr comes back when the peer has no address, as on a Unix socket.
func Addr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := plain(peer.Addr())
	lines := r.Header["X-Forwarded-For"]
	// Several lines are one list, in their order (RFC 9110, section 5.3).
	for i := len(lines) - 1; i >= 0; i-- {
		rest, more := lines[i], true
		for more {
			if !contains(trusted, addr) {
				return addr
			}
			var entry string
			rest, entry, more = cutLast(rest)
			if entry == "" {
				continue // an empty element of a list means nothing (RFC 9110, section 5.6.1)
			}
			next, ok := parseEntry(entry)
			if !ok {
				return addr
			}
			addr = next
		}
	}
	return addr
}

// cutLast takes the last element off a list.
func cutLast(list string) (rest, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", strings.Trim(list, " \t"), false
	}
	return list[:i], strings.Trim(list[i+1:], " \t"), true
}

// parseEntry reads one entry of X-Forwarded-For. The header has no standard:
// proxies write an address alone, with a port, in brackets, or both.
func parseEntry(s string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return plain(addr), true
	}
	if with, err := netip.ParseAddrPort(s); err == nil {
		return plain(with.Addr()), true
	}
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		if addr, err := netip.ParseAddr(s[1 : len(s)-1]); err == nil && addr.Is6() {
			return plain(addr), true
		}
	}
	return netip.Addr{}, false
}

// plain gives the one form in which addresses are compared. A zone names an
// interface of the machine that wrote it, not a client.
func plain(a netip.Addr) netip.Addr { return a.WithZone("").Unmap() }

func contains(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Network is what counts as one client that has no key: an IPv4 address, or the
// /64 of an IPv6 address, which is the least that a household is given and inside
// which it changes its address at will. The zero Addr gives the zero Prefix.
func Network(a netip.Addr) netip.Prefix {
	a = plain(a)
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

// ParseTrusted reads the proxies that an operator trusts: networks in CIDR form or
// single addresses, separated by commas. Nothing at all means that none is.
func ParseTrusted(s string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		p, err := parsePrefix(item)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q is neither a network nor an address: write it as in 10.0.0.0/8 or 192.0.2.7", item)
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
	// Clients are compared in their IPv4 form, so the network must have it too.
	if a := p.Addr(); a.Is4In6() {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p, nil
}
