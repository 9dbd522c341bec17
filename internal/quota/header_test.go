package quota

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeadersSayExactlyWhatTheContractSays(t *testing.T) {
	c := clockAt("2026-11-15T08:00:00Z")
	k := open(t, newCounters(), c.Now)
	headers := func(g Grant) http.Header {
		h := http.Header{}
		g.SetHeaders(h)
		return h
	}
	with := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = []string{pairs[i+1]} // spelt as documents spell it
		}
		return h
	}
	check := func(name string, got, want http.Header) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	free := func(remaining, seconds string, more ...string) http.Header {
		return with(append([]string{
			"X-RateLimit-Tier", "free", "X-RateLimit-Limit", "1000", "X-RateLimit-Remaining", remaining, "X-RateLimit-Reset", "2026-11-16T00:00:00Z",
			"RateLimit-Policy", `"daily";q=1000;w=86400`, "RateLimit", `"daily";r=` + remaining + `;t=` + seconds,
		}, more...)...)
	}
	check("second request", headers(k.use(t, ada, 2)), free("998", "57600"))
	check("free answer", headers(k.Look(ada)), free("998", "57600"))
	c.set("2026-11-15T23:59:58.5Z")
	check("seconds are rounded up", headers(k.Take(ada)), free("997", "2"))
	check("last request", headers(k.use(t, ada, 997)), free("0", "2"))
	check("refusal", headers(k.Take(ada)), free("0", "2", "Retry-After", "2"))
	check("free answer after the last request", headers(k.Look(ada)), free("0", "2"))

	check("Pro", headers(k.Take(grace)), with("X-RateLimit-Tier", "pro", "X-RateLimit-Remaining", "2147483647", "X-RateLimit-Reset", "2026-11-16T00:00:00Z"))

	check("anonymous", headers(k.use(t, home, 100)), with())
	check("anonymous refusal", headers(k.Take(home)), with(
		"X-RateLimit-Tier", "anonymous", "X-RateLimit-Limit", "100", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "2026-11-16T00:00:00Z",
		"RateLimit-Policy", `"daily";q=100;w=86400`, "RateLimit", `"daily";r=0;t=2`, "Retry-After", "2"))
}
