package guard_test

import (
	"errors"
	"net/netip"
	"testing"

	"palmares/internal/guard"
)

// hostileAddresses are refused on port 443. They are only ever given to Check.
var hostileAddresses = []string{
	// IPv4
	"0.0.0.0", "0.0.0.1", "0.255.255.255", "10.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.0", "127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.255",
	"168.63.129.16", "169.254.0.1", "169.254.169.253", "169.254.169.254", "169.254.170.2", "169.254.255.255", "172.16.0.1", "172.17.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
	"224.0.0.1", "224.0.0.251", "239.255.255.250", "239.255.255.255", "240.0.0.1", "250.1.2.3", "255.255.255.254", "255.255.255.255",
	// IPv6 that is IPv4 in disguise: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:192.168.1.1", "::ffff:8.8.8.8", "::ffff:0.0.0.0", "::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:a9fe:a9fe",
	"64:ff9b::", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::8.8.8.8", "64:ff9b:1::", "64:ff9b:1::7f00:1", "64:ff9b:1:ffff::a9fe:a9fe", "2002::", "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "2002:808:808::1", "2001::", "2001::1", "2001:0:7f00:1::", "2001:0:a9fe:a9fe:0:0:0:0", "fe80::5efe:127.0.0.1",
	// the rest of IPv6
	"::", "::1", "::2", "100::", "100::1", "100:0:0:1::1", "1::1", "200::1", "400::1", "2001:1::1", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:db8::", "2001:db8::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8000::1", "3fff::1", "3fff:fff:ffff::1", "4000::1", "5f00::1", "8000::1",
	"fc00::1", "fd00::1", "fd00:ec2::23", "fd00:ec2::254", "fd20:ce::254", "fdff:ffff::1", "fe00::1", "fe80::", "fe80::1", "fe80::a9fe:a9fe", "fe80::1%eth0", "fe80::1%lo", "2606:4700::1111%eth0", "febf::1", "fec0::1", "fec0:0:0:ffff::1", "feff::1", "ff00::1", "ff01::1", "ff02::1", "ff02::fb", "ff05::1:3", "ff0e::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
}

func network(a netip.Addr) string {
	if a.Is4() {
		return "tcp4"
	}
	return "tcp6"
}

func TestHostileAddressesAreRefusedAtConnectTime(t *testing.T) {
	// Opening one network must not open another.
	for _, g := range []*guard.Guard{guard.New(nil), guard.New([]netip.Prefix{netip.MustParsePrefix("172.20.0.0/16"), netip.MustParsePrefix("fd12::/16")})} {
		for _, text := range hostileAddresses {
			addr := netip.MustParseAddr(text)
			err := g.Check(network(addr), netip.AddrPortFrom(addr, 443))
			if !errors.Is(err, guard.ErrBlocked) {
				t.Errorf("%s passes: %v", text, err)
			}
		}
	}
	if err := guard.New(nil).Check("tcp4", netip.AddrPort{}); !errors.Is(err, guard.ErrBlocked) {
		t.Errorf("no address at all passes: %v", err)
	}
}

func TestPublicAddressesAreOpenOnPort443Alone(t *testing.T) {
	g := guard.New(nil)
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.1", "168.63.129.15", "172.15.0.1", "172.32.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a01:4f8::1", "2001:200::1"} {
		addr := netip.MustParseAddr(text)
		if err := g.Check(network(addr), netip.AddrPortFrom(addr, 443)); err != nil {
			t.Errorf("%s on 443: %v", text, err)
		}
		for _, port := range []uint16{0, 1, 22, 25, 53, 80, 444, 2375, 5432, 6379, 8080, 8443, 65535} {
			if err := g.Check(network(addr), netip.AddrPortFrom(addr, port)); !errors.Is(err, guard.ErrBlocked) {
				t.Errorf("%s on %d passes: %v", text, port, err)
			}
		}
		for _, network := range []string{"", "tcp", "udp", "udp4", "udp6", "ip4", "unix"} {
			if err := g.Check(network, netip.AddrPortFrom(addr, 443)); !errors.Is(err, guard.ErrBlocked) {
				t.Errorf("%s over %q passes: %v", text, network, err)
			}
		}
	}
}

func TestAnOpenedNetworkIsOpenOnEveryPortAndNothingElseIs(t *testing.T) {
	g := guard.New(loopback)
	for _, text := range []string{"127.0.0.1:80", "127.255.255.255:9", "[::1]:8080", "[::ffff:127.0.0.1]:8080", "8.8.8.8:443"} {
		to := netip.MustParseAddrPort(text)
		if err := g.Check(network(to.Addr()), to); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"10.0.0.1:443", "8.8.8.8:80", "[::2]:443", "[::ffff:10.0.0.1]:443", "[64:ff9b::127.0.0.1]:443", "[2002:7f00:1::]:443"} {
		to := netip.MustParseAddrPort(text)
		if err := g.Check(network(to.Addr()), to); !errors.Is(err, guard.ErrBlocked) {
			t.Errorf("%s passes: %v", text, err)
		}
	}
}
