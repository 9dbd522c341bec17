package api_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/web"
)

// contract is the served document.
var contract = testkit.NewContract(api.Document())

// Suspended keys are refused by the Authorizer, and panics are answered by the server:
// both need more than this package.
func TestMain(m *testing.M) { os.Exit(contract.Run(m, "403", "500")) }

// A service is the API over one catalogue, on a real listener.
type service struct {
	t    *testing.T
	url  string
	live *snapshot.Snapshot
	// again is how often every request is repeated. It is two where nothing is counted, so
	// that every test of a response is one of the response that is cached.
	again int
}

func serve(t *testing.T, c *catalog.Catalog) *service {
	t.Helper()
	s := serveCounting(t, c, nil)
	s.again = 2
	return s
}

// serveCounting is serve with a meter.
func serveCounting(t *testing.T, c *catalog.Catalog, meter *quota.Meter) *service {
	t.Helper()
	c.Sort()
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-01")
	s := &service{t: t, live: snapshot.Build(c, 1, "2026-11-02")}
	handler := api.New(api.Config{
		Meter:    meter,
		Snapshot: func() *snapshot.Snapshot { return s.live },
		Callers:  authorize,
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.RawPath == "" {
			w = testkit.PlainWriter{ResponseWriter: w}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// authorize accepts two keys, and cannot look up a third one.
func authorize(_ context.Context, r *http.Request) (web.Caller, error) {
	switch r.Header.Get("Authorization") {
	case "":
		return web.Caller{}, nil
	case "good":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Free, Account: "acc_1"}}, nil
	case "pro":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Pro, Account: "acc_2"}}, nil
	case "unreachable":
		return web.Caller{}, web.KeyError(errors.New("the store is unreachable"))
	}
	return web.Caller{}, web.KeyError(account.ErrInvalidKey)
}

// A reply has checks for lists, too.
type reply struct{ *testkit.Reply }

func (r *reply) OK() *reply {
	r.T.Helper()
	r.Reply.OK()
	return r
}

// get requests a path; headers are "Name: value" lines.
func (s *service) get(path string, headers ...string) *reply {
	s.t.Helper()
	return s.do("GET", path, headers...)
}

func (s *service) do(method, path string, headers ...string) *reply {
	s.t.Helper()
	send := func() *testkit.Reply {
		return testkit.Send(s.t, testkit.NewRequest(s.t, method, s.url+path, "", headers...))
	}
	r := send()
	for range s.again { // answers that are kept must not differ
		next := send()
		next.Header["Date"] = r.Header["Date"]
		if next.Status != r.Status || next.Body != r.Body || !maps.EqualFunc(next.Header, r.Header, slices.Equal) {
			s.t.Errorf("%s: first\n%d %v\n%.300s\nand then\n%d %v\n%.300s", r, r.Status, r.Header, r.Body, next.Status, next.Header, next.Body)
		}
	}
	checkCommon(r)
	if method == "GET" {
		contract.Check(r, "")
	}
	return &reply{r}
}

// checkCommon checks what is true of every answer under /api, whatever it is.
func checkCommon(r *testkit.Reply) {
	r.T.Helper()
	r.HasHeader("Access-Control-Allow-Origin", "*")
	vary := "Authorization, Accept-Encoding"
	if r.Status >= 400 {
		vary += ", Accept-Language"
	}
	r.HasHeader("Vary", vary)
	if !catalog.IsDate(r.Header.Get("X-Service-Updated-At")) {
		r.T.Errorf("%s: X-Service-Updated-At: %q", r, r.Header.Get("X-Service-Updated-At"))
	}
	r.HasHeader("X-Service-Version", "1")
	for _, name := range []string{"X-Total-Count", "X-Service-Updated-At", "X-Service-Version", "X-RateLimit-Tier", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy", "Retry-After", "ETag", "Link"} {
		if !slices.Contains(strings.Split(r.Header.Get("Access-Control-Expose-Headers"), ", "), name) {
			r.T.Errorf("%s: %s is not exposed", r, name)
		}
	}
	cache := map[int]string{
		200: "s-maxage=3600, stale-while-revalidate=86400", 304: "s-maxage=3600, stale-while-revalidate=86400",
		308: "s-maxage=3600, stale-while-revalidate=86400", 404: "s-maxage=60", 204: "",
	}
	want, ok := cache[r.Status]
	if !ok {
		want = "no-store"
	}
	r.HasHeader("Cache-Control", want)
	if r.Status >= 400 && len(r.Body) > 0 {
		var e struct{ Error, Code string }
		if r.Into(&e); e.Error == "" || e.Code == "" {
			r.T.Errorf("%s: %d with the body %q", r, r.Status, r.Body)
		} else if want := web.Code(e.Code).Info().Status; r.Status != want {
			r.T.Errorf("%s: %d, but the table of codes has %d for %s", r, r.Status, want, e.Code)
		}
		r.HasHeader("Content-Type", "application/json")
	}
}

// slugs returns the slugs in data, in order.
func (r *reply) slugs() []string {
	r.T.Helper()
	var list struct{ Data []struct{ Slug string } }
	r.Into(&list)
	got := []string{}
	for _, d := range list.Data {
		got = append(got, d.Slug)
	}
	return got
}

func (r *reply) lists(want ...string) *reply {
	r.T.Helper()
	r.OK()
	if got := r.slugs(); !slices.Equal(got, want) {
		r.T.Errorf("%s lists\n%v, not\n%v", r, got, want)
	}
	return r
}
