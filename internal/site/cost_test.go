package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// A sink discards a response.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) Write(b []byte) (int, error) {
	s.bytes += len(b)
	return len(b), nil
}

// cost sends requests, whose path has a number that differs each time for %d, after a first one. It
// returns how much memory half of them took at most: now and then one pays for what others share,
// such as a pool that is filled again.
func (v *server) cost(path, accept string, status int) (allocated int) {
	v.t.Helper()
	const times = 40
	var took []int
	for i := range times + 1 {
		address := strings.ReplaceAll(path, "%d", strconv.Itoa(i))
		r := httptest.NewRequestWithContext(v.t.Context(), "GET", address, nil)
		r.Header.Set("Accept-Encoding", accept)
		took = append(took, v.allocated(r, status))
	}
	slices.Sort(took[1:])
	return took[1+times/2]
}

// allocated sends a request, and returns how much memory it took.
func (v *server) allocated(r *http.Request, status int) int {
	v.t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := &sink{header: http.Header{}}
	v.site.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.status != status {
		v.t.Fatalf("%.40s: %d, not %d", r.URL, w.status, status)
	}
	return int(after.TotalAlloc - before.TotalAlloc)
}

// large has a sitemap of two parts, of 50,000 pages and of some thousand.
func large() *catalog.Catalog {
	c := small()
	for i := range 26_000 { // two pages each
		tool := *c.Tools[3]
		tool.Slug = fmt.Sprintf("outil-%d", i)
		c.Tools = append(c.Tools, &tool)
	}
	return c
}

func TestWhatAnybodyCanRequestIsMadeOncePerVersion(t *testing.T) {
	v := open(t, large())
	whole := len(v.get("/sitemap-1.xml").ok().body)
	if whole < 2<<20 {
		t.Fatalf("a part of the sitemap has only %d bytes", whole)
	}
	const most = 100_000 // bytes; a part of the sitemap is 4 MB
	for _, test := range []struct {
		path   string
		status int
	}{
		{"/sitemap.xml?%d", 200},
		{"/sitemap-1.xml?%d", 200},
		{"/sitemap-2.xml?%d", 200},
		{"/sitemap-3%d.xml", 404},
		{"/sitemap-9999999999999%d.xml", 404},
		{"/invention-%d", 404},
		{"/outils/invention-%d", 404},
		{"/categories/invention-%d.md", 404},
		{"/static/invention-%d", 404},
		{"/?%d", 200},
		{"/docs?%d", 200},
		{"/flux.atom?%d", 200},
		{"/outils/abeille?%d", 200},
		{"/carte?%d", 200},
		{"/carte?category=code&pricing=payant&%d", 200},
	} {
		for _, accept := range []string{"gzip", "identity", "br"} {
			if took := v.cost(test.path, accept, test.status); took > most {
				t.Errorf("%s in %s takes %d kB each time", test.path, accept, took/1000)
			}
		}
	}
}

func TestInventedAddressesEvictNoPage(t *testing.T) {
	v := open(t, small())
	send := func(path string, status int) (allocated int) {
		return v.allocated(httptest.NewRequestWithContext(t.Context(), "GET", path, nil), status)
	}
	send("/outils/bourdon", 200) // the first page of a kind costs more
	rendered, cached := send("/outils/abeille", 200), send("/outils/abeille", 200)
	long := strings.Repeat("x", 8000)
	for i := range 5000 { // 40 MB; each is redirected to the address without the slash
		send(fmt.Sprintf("/%s%d/", long, i), 301)
	}
	if took := send("/outils/abeille", 200); took > (rendered+cached)/2 {
		t.Errorf("after a flood of invented addresses a page takes %d bytes; want about %d as from the cache, not %d as when it is rendered", took, cached, rendered)
	}
}
