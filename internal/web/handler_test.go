package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"palmares/internal/testkit"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// A desk has a response of its own for every path, except those under /missing/, and counts how
// often it makes one.
type desk struct {
	handler *web.Handler[int]
	size    int // of responses, at least
	made    map[string]int
}

func newDesk() *desk {
	d := &desk{made: map[string]int{}}
	version := new(1)
	anonymous := func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, nil }
	d.handler = web.NewHandler(web.Config[int]{
		Snapshot: func() *int { return version }, Callers: anonymous, Public: true, Fallback: d.answer,
	})
	return d
}

func (d *desk) answer(r *web.Request[int]) (web.Response, error) {
	path := r.URL.RequestURI()
	d.made[path]++
	if strings.HasPrefix(path, "/missing/") {
		return web.Response{Cached: true}, web.ToolNotFound(path)
	}
	body := fmt.Appendf(nil, "This is %-*s", d.size, path)
	return web.Response{Body: wire.NewBody(wire.Sum(body), body), Cached: true}, nil
}

func (d *desk) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(testkit.PlainWriter{ResponseWriter: w}, httptest.NewRequest("GET", path, nil))
	return w
}

func TestAURLOfMoreThan8kBIsRefused(t *testing.T) {
	longest := "/" + strings.Repeat("x", 8<<10-1)
	if got := newDesk().get(longest).Code; got != http.StatusOK {
		t.Errorf("8 kB: %d", got)
	}
	if got := newDesk().get(longest + "?y").Code; got != http.StatusBadRequest {
		t.Errorf("a byte more: %d", got)
	}
}

func TestACachedResponseIsThatOfItsPathAndQuery(t *testing.T) {
	d := newDesk()
	for range 3 {
		for _, path := range []string{"/a", "/b", "/a?b", "/b?a"} {
			if w := d.get(path); w.Code != http.StatusOK || w.Body.String() != "This is "+path || d.made[path] != 1 {
				t.Errorf("%s: %d %q, made %d times", path, w.Code, w.Body, d.made[path])
			}
		}
	}
}

func TestEveryResponseOfADeprecatedRouteSaysSinceWhenAndUntilWhen(t *testing.T) {
	d := newDesk()
	version := new(1)
	anonymous := func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, nil }
	d.handler = web.NewHandler(web.Config[int]{
		Snapshot: func() *int { return version }, Callers: anonymous, Public: true, Fallback: d.answer,
		IsPath: func(*url.URL) bool { return true },
	})
	old := d.handler.Handle("GET", "/old", d.answer)
	old.Deprecated, old.Sunset = time.Unix(1800000000, 0), time.Unix(1815552000, 0)
	d.handler.Handle("GET", "/new", d.answer)
	for range 2 { // made, then cached
		h := d.get("/old").Header()
		if h.Get("Deprecation") != "@1800000000" || h.Get("Sunset") != "Wed, 14 Jul 2027 08:00:00 GMT" {
			t.Errorf("%v", h)
		}
		if h := d.get("/new").Header(); h.Get("Deprecation")+h.Get("Sunset") != "" {
			t.Errorf("another route says %v", h)
		}
	}
}

func TestInventedAddressesEvictNoResponse(t *testing.T) {
	d := newDesk()
	d.get("/a")
	for n := range 10_000 { // several times what there is room for
		path := "/missing/" + strconv.Itoa(n)
		for range 2 {
			w := d.get(path)
			if want := string(web.ToolNotFound(path).JSON(httptest.NewRequest("GET", path, nil))); w.Code != http.StatusNotFound || w.Body.String() != want ||
				w.Header().Get("Cache-Control") != "s-maxage=60" {
				t.Fatalf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
			}
		}
		if d.made[path] != 1 {
			t.Fatalf("%s was looked for %d times", path, d.made[path])
		}
	}
	if d.get("/a"); d.made["/a"] != 1 {
		t.Errorf("the response was made %d times", d.made["/a"])
	}
}

func TestCachedResponsesTakeNoMoreMemoryThanTheirLimit(t *testing.T) {
	const limit = 16 << 20
	for _, size := range []int{500, 24_000} {
		d := newDesk()
		d.size = size
		before := heap()
		for n := range limit / size {
			d.get("/" + strconv.Itoa(n))
		}
		d.made = nil
		if held := heap() - before; held > limit*11/10 || held < limit/2 {
			t.Errorf("%d bytes are held in responses of %d", held, size)
		}
		runtime.KeepAlive(d)
	}
}

// heap returns the size of the live heap.
func heap() int64 {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
