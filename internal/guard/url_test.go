package guard_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"palmares/internal/guard"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// hostileURLs are refused when nothing is opened. No name of a public host is among
// them: those are the Guard's to judge.
var hostileURLs = []string{
	// not https
	"http://hooks.example.com/", "HTTP://hooks.example.com/", "ftp://hooks.example.com/", "gopher://hooks.example.com:443/_GET",
	"file:///etc/passwd", "file://hooks.example.com/etc/passwd", "dict://hooks.example.com:443/", "ldap://hooks.example.com/", "jar:https://hooks.example.com!/",
	"ws://hooks.example.com/", "wss://hooks.example.com/", "unix:///run/docker.sock", "data:text/plain,x", "javascript:alert(1)", "https+unix://hooks.example.com/",
	"//hooks.example.com/", "hooks.example.com", "hooks.example.com/path", "/path", "", " ", "https", "https:", "https:/", "https://", "https:///path", "https:hooks.example.com", "https:?x", "https://?x", "https://#x",
	// user info
	"https://user@hooks.example.com/", "https://user:pass@hooks.example.com/", "https://@hooks.example.com/", "https://:@hooks.example.com/", "https://hooks.example.com@127.0.0.1/", "https://hooks.example.com:443@127.0.0.1/",
	"https://127.0.0.1@hooks.example.com/", "https://a@b@hooks.example.com/", "https://hooks.example.com%40127.0.0.1/", "https://user%3Apass@hooks.example.com/",
	// fragments
	"https://hooks.example.com/#", "https://hooks.example.com/#x", "https://hooks.example.com#@127.0.0.1/", "https://hooks.example.com/?x#y",
	// ports
	"https://hooks.example.com:80/", "https://hooks.example.com:22/", "https://hooks.example.com:8443/", "https://hooks.example.com:0/", "https://hooks.example.com:/", "https://hooks.example.com:65979/", "https://hooks.example.com:-443/", "https://hooks.example.com:443:443/", "https://hooks.example.com:443.0/", "https://hooks.example.com:https/", "https://hooks.example.com:4294967739/",
	// IPv4 in every notation
	"https://127.0.0.1/", "https://127.0.0.1:443/", "https://127.1/", "https://127.0.1/", "https://2130706433/", "https://0x7f000001/", "https://0X7F000001/", "https://0x7f.0.0.1/", "https://0x7f.1/", "https://017700000001/", "https://0177.0.0.1/", "https://0177.0.0.01/", "https://127.0.0.0x1/", "https://127.0.0.0X1/", "https://0/", "https://0.0.0.0/", "https://00000000.0/", "https://255.255.255.255/", "https://10.0.0.1/", "https://10.1/", "https://172.16.0.1/", "https://192.168.1.1/", "https://192.168.257/", "https://3232235777/", "https://169.254.169.254/", "https://2852039166/", "https://0xa9fea9fe/", "https://0xA9.0xFE.0xA9.0xFE/", "https://0251.0376.0251.0376/", "https://169.254.43518/", "https://425.510.425.510/", "https://168.63.129.16/", "https://100.100.100.200/", "https://8.8.8.8/", "https://1.1.1.1/", "https://256.256.256.256/", "https://1.2.3.4.5/", "https://1.2.3.4/path", "https://127.0.0.1./", "https://2130706433./", "https://127.000.000.001/", "https://hooks.example.1/", "https://hooks.example.0x/", "https://hooks.example.0x7f/", "https://hooks.example.099/", "https://0x/", "https://127.0.0.1%00/", "https://127.0.0.1%20/", "https://127。0。0。1/", "https://①②⑦.⓪.⓪.①/", "https://１２７.０.０.１/", "https://127%2e0%2e0%2e1/", "https://%31%32%37.0.0.1/", "https://0x7f%2E1/", "https://+127.0.0.1/", "https://127.0.0.1,hooks.example.com/",
	// IPv6
	"https://[::1]/", "https://[::]/", "https://[::1]:443/", "https://[0:0:0:0:0:0:0:1]/", "https://[0000::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/", "https://[64:ff9b::127.0.0.1]/", "https://[64:ff9b:1::7f00:1]/", "https://[2002:7f00:1::]/", "https://[2001:0:7f00:1::]/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[fe80::1%25lo]/", "https://[fc00::1]/", "https://[fd00:ec2::254]/", "https://[fec0::1]/", "https://[ff02::1]/", "https://[2001:db8::1]/", "https://[2606:4700:4700::1111]/", "https://[::1", "https://::1/", "https://[::1]x/", "https://[hooks.example.com]/", "https://[127.0.0.1]/", "https://[v1.x]/", "https://[::ffff:0x7f.1]/", "https://[]/",
	// names that are not complete public host names
	"https://localhost/", "https://LOCALHOST/", "https://localhost:443/", "https://localhost./", "https://foo.localhost/", "https://localhost.localdomain/", "https://printer.local/", "https://metadata.google.internal/", "https://metadata/", "https://intranet/", "https://db/", "https://com/", "https://hooks.example.com./", "https://hooks..example.com/", "https://.example.com/", "https://./", "https://../", "https://-hooks.example.com/", "https://hooks-.example.com/", "https://hooks_1.example.com/", "https://*.example.com/", "https://hooks.example.com%2f.evil.example/", "https://hooks.exa mple.com/", "https://hööks.example.com/", "https://hooks.example.com\\@127.0.0.1/", "https://hooks.example.com\\.evil.example/", "https:\\\\hooks.example.com/", "https://hooks.example.com\t/", "https://hooks.example.com\r\nHost: x/", "https://hooks.example.com/\x00", "https://hooks.example.com/\n", "\nhttps://hooks.example.com/", " https://hooks.example.com/", "https://hooks.example.com/ ", "https://hooks.example.com/é", "https://hooks.example.com\u202e/", "https://hooks\u00ad.example.com/", "https://ℓocalhost/", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "https://hooks.example.com/%zz", "https://%/", "https://hooks.example.com:443%2f@127.0.0.1/", "https://{hooks}.example.com/", "https://hooks.example.com;127.0.0.1/", "https://hooks.example.com&127.0.0.1/", "https://hooks.example.com|127.0.0.1/",
	"https://" + strings.Repeat("a", 64) + ".example.com/",
	"https://" + strings.Repeat("a.", 126) + "com/",
	"https://" + strings.Repeat("a.", 1000) + "com/",
	"https://hooks.example.com/" + strings.Repeat("x", 2048),
}

func TestHostileURLsAreRefusedWhenAdded(t *testing.T) {
	if len(hostileURLs) < 150 {
		t.Fatalf("only %d hostile URLs", len(hostileURLs))
	}
	for _, raw := range hostileURLs {
		kept, err := guard.CheckURL(raw, nil)
		var refused *guard.URLError
		switch {
		case err == nil:
			t.Errorf("%q passes, as %s", raw, kept)
		case !errors.As(err, &refused) || refused.Code == "" || refused.Error() == "":
			t.Errorf("%q is refused without a reason: %v", raw, err)
		}
	}
}

func TestAGoodURLIsKeptInOneForm(t *testing.T) {
	for raw, want := range map[string]string{
		"https://hooks.example.com":                           "https://hooks.example.com",
		"https://hooks.example.com/":                          "https://hooks.example.com/",
		"HTTPS://Hooks.Example.COM:443/In?Token=A%20b&c=/":    "https://hooks.example.com/In?Token=A%20b&c=/",
		"https://xn--hks-sna.example.fr/a//b/../c":            "https://xn--hks-sna.example.fr/a//b/../c",
		"https://7.example.com/":                              "https://7.example.com/",
		"https://0x7f.example.com/":                           "https://0x7f.example.com/",
		"https://a-1.b.co/%C3%A9":                             "https://a-1.b.co/%C3%A9",
		"https://" + strings.Repeat("a.", 125) + "com/x":      "https://" + strings.Repeat("a.", 125) + "com/x",
		"https://" + strings.Repeat("a", 63) + ".example.com": "https://" + strings.Repeat("a", 63) + ".example.com",
		"https://hooks.example.com:0443/":                     "https://hooks.example.com/",
	} {
		if got, err := guard.CheckURL(raw, nil); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", raw, got, err, want)
		}
	}
}

func TestAnOpenedNetworkTakesPlainHTTPAndOtherPorts(t *testing.T) {
	for raw, want := range map[string]string{
		"http://127.0.0.1:8080/in":      "http://127.0.0.1:8080/in",
		"http://127.0.0.1:80/in":        "http://127.0.0.1/in",
		"http://[::1]:8080/in":          "http://[::1]:8080/in",
		"https://[0:0:0:0:0:0:0:1]:443": "https://[0:0:0:0:0:0:0:1]",
		"http://localhost:8080/":        "http://localhost:8080/",
		"https://receiver:8443/":        "https://receiver:8443/",
		"http://hooks.example.com/":     "http://hooks.example.com/",
	} {
		if got, err := guard.CheckURL(raw, loopback); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", raw, got, err, want)
		}
	}
	for _, raw := range []string{
		"http://10.0.0.1/", "https://8.8.8.8/", "https://[fe80::1]/", "http://127.1:8080/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/",
		"http://user@127.0.0.1/", "http://127.0.0.1/#x", "http://127.0.0.1:0/", "http://127.0.0.1:443/", "http://127.0.0.1:70000/", "ftp://127.0.0.1/", "http://localhost./", "http://[::1%25lo]/",
	} {
		if kept, err := guard.CheckURL(raw, loopback); err == nil {
			t.Errorf("%s passes, as %s", raw, kept)
		}
	}
}

func TestARefusalNeverRepeatsTheURL(t *testing.T) {
	_, err := guard.CheckURL("https://user:hunter2@hooks.example.com/", nil)
	var refused *guard.URLError
	if !errors.As(err, &refused) || strings.Contains(refused.Error(), "hunter2") {
		t.Errorf("the refusal is %v", err)
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, raw := range hostileURLs {
		f.Add(raw)
	}
	f.Add("https://hooks.example.com:443/in?a=b")
	f.Fuzz(func(t *testing.T, raw string) {
		kept, err := guard.CheckURL(raw, nil)
		if err != nil {
			return
		}
		u, err := url.Parse(kept)
		if err != nil {
			t.Fatalf("%q was kept as %q: %v", raw, kept, err)
		}
		host := u.Hostname()
		last := host[strings.LastIndexByte(host, '.')+1:]
		switch _, notAddr := netip.ParseAddr(host); {
		case u.Scheme != "https", u.Port() != "", u.Host != host, u.User != nil, u.Fragment != "", strings.Contains(kept, "#"):
			t.Errorf("%q was kept as %q: not https, 443 and a host alone", raw, kept)
		case notAddr == nil, !strings.Contains(host, "."), len(host) > 253, host != strings.ToLower(host), last == "", strings.Trim(last, "0123456789") == "", strings.HasPrefix(last, "0x"):
			t.Errorf("%q was kept as %q: not a DNS name", raw, kept)
		}
		if again, err := guard.CheckURL(kept, nil); err != nil || again != kept {
			t.Errorf("%q was kept as %q, which is then %q, %v", raw, kept, again, err)
		}
	})
}
