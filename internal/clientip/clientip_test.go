package clientip_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"palmares/internal/clientip"
)

const proxies = "10.0.0.0/8, 192.0.2.7, 2001:db8:ffff::/48"

func request(peer string, lines ...string) *http.Request {
	r := &http.Request{RemoteAddr: peer, Header: http.Header{}}
	if lines != nil {
		r.Header["X-Forwarded-For"] = lines
	}
	return r
}

func trust(t testing.TB, s string) []netip.Prefix {
	t.Helper()
	list, err := clientip.ParseTrusted(s)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheClientIsTheRightMostUntrustedEntry(t *testing.T) {
	trusted := trust(t, proxies)
	for _, tt := range forwarded {
		t.Run(tt.name, func(t *testing.T) {
			if got := clientip.Addr(request(tt.peer, tt.lines...), trusted); got.String() != tt.want {
				t.Errorf("peer %s, X-Forwarded-For %q: client %s, want %s", tt.peer, tt.lines, got, tt.want)
			}
		})
	}
}

var forwarded = []struct {
	name  string
	peer  string
	lines []string
	want  string
}{
	{"no header", "203.0.113.9:41000", nil, "203.0.113.9"},
	{"IPv6 peer", "[2001:db8::1]:443", nil, "2001:db8::1"},
	{"IPv4-mapped peer", "[::ffff:203.0.113.9]:443", nil, "203.0.113.9"},
	{"peer with a zone", "[fe80::1%eth0]:443", nil, "fe80::1"},
	{"no peer", "@", []string{"198.51.100.1"}, "invalid IP"},
	{"untrusted peer with a header", "203.0.113.9:41000", []string{"198.51.100.1"}, "203.0.113.9"},
	{"mapped untrusted peer with a header", "[::ffff:203.0.113.9]:1", []string{"198.51.100.1"}, "203.0.113.9"},

	{"trusted without a header", "10.1.2.3:80", nil, "10.1.2.3"},
	{"trusted with an empty header", "10.1.2.3:80", []string{""}, "10.1.2.3"},
	{"trusted single address", "192.0.2.7:80", []string{"198.51.100.1"}, "198.51.100.1"},
	{"address next to a trusted one", "192.0.2.8:80", []string{"198.51.100.1"}, "192.0.2.8"},
	{"trusted mapped peer", "[::ffff:10.1.2.3]:80", []string{"198.51.100.1"}, "198.51.100.1"},
	{"trusted IPv6 peer", "[2001:db8:ffff::7]:80", []string{"198.51.100.1"}, "198.51.100.1"},

	{"forged left part", "10.1.2.3:80", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
	{"forged trusted address", "10.1.2.3:80", []string{"10.9.9.9, 198.51.100.1"}, "198.51.100.1"},
	{"chain of proxies", "10.1.2.3:80", []string{"198.51.100.1, 10.7.7.7, 192.0.2.7"}, "198.51.100.1"},
	{"all are trusted", "10.1.2.3:80", []string{"10.4.4.4, 10.5.5.5"}, "10.4.4.4"},
	{"several lines are one list", "10.1.2.3:80", []string{"1.1.1.1", "198.51.100.1, 10.7.7.7", "10.8.8.8"}, "198.51.100.1"},
	{"the last line decides", "10.1.2.3:80", []string{"198.51.100.1", "198.51.100.2"}, "198.51.100.2"},

	{"spaces and tabs", "10.1.2.3:80", []string{" \t198.51.100.1 \t, 10.7.7.7  "}, "198.51.100.1"},
	{"empty elements", "10.1.2.3:80", []string{"1.1.1.1,,198.51.100.1, ,", "", ","}, "198.51.100.1"},
	{"IPv4 with a port", "10.1.2.3:80", []string{"198.51.100.1:61234"}, "198.51.100.1"},
	{"IPv6", "10.1.2.3:80", []string{"2001:DB8::5"}, "2001:db8::5"},
	{"IPv6 in brackets", "10.1.2.3:80", []string{"[2001:db8::5]"}, "2001:db8::5"},
	{"IPv6 with a port", "10.1.2.3:80", []string{"[2001:db8::5]:443"}, "2001:db8::5"},
	{"IPv6 with a zone", "10.1.2.3:80", []string{"fe80::5%en0"}, "fe80::5"},
	{"IPv6 with brackets, zone and port", "10.1.2.3:80", []string{"[fe80::5%en0]:443"}, "fe80::5"},
	{"IPv4-mapped entry", "10.1.2.3:80", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
	{"IPv4-mapped in hexadecimal with a port", "10.1.2.3:80", []string{"[::ffff:c633:6401]:9"}, "198.51.100.1"},
	{"IPv4-mapped trusted entry", "10.1.2.3:80", []string{"198.51.100.1, ::ffff:10.7.7.7"}, "198.51.100.1"},

	{"garbage alone", "10.1.2.3:80", []string{"unknown"}, "10.1.2.3"},
	{"garbage at the right", "10.1.2.3:80", []string{"198.51.100.1, unknown"}, "10.1.2.3"},
	{"garbage behind a proxy", "10.1.2.3:80", []string{"198.51.100.1, _hidden, 10.7.7.7"}, "10.7.7.7"},
	{"garbage in another line", "10.1.2.3:80", []string{"198.51.100.1", "nonsense", "10.7.7.7"}, "10.7.7.7"},
	{"garbage left of the client", "10.1.2.3:80", []string{"unknown, 198.51.100.1"}, "198.51.100.1"},
	{"invalid port", "10.1.2.3:80", []string{"1.1.1.1, 198.51.100.1:99999"}, "10.1.2.3"},
	{"missing port", "10.1.2.3:80", []string{"198.51.100.1:"}, "10.1.2.3"},
	{"IPv4 in brackets", "10.1.2.3:80", []string{"[198.51.100.1]"}, "10.1.2.3"},
	{"leading zeros", "10.1.2.3:80", []string{"198.051.100.001"}, "10.1.2.3"},
	{"a network", "10.1.2.3:80", []string{"198.51.100.0/24"}, "10.1.2.3"},
	{"quotes", "10.1.2.3:80", []string{`"198.51.100.1"`}, "10.1.2.3"},
	{"open bracket", "10.1.2.3:80", []string{"[2001:db8::5"}, "10.1.2.3"},
	{"empty brackets", "10.1.2.3:80", []string{"[]"}, "10.1.2.3"},
}

func TestOneCallerIsAnIPv4AddressOrAnIPv6Slash64(t *testing.T) {
	for addr, want := range map[string]string{
		"203.0.113.9":                "203.0.113.9/32",
		"::ffff:203.0.113.9":         "203.0.113.9/32",
		"2001:db8:1:2:3:4:5:6":       "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff:ffff::":   "2001:db8:1:2::/64",
		"2001:db8:1:3::":             "2001:db8:1:3::/64",
		"fe80::1%eth0":               "fe80::/64",
		"64:ff9b::203.0.113.9":       "64:ff9b::/64",
		"::1":                        "::/64",
		"::ffff:ffff:ffff:ffff:ffff": "0:0:0:ffff::/64",
	} {
		if got := clientip.Network(netip.MustParseAddr(addr)); got.String() != want {
			t.Errorf("the network of %s is %s, want %s", addr, got, want)
		}
	}
	if got := clientip.Network(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("the network of no address is %s, want the zero prefix", got)
	}
}

func TestTrustedProxiesAreNetworksOrAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" , ":                           "",
		"10.0.0.0/8":                    "10.0.0.0/8",
		"10.1.2.3/8":                    "10.0.0.0/8",
		" 10.0.0.0/8 ,192.0.2.7":        "10.0.0.0/8 192.0.2.7/32",
		"::1,2001:db8::/32,":            "::1/128 2001:db8::/32",
		"::ffff:10.0.0.0/104":           "10.0.0.0/8",
		"::ffff:192.0.2.7":              "192.0.2.7/32",
		"::/0":                          "::/0",
		"0.0.0.0/0,2001:db8:0:1::99/64": "0.0.0.0/0 2001:db8:0:1::/64",
	} {
		list, err := clientip.ParseTrusted(text)
		if err != nil {
			t.Errorf("ParseTrusted(%q): %v", text, err)
			continue
		}
		var got []string
		for _, p := range list {
			got = append(got, p.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("ParseTrusted(%q) = %v, want %s", text, got, want)
		}
	}
}

func TestAnInvalidTrustedProxyIsNamedInTheError(t *testing.T) {
	for _, bad := range []string{"10.0.0.0/33", "proxy.example", "10.0.0", "fe80::1%eth0", "fe80::%eth0/64", "10.0.0.0/8/8", "10.0.0.0-10.0.0.9", "/8"} {
		list, err := clientip.ParseTrusted("192.0.2.7," + bad)
		if err == nil || !strings.Contains(err.Error(), `"`+bad+`"`) || list != nil {
			t.Errorf("ParseTrusted(…,%s) = %v, %v; want an error that names it", bad, list, err)
		}
	}
}

// What a client sends is to the left of what the proxy appends, so it must not
// matter. From an untrusted peer the header must not matter at all.
func FuzzAClientCannotChangeItsAddress(f *testing.F) {
	for _, s := range []string{
		"", "1.1.1.1", "10.1.1.1", "unknown", "[::1]:80", ",", "fe80::1%eth0", "::ffff:10.0.0.1",
		"[", "]", "[]", "%", ":", "1.1.1.1:", "\"1.1.1.1\"", "\x00", "1.1.1.1, ", "é, 10.0.0.1",
	} {
		f.Add(s, "198.51.100.1:1234")
		f.Add("10.0.0.1", s)
	}
	trusted := trust(f, proxies)
	want := netip.MustParseAddr("198.51.100.1")
	f.Fuzz(func(t *testing.T, written, peer string) {
		for _, lines := range [][]string{
			{written, "198.51.100.1"},
			{written + ",198.51.100.1"},
			{written, " 198.51.100.1 , 10.7.7.7", "192.0.2.7:80"},
		} {
			if got := clientip.Addr(request("10.1.2.3:80", lines...), trusted); got != want {
				t.Errorf("X-Forwarded-For %q: client %s, want %s", lines, got, want)
			}
			if got := clientip.Addr(request("198.51.100.1:9", lines[0]), trusted); got != want {
				t.Errorf("an untrusted peer sent %q and became %s", lines[0], got)
			}
		}
		joined := clientip.Addr(request("10.1.2.3:80", written+","+peer), trusted)
		if got := clientip.Addr(request("10.1.2.3:80", written, peer), trusted); got != joined {
			t.Errorf("%q and %q in two lines: %s, in one: %s", written, peer, got, joined)
		}
		for _, a := range []netip.Addr{joined, clientip.Addr(request(peer, written), trusted)} {
			if a.IsValid() && (a.Zone() != "" || a.Is4In6()) {
				t.Errorf("the client %s has a zone or is IPv4-mapped", a)
			}
			if n := clientip.Network(a); n != n.Masked() || n.IsValid() != a.IsValid() {
				t.Errorf("the network of %s is %s", a, n)
			}
		}
	})
}

func FuzzTrustedProxiesAreMaskedAndUnmapped(f *testing.F) {
	for _, s := range []string{proxies, "", ",", "::ffff:10.0.0.0/104", "::ffff:0:0/90", "::ffff:1.2.3.4/0", "10.0.0.0/8/8", "fe80::1%x", "0.0.0.0/0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := clientip.ParseTrusted(s)
		if err != nil && list != nil {
			t.Errorf("ParseTrusted(%q) returned %v with an error", s, list)
		}
		for _, p := range list {
			if !p.IsValid() || p != p.Masked() || p.Addr().Is4In6() {
				t.Errorf("ParseTrusted(%q) returned %s", s, p)
			}
			if got := clientip.Addr(&http.Request{
				RemoteAddr: netip.AddrPortFrom(p.Addr(), 80).String(),
				Header:     http.Header{"X-Forwarded-For": {"198.51.100.1"}},
			}, list); got.String() != "198.51.100.1" {
				t.Errorf("ParseTrusted(%q): %s is in it but not trusted", s, p.Addr())
			}
		}
	})
}
