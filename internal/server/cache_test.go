package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/quota"
	"palmares/internal/testkit/keyringtest"
	"palmares/internal/testkit/quotatest"
	"palmares/internal/web"
)

// A sharedCache is a cache between callers and the server, with just enough of RFC 9111
// to make mistakes: it stores what it may, by URL and the headers that Vary names. A
// careless one ignores Vary, as some caches do, and obeys CDN-Cache-Control (RFC 9213)
// instead.
type sharedCache struct {
	t        *testing.T
	node     *node
	careless bool
	stored   []entry
	hits     int
}

type entry struct {
	path    string
	request http.Header
	status  int
	header  http.Header
	body    string
}

func (c *sharedCache) get(path, authorization string) (status int, header http.Header, body string) {
	c.t.Helper()
	request := http.Header{}
	if authorization != "" {
		request.Set("Authorization", authorization)
	}
	for _, e := range c.stored {
		if e.path == path && (c.careless || c.matches(e, request)) {
			c.hits++
			return e.status, e.header, e.body
		}
	}
	status, header, body = c.node.get(path, request.Values("Authorization")...)
	if c.mayStore(header, request) {
		c.stored = append(c.stored, entry{path, request, status, header, body})
	}
	return status, header, body
}

func (c *sharedCache) matches(e entry, request http.Header) bool {
	for name := range strings.SplitSeq(e.header.Get("Vary"), ",") {
		if !slices.Equal(request.Values(strings.TrimSpace(name)), e.request.Values(strings.TrimSpace(name))) {
			return false
		}
	}
	return true
}

func (c *sharedCache) mayStore(header, request http.Header) bool {
	control := header.Get("Cache-Control")
	if targeted := header.Get("CDN-Cache-Control"); c.careless && targeted != "" {
		control = targeted
	}
	if strings.Contains(control, "no-store") || strings.Contains(control, "private") {
		return false
	}
	// RFC 9111 §3.5: an answer to a request with Authorization needs one of these.
	shareable := strings.Contains(control, "s-maxage") || strings.Contains(control, "public") || strings.Contains(control, "must-revalidate")
	return shareable || request.Get("Authorization") == ""
}

func TestASharedCacheNeverMixesCallers(t *testing.T) {
	for _, careless := range []bool{false, true} {
		t.Run(fmt.Sprintf("careless=%v", careless), func(t *testing.T) {
			n := start(t, http.NotFoundHandler())
			key := func(id string, plan account.Plan) string {
				return "Bearer " + n.issue(func(k *account.Key) { k.AccountID, k.Plan = id, plan })
			}
			revoked := "Bearer " + n.issue(func(k *account.Key) { k.RevokedAt = time.Unix(1, 0) })
			callers := map[string]string{ // the first word is the tier that their answers show
				"": "", "free one": key("acc_1", account.Developer), "free two": key("acc_2", account.Developer), "pro": key("acc_3", account.Pro),
				"revoked": revoked, "unknown": "Bearer " + account.NewKey(rand.Reader),
			}
			names := []string{"free one", "", "free two", "pro", "revoked", "unknown", "", "free one", "pro", "free two", ""}
			cache := &sharedCache{t: t, node: n, careless: careless}
			for round := range 3 {
				for _, path := range []string{"/api/v1/tools", "/api/v1/tools/a", "/api/v1/rien", "/api/embeddings/a", "/api/v1/tools?page=0"} {
					for _, name := range names {
						status, header, body := cache.get(path, callers[name])
						tier, _, _ := strings.Cut(name, " ")
						if got := header.Get("X-RateLimit-Tier"); tier == "free" || tier == "pro" {
							// A careless cache may hand a caller with a key what it handed strangers.
							if got != tier && !(careless && got == "") {
								t.Errorf("%s as %s, round %d: tier %q", path, name, round, got)
							}
						} else if got != "" {
							t.Errorf("%s as %q: the quota headers of %s", path, name, got)
						}
						if keyed := tier == "free" || tier == "pro"; !keyed && strings.HasPrefix(path, "/api/embeddings/") && status != 401 {
							t.Errorf("%s as %q: %d %s", path, name, status, body)
						}
						if (tier == "revoked" || tier == "unknown") && status != 401 && !careless {
							t.Errorf("%s as %s: %d", path, name, status)
						}
					}
				}
			}
			if cache.hits == 0 {
				t.Error("the cache never answered")
			}
		})
	}
}

// BenchmarkKeyAndQuota measures identifying the caller and counting the request.
func BenchmarkKeyAndQuota(b *testing.B) {
	key := account.NewKey(rand.Reader)
	meter := newMeter(b)
	g := &web.Gate{Log: slog.New(slog.DiscardHandler), Keys: keyring.New(keyringtest.Store{Find: func(context.Context, [32]byte) (account.Key, error) {
		return account.Key{ID: "key_1", AccountID: "acc_1", Plan: account.Pro}, nil
	}}, time.Now)}
	for name, header := range map[string]http.Header{"key": {"Authorization": {"Bearer " + key}}, "address": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				r := (&http.Request{RemoteAddr: "127.0.0.1:4321", Header: header}).WithContext(b.Context())
				for pb.Next() {
					caller, refusal := g.Authorize(b.Context(), r)
					if refusal != nil {
						b.Error(refusal)
						return
					}
					meter.Take(b.Context(), caller.Subject)
				}
			})
		})
	}
}

// newMeter returns a meter that counts in memory only.
func newMeter(t testing.TB) *quota.Meter {
	t.Helper()
	m, err := quota.New(t.Context(), quota.Config{
		Counters: quotatest.Counters{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
