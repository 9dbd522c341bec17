package dataapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/dataapi"
	"palmares/internal/quota"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/web"
)

// contract is the served document.
var contract = testkit.NewContract(dataapi.Document())

// Suspended keys are refused by the Authorizer, and panics are answered by the server:
// both need more than this package.
func TestMain(m *testing.M) { os.Exit(contract.Run(m, "403", "500")) }

const published = "2026-11-16T09:30:00.250Z"

// A service is the API over one catalogue.
type service struct {
	t       *testing.T
	url     string
	handler *dataapi.Handler
	live    *snapshot.Snapshot // the newest
	serving *snapshot.Live
}

func newService(t *testing.T, c *catalog.Catalog, meter *quota.Meter) *service {
	t.Helper()
	return newServiceWith(t, c, dataapi.Config{Meter: meter})
}

// newServiceWith completes a configuration.
func newServiceWith(t *testing.T, c *catalog.Catalog, cfg dataapi.Config) *service {
	t.Helper()
	s := &service{t: t}
	s.show(c, record.First("flux-1", complete(c), 1, published))
	cfg.Live, cfg.Callers = s.serving, authorize
	s.handler = dataapi.New(cfg)
	return s
}

// serve serves a catalogue on a real listener.
func serve(t *testing.T, c *catalog.Catalog, meter *quota.Meter) *service {
	t.Helper()
	return newService(t, c, meter).listen()
}

// listen makes a service answer on a real listener.
func (s *service) listen() *service {
	srv := httptest.NewServer(s.handler)
	s.t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// complete returns c as a publication leaves it.
func complete(c *catalog.Catalog) *catalog.Catalog {
	c.Sort()
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-01")
	return c
}

// show makes a catalogue with its feed the one that is served.
func (s *service) show(c *catalog.Catalog, feed *record.Feed) {
	version := int64(1)
	if s.live != nil {
		version = s.live.Version + 1
	}
	s.live = snapshot.Build(c, version, "2026-11-16")
	s.live.PublishedAt = published
	s.live.SetFeed(feed)
	if err := s.live.BuildIndex(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	var err error
	if s.serving == nil {
		s.serving, err = snapshot.NewLive(s.t.Context(), func(context.Context, *snapshot.Snapshot) (*snapshot.Snapshot, error) { return s.live, nil })
	} else {
		err = s.serving.Refresh(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// publish replaces the catalogue.
func (s *service) publish(c *catalog.Catalog) {
	feed, _ := s.live.Feed.After(complete(c), s.live.Version+1, published)
	s.show(c, feed)
}

// authorize accepts a key, and cannot look up another one.
func authorize(_ context.Context, r *http.Request) (web.Caller, error) {
	switch r.Header.Get("Authorization") {
	case "":
		return web.Caller{}, nil
	case "other":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Free, Account: "acc_2"}}, nil
	case "pro":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Pro, Account: "acc_3"}}, nil
	case "good":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Free, Account: "acc_1"}}, nil
	case "unreachable":
		return web.Caller{}, web.KeyError(errors.New("the store is unreachable"))
	}
	return web.Caller{}, web.KeyError(account.ErrInvalidKey)
}

// get requests a path; headers are "Name: value" lines.
func (s *service) get(path string, headers ...string) *testkit.Reply {
	s.t.Helper()
	return s.do("GET", path, headers...)
}

func (s *service) do(method, path string, headers ...string) *testkit.Reply {
	s.t.Helper()
	return s.check(testkit.Send(s.t, testkit.NewRequest(s.t, method, s.url+path, "", headers...)))
}

// check expects of a reply what all have in common, and that it is documented.
func (s *service) check(r *testkit.Reply) *testkit.Reply {
	s.t.Helper()
	path := r.Request.URL.RequestURI()
	r.HasHeader("Access-Control-Allow-Origin", "*")
	vary := "Authorization, Accept-Encoding"
	if r.Status >= 400 {
		vary += ", Accept-Language"
	}
	r.HasHeader("Vary", vary)
	r.HasHeader("X-Service-Updated-At", "2026-11-16")
	r.HasHeader("X-Service-Version", strconv.FormatInt(s.live.Version, 10))
	exposed := strings.Split(r.Header.Get("Access-Control-Expose-Headers"), ", ")
	for _, name := range []string{"X-Service-Version", "Accept-Ranges", "Content-Range"} {
		if !slices.Contains(exposed, name) {
			s.t.Errorf("%s does not expose %s: %v", r, name, exposed)
		}
	}
	want := "no-store"
	switch {
	case r.Status == 204:
		want = ""
	case r.Status == 404:
		want = "s-maxage=60"
	case r.Status < 400 && (r.Request.URL.Path == "/data/v1/changes" || path == "/data/v1/export" || r.Status == 307):
		want = "no-cache"
	case r.Status < 400 && strings.Contains(path, "/chunks.ndjson."):
		want = "private, max-age=31536000, immutable"
	case r.Status < 400 && strings.HasPrefix(path, "/data/v1/export/"):
		want = "public, max-age=31536000, immutable"
	case r.Status < 400:
		want = "s-maxage=3600, stale-while-revalidate=86400"
	}
	r.HasHeader("Cache-Control", want)
	if r.Request.Method == "GET" {
		contract.Check(r, "")
	}
	return r
}

func ptr(x float64) *float64 { return &x }

func tool(slug string) *catalog.Tool {
	return &catalog.Tool{
		Slug: slug, Name: strings.ToUpper(slug), Domain: slug + ".example", Category: "code", ICP: "mixte", Pricing: "payant", Price: "5 €/mois",
		Tagline: "Un outil", Score: ptr(7), Tier: 3, Body: "Un avis sur " + slug + ".",
	}
}

// small is a catalogue with a record of each kind.
func small() *catalog.Catalog {
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}},
		Tools:       []*catalog.Tool{tool("a"), tool("b"), tool("c")},
		Comparisons: []catalog.Comparison{{Slug: "a-b", Title: "A ou B", ToolA: "a", ToolB: "b", Winner: "a", WinnerNote: "Net.", Published: true, Aliases: []string{"b-a"}}, {Slug: "secret", Title: "Secret", ToolA: "a", ToolB: "b", Winner: "a", WinnerNote: "Net."}},
		Retired:     []catalog.Retired{{Slug: "gomme", Name: "Gomme", Category: "code", Reason: "mort", RetiredAt: "2026-01-01", Body: "*Fin.*", Note: "Fin."}},
		Pages:       []catalog.Page{{Slug: "methode", Title: "Méthode", Menu: "footer", Body: "Nous essayons."}},
		Pictures:    map[string]catalog.Picture{"images/l.png": {Path: "images/l.png", Hash: strings.Repeat("0f", 32), Ext: "png"}},
	}
	c.Tools[0].Logo, c.Tools[0].Aliases = "images/l.png", []string{"ancien"}
	return c
}
