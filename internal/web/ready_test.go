package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/testkit"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// A desk has a response of its own for every path, except those under /missing/, and counts how
// often it makes one.
type desk struct {
	service   web.Service
	responses *web.Responses
	size      int // of responses, at least
	made      map[string]int
}

func newDesk() *desk {
	anonymous := func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, nil }
	return &desk{
		service:   web.Service{Callers: web.AuthorizerFunc(anonymous), Public: true, Compressor: web.NewCompressor()},
		responses: web.NewResponses(), made: map[string]int{},
	}
}

func (d *desk) get(path string) *httptest.ResponseRecorder {
	recorded := httptest.NewRecorder()
	w := testkit.PlainWriter{ResponseWriter: recorded}
	var r web.Request
	r.Begin(httptest.NewRequest("GET", path, nil))
	defer r.End()
	if d.service.ReplyCached(w, &r, d.responses, web.SetPublicHeaders) {
		return recorded
	}
	d.made[path]++
	web.SetPublicHeaders(w.Header())
	var err error
	if strings.HasPrefix(path, "/missing/") {
		err = web.ToolNotFound(path)
	}
	body := fmt.Appendf(nil, "This is %-*s", d.size, path)
	d.service.Reply(w, &r, &web.Answer{Body: wire.NewBody(wire.Sum(body), body), Cached: true}, err)
	return recorded
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

func TestInventedAddressesEvictNoResponse(t *testing.T) {
	d := newDesk()
	d.get("/a")
	for n := range 10_000 { // several times what there is room for
		path := "/missing/" + strconv.Itoa(n)
		for range 2 {
			w := d.get(path)
			if want := string(web.ToolNotFound(path).JSON()); w.Code != http.StatusNotFound || w.Body.String() != want ||
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
