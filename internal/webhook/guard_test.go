package webhook_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"palmares/internal/webhook"
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
	for _, guard := range []*webhook.Guard{webhook.NewGuard(nil), webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("172.20.0.0/16"), netip.MustParsePrefix("fd12::/16")})} {
		for _, text := range hostileAddresses {
			addr := netip.MustParseAddr(text)
			err := guard.Check(network(addr), netip.AddrPortFrom(addr, 443))
			if !errors.Is(err, webhook.ErrBlocked) {
				t.Errorf("%s passes: %v", text, err)
			}
		}
	}
	if err := webhook.NewGuard(nil).Check("tcp4", netip.AddrPort{}); !errors.Is(err, webhook.ErrBlocked) {
		t.Errorf("no address at all passes: %v", err)
	}
}

func TestPublicAddressesAreOpenOnPort443Alone(t *testing.T) {
	guard := webhook.NewGuard(nil)
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.1", "168.63.129.15", "172.15.0.1", "172.32.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a01:4f8::1", "2001:200::1"} {
		addr := netip.MustParseAddr(text)
		if err := guard.Check(network(addr), netip.AddrPortFrom(addr, 443)); err != nil {
			t.Errorf("%s on 443: %v", text, err)
		}
		for _, port := range []uint16{0, 1, 22, 25, 53, 80, 444, 2375, 5432, 6379, 8080, 8443, 65535} {
			if err := guard.Check(network(addr), netip.AddrPortFrom(addr, port)); !errors.Is(err, webhook.ErrBlocked) {
				t.Errorf("%s on %d passes: %v", text, port, err)
			}
		}
		for _, network := range []string{"", "tcp", "udp", "udp4", "udp6", "ip4", "unix"} {
			if err := guard.Check(network, netip.AddrPortFrom(addr, 443)); !errors.Is(err, webhook.ErrBlocked) {
				t.Errorf("%s over %q passes: %v", text, network, err)
			}
		}
	}
}

func TestAnOpenedNetworkIsOpenOnEveryPortAndNothingElseIs(t *testing.T) {
	guard := webhook.NewGuard(loopback)
	for _, text := range []string{"127.0.0.1:80", "127.255.255.255:9", "[::1]:8080", "[::ffff:127.0.0.1]:8080", "8.8.8.8:443"} {
		to := netip.MustParseAddrPort(text)
		if err := guard.Check(network(to.Addr()), to); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"10.0.0.1:443", "8.8.8.8:80", "[::2]:443", "[::ffff:10.0.0.1]:443", "[64:ff9b::127.0.0.1]:443", "[2002:7f00:1::]:443"} {
		to := netip.MustParseAddrPort(text)
		if err := guard.Check(network(to.Addr()), to); !errors.Is(err, webhook.ErrBlocked) {
			t.Errorf("%s passes: %v", text, err)
		}
	}
}

// elsewhere opens a network that no test dials, so that http and the ports of this
// machine's listeners pass CheckURL, and loopback stays closed.
var elsewhere = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}

// canary listens on loopback and counts who comes.
func canary(t *testing.T) (port string, visits *atomic.Int32) {
	t.Helper()
	visits = new(atomic.Int32)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			visits.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL[strings.LastIndexByte(server.URL, ':')+1:], visits
}

// Every address given the second time is this machine, so that even without a guard
// nothing would leave it.
func TestANameThatResolvesToSomethingElseTheSecondTimeReachesNothing(t *testing.T) {
	for what, second := range map[string][]string{
		"loopback":                  {"127.0.0.1"},
		"IPv6 loopback":             {"::1"},
		"mapped loopback":           {"::ffff:127.0.0.1"},
		"this host":                 {"0.0.0.0"},
		"both loopbacks":            {"127.0.0.1", "::1"},
		"loopback in several forms": {"127.0.0.1", "127.0.0.2", "127.1.1.1", "::1"},
	} {
		t.Run(what, func(t *testing.T) {
			port, visits := canary(t)
			names := startNames(t, []string{"93.184.215.14"}, second)
			seen, err := names.resolver.LookupHost(t.Context(), "rebind.test")
			if err != nil || len(seen) != 1 || seen[0] != "93.184.215.14" {
				t.Fatalf("the first answer is %v, %v", seen, err)
			}
			d := dispatcher(t, webhook.Config{Allow: elsewhere})
			d.Resolve(names.resolver)
			for _, url := range []string{"http://rebind.test:" + port + "/", "https://rebind.test:" + port + "/", "https://rebind.test/"} {
				result := d.Send(t.Context(), claim(url))
				if result.Outcome != webhook.Blocked || result.Status != 0 {
					t.Errorf("%s: %+v", url, result)
				}
			}
			if n := visits.Load(); n != 0 {
				t.Errorf("the canary saw %d connections", n)
			}
			if names.asked.Load() < 2 {
				t.Error("the name was resolved only once: nothing was shown")
			}
		})
	}
}

// The canary of the test above sings when its cage is open.
func TestTheCanarySeesConnectionsThatAreAllowed(t *testing.T) {
	port, visits := canary(t)
	d := dispatcher(t, webhook.Config{Allow: loopback})
	d.Resolve(startNames(t, []string{"127.0.0.1"}).resolver)
	if result := d.Send(t.Context(), claim("http://rebind.test:"+port+"/")); result.Outcome != webhook.OK {
		t.Errorf("%+v", result)
	}
	if n := visits.Load(); n != 1 {
		t.Errorf("the canary saw %d connections", n)
	}
}

func TestAnAddressThatIsNoLongerOpenedIsNotDialled(t *testing.T) {
	port, visits := canary(t)
	for _, allow := range [][]netip.Prefix{nil, elsewhere} {
		d := dispatcher(t, webhook.Config{Allow: allow})
		if result := d.Send(t.Context(), claim("http://127.0.0.1:"+port+"/")); result.Outcome != webhook.Blocked {
			t.Errorf("%+v", result)
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("the canary saw %d connections", n)
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	proxy, visits := canary(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:"+proxy)
	}
	port, reached := canary(t)
	d := dispatcher(t, webhook.Config{Allow: loopback})
	d.Resolve(startNames(t, []string{"127.0.0.1"}).resolver) // a proxy is never asked for loopback by its number
	if result := d.Send(t.Context(), claim("http://receiver.test:"+port+"/")); result.Outcome != webhook.OK || reached.Load() != 1 {
		t.Errorf("%+v", result)
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("the proxy saw %d connections", n)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	port, visits := canary(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		redirecting := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:"+port+"/", status))
		defer redirecting.Close()
		d := dispatcher(t, webhook.Config{Allow: loopback})
		if result := d.Send(t.Context(), claim(redirecting.URL)); result.Outcome != webhook.HTTPStatus || result.Status != status {
			t.Errorf("%d: %+v", status, result)
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("the canary saw %d connections", n)
	}
}
