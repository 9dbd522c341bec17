package webhook_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"palmares/internal/webhook"
)

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
