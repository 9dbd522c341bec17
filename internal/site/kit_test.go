package site_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"palmares/demo"
	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// A server is the site and the API over one catalogue, on a real listener.
type server struct {
	t    testing.TB
	url  string
	site *site.Site
	live atomic.Pointer[snapshot.Snapshot]
}

// decodedDemo is the demo with its pictures, which take long to decode.
var decodedDemo = sync.OnceValues(func() (*content.Result, error) {
	return content.ReadFS(context.Background(), demo.Folder, content.Options{InMemory: true})
})

// openDemo serves the catalogue that ships with the binary, as `serve` shows it.
func openDemo(t testing.TB) *server {
	t.Helper()
	decoded, err := decodedDemo()
	if err != nil || len(decoded.Problems) > 0 {
		t.Fatal(err, decoded)
	}
	r, err := content.ReadFS(t.Context(), demo.Folder, content.Options{Known: func(source string) (catalog.Picture, bool) {
		for _, p := range decoded.Catalog.Pictures {
			if p.Source == source {
				return p, true
			}
		}
		return catalog.Picture{}, false
	}})
	if err != nil {
		t.Fatal(err)
	}
	v := listen(t, site.Config{Demo: func(*snapshot.Snapshot) bool { return true }, Pictures: decoded.Pictures})
	c := r.Catalog
	c.URL = v.url
	catalog.CarryOver(&catalog.Catalog{}, c, snapshot.NewestUpdate(c))
	v.show(snapshot.Build(c, 0, snapshot.NewestUpdate(c)))
	return v
}

var demoless = site.Config{Demo: func(*snapshot.Snapshot) bool { return false }}

// open serves a catalogue.
func open(t testing.TB, c *catalog.Catalog) *server {
	t.Helper()
	v := listen(t, demoless)
	v.publish(c, 1)
	return v
}

func (v *server) publish(c *catalog.Catalog, version int64) {
	c.Sort()
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-01")
	v.show(snapshot.Build(c, version, "2026-11-02"))
}

func (v *server) show(snap *snapshot.Snapshot) {
	v.t.Helper()
	if err := snap.BuildIndex(v.t.Context()); err != nil {
		v.t.Fatal(err)
	}
	v.site.Show(snap)
	v.live.Store(snap)
}

func listen(t testing.TB, cfg site.Config) *server {
	t.Helper()
	v := &server{t: t}
	cfg.Document = api.Document()
	v.site = site.New(cfg)
	jsonAPI := api.New(api.Config{
		Snapshot: v.live.Load,
		Callers: web.Authorizer(func(_ context.Context, r *http.Request) (web.Caller, error) {
			if r.Header.Get("Authorization") == "" {
				return web.Caller{}, nil
			}
			return web.Caller{Key: &account.Key{}}, nil
		}),
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			jsonAPI.ServeHTTP(w, r)
			return
		}
		v.site.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	v.url = srv.URL
	return v
}

var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// A reply is a response.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	wire   int    // size on the wire
	body   string // decoded
	parsed []tag
}

func (v *server) get(path string, headers ...string) *reply {
	v.t.Helper()
	return v.do("GET", path, headers...)
}

func (v *server) do(method, path string, headers ...string) *reply {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	r := &reply{t: v.t, what: method + " " + path, status: resp.StatusCode, header: resp.Header, wire: len(raw), body: string(raw)}
	if len(raw) > 0 {
		r.body = decoded(v.t, resp.Header.Get("Content-Encoding"), raw)
		r.body = strings.NewReplacer("&nbsp;", "\u00a0", "&#8239;", "\u202f").Replace(r.body) // templates use both
	}
	return r
}

func decoded(t testing.TB, coding string, raw []byte) string {
	t.Helper()
	var from io.Reader = bytes.NewReader(raw)
	var err error
	switch coding {
	case "":
	case "gzip":
		from, err = gzip.NewReader(from)
	case "br":
		from = brotli.NewReader(from)
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(from); err == nil {
			defer z.Close()
			from = z
		}
	default:
		t.Fatalf("content coding %q", coding)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func (r *reply) ok() *reply {
	r.t.Helper()
	if r.status != 200 {
		r.t.Fatalf("%s: %d\n%s", r.what, r.status, r.body)
	}
	return r
}

func (r *reply) answers(status int) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Errorf("%s: %d, not %d", r.what, r.status, status)
	}
	return r
}

func (r *reply) is(header, want string) *reply {
	r.t.Helper()
	if got := strings.Join(r.header.Values(header), " | "); got != want {
		r.t.Errorf("%s: %s is %q, not %q", r.what, header, got, want)
	}
	return r
}

func (r *reply) says(words ...string) *reply {
	r.t.Helper()
	for _, w := range words {
		if !strings.Contains(unbroken(r.body), w) {
			r.t.Errorf("%s does not say %q", r.what, w)
		}
	}
	return r
}

func (r *reply) saysNot(words ...string) *reply {
	r.t.Helper()
	body := unbroken(r.body)
	for _, w := range words {
		if i := strings.Index(body, w); i >= 0 {
			r.t.Errorf("%s says %q: …%s…", r.what, w, body[max(0, i-80):min(len(body), i+len(w)+80)])
		}
	}
	return r
}

var lineBreaking = regexp.MustCompile(`<span class="(?:nb|side)">([^<]*)</span>`)

// unbroken is a page without the markup that says where lines may break.
func unbroken(body string) string {
	return lineBreaking.ReplaceAllString(strings.ReplaceAll(body, "<wbr>", ""), "$1")
}

func (r *reply) movesTo(location string) *reply {
	r.t.Helper()
	return r.answers(301).is("Location", location)
}

var (
	tagPattern       = regexp.MustCompile(`<([a-z0-9]+)((?:\s[^<>]*)?)>`)
	attributePattern = regexp.MustCompile(`\s([a-zA-Z][\w:-]*)(?:="([^"]*)")?`)
	rowPattern       = regexp.MustCompile(`<h3 class="row-name"><a href="/outils/([^"]+)">`)
)

// A tag is the opening tag of an element.
type tag struct {
	name       string
	attributes map[string]string
}

// tags returns the opening tags of a page. It is not an HTML parser: in our pages
// every <, > and " that is not markup is escaped, as the hostile catalogue proves.
func (r *reply) tags() []tag {
	r.t.Helper()
	if r.parsed != nil {
		return r.parsed
	}
	for _, m := range tagPattern.FindAllStringSubmatch(r.body, -1) {
		one := tag{name: m[1], attributes: map[string]string{}}
		for _, a := range attributePattern.FindAllStringSubmatch(m[2], -1) {
			if _, twice := one.attributes[a[1]]; twice {
				r.t.Errorf("%s: <%s> has %s twice", r.what, one.name, a[1])
			}
			one.attributes[a[1]] = html.UnescapeString(a[2])
		}
		r.parsed = append(r.parsed, one)
	}
	return r.parsed
}

// ids returns the anchors of a page.
func (r *reply) ids() map[string]bool {
	r.t.Helper()
	ids := map[string]bool{}
	for _, one := range r.tags() {
		if id, ok := one.attributes["id"]; ok {
			if ids[id] {
				r.t.Errorf("%s: the id %q occurs twice", r.what, id)
			}
			ids[id] = true
		}
	}
	return ids
}

// lists returns the tools of a list, in order.
func (r *reply) lists() []string {
	slugs := []string{}
	for _, m := range rowPattern.FindAllStringSubmatch(r.body, -1) {
		slugs = append(slugs, m[1])
	}
	return slugs
}

// kinds are one page of each kind in the demo.
var kinds = []string{
	"/", "/outils", "/outils?page=2", "/outils?q=agent", "/outils/babilune", "/avis/babilune", "/alternatives/babilune", "/categories/agents",
	"/comparatifs", "/comparatifs/mandibule-vs-escouade", "/comparer", "/comparer?outils=babilune,varlope,mandibule", "/prix", "/carte", "/cimetiere", "/cimetiere/helice-flux", "/docs", "/docs/outils", "/docs/donnees", "/docs/webhooks", "/donnees", "/tarifs", "/licence", "/confidentialite",
}

func number(x float64) *float64 { return &x }

// small is a catalogue of a few tools, for tests to change.
func small() *catalog.Catalog {
	tool := func(slug, name, category string, score *float64, price string) *catalog.Tool {
		return &catalog.Tool{
			Slug: slug, Name: name, Domain: slug + ".example", Category: category, ICP: "mixte", Pricing: "payant",
			Price: price, Tagline: "Un outil nommé " + name, Score: score, Tier: 3, UpdatedAt: "2026-10-01",
		}
	}
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example",
		Categories: []catalog.Category{{Slug: "chat", Label: "Discussion"}, {Slug: "code", Label: "Développement"}},
		Tools: []*catalog.Tool{
			tool("abeille", "Abeille", "chat", number(8.5), "10 €/mois"),
			tool("bourdon", "Bourdon", "chat", number(6), "14,50 €/mois"),
			tool("cigale", "Cigale", "chat", nil, "0 €/mois"),
			tool("drosophile", "Drosophile", "code", number(4), "1 200 €/an"),
		},
	}
	c.Tools[0].Aliases = []string{"ancienne-abeille"}
	c.Tools[0].Verifiability = number(9)
	c.Tools[0].Body = "Bonjour.\n\n## Le verdict\n\nBien.\n"
	c.Tools[2].Pricing = "gratuit"
	c.Tools[1].ICP, c.Tools[1].Pricing, c.Tools[1].Verifiability = "vibe-coder", "freemium", number(5)
	c.Comparisons = []catalog.Comparison{
		{Slug: "abeille-vs-bourdon", Title: "Abeille ou Bourdon ?", ToolA: "abeille", ToolB: "bourdon", Winner: "abeille", WinnerNote: "Elle pique moins.", Published: true, UpdatedAt: "2026-10-02"},
		{Slug: "brouillon", Title: "Brouillon", ToolA: "abeille", ToolB: "bourdon", Winner: "bourdon", WinnerNote: "Non.", UpdatedAt: "2026-10-03"},
	}
	for i := range 60 {
		c.Retired = append(c.Retired, catalog.Retired{
			Slug: fmt.Sprintf("fantome-%02d", i), Name: fmt.Sprintf("Fantôme %d", i), Category: "chat", Reason: catalog.Reasons[i%5],
			RetiredAt: fmt.Sprintf("2025-%02d-%02d", 12-i/28, 28-i%28), Note: "Il n’est plus.", Body: "Il n’est plus.",
		})
	}
	c.Retired[3].Successor = "abeille"
	return c
}

func equal[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%v, not\n%v", what, got, want)
	}
}
