package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"

	"palmares/internal/web"
	"palmares/internal/wire"
)

// A desk answers every path with a body of its own, and counts what it has to make.
type desk struct {
	service web.Service
	kept    *web.Kept
	size    int
	made    map[string]int
}

func newDesk(size int) *desk {
	anonymous := func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, nil }
	return &desk{
		service: web.Service{Callers: web.AuthorizerFunc(anonymous), Public: true},
		kept:    web.NewKept(web.SetPublicHeaders), size: size, made: map[string]int{},
	}
}

// ask returns the body for a path.
func (d *desk) ask(t *testing.T, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	var r web.Request
	r.Begin(httptest.NewRequest("GET", path, nil))
	defer r.End()
	if !d.service.ReplyKept(w, &r, d.kept) {
		d.made[path]++
		body := fmt.Appendf(nil, "%*s", d.size, path)
		d.service.Reply(w, &r, &web.Answer{Body: wire.NewBody(wire.Sum(body), body), Keep: true}, nil)
	}
	if w.Code != http.StatusOK || w.Body.Len() != d.size {
		t.Fatalf("%s: %d, %d bytes", path, w.Code, w.Body.Len())
	}
	return w.Body.String()
}

func TestWhatIsAskedForAgainIsMadeTwice(t *testing.T) {
	d := newDesk(100)
	for range 5 {
		for _, path := range []string{"/a", "/b", "/a?b", "/b?a"} {
			if got := d.ask(t, path); got != fmt.Sprintf("%100s", path) {
				t.Errorf("%s: %q", path, got)
			}
		}
	}
	for path, n := range d.made {
		if n != 2 {
			t.Errorf("%s was made %d times", path, n)
		}
	}
}

func TestSomebodyWhoAsksForEverythingDropsNothingThatOthersAskFor(t *testing.T) {
	d := newDesk(10_000)
	d.ask(t, "/often")
	d.ask(t, "/often")
	for _, times := range []int{1, 3} {
		for n := range 10_000 {
			for range times {
				d.ask(t, "/"+strconv.Itoa(times)+"/"+strconv.Itoa(n))
			}
			d.ask(t, "/often")
		}
	}
	if n := d.made["/often"]; n != 2 {
		t.Errorf("it was made %d times", n)
	}
}

func TestKeptAnswersTakeNoMoreMemoryThanTheirLimit(t *testing.T) {
	const limit = 16 << 20
	for _, size := range []int{500, 24_000} {
		d := newDesk(size)
		before := heap()
		for n := range 8_000 {
			path := "/" + strconv.Itoa(n)
			d.ask(t, path)
			d.ask(t, path)
		}
		clear(d.made)
		if held := heap() - before; held > limit*11/10 {
			t.Errorf("%d bytes are held in answers of %d", held, size)
		}
		runtime.KeepAlive(d)
	}
}

func TestInventedAddressesTakeNoPlaceOfAnswers(t *testing.T) {
	d := newDesk(100)
	ask := func(path string) (made bool) {
		w := httptest.NewRecorder()
		var r web.Request
		r.Begin(httptest.NewRequest("GET", path, nil))
		defer r.End()
		if !d.service.ReplyKept(w, &r, d.kept) {
			made = true
			d.service.Admit(&r)
			d.service.Reply(w, &r, &web.Answer{Keep: true}, web.ToolNotFound(path))
		}
		if want := string(web.ToolNotFound(path).JSON()); w.Code != http.StatusNotFound || w.Body.String() != want || w.Header().Get("Cache-Control") != "s-maxage=60" {
			t.Fatalf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
		return made
	}
	d.ask(t, "/a")
	d.ask(t, "/a")
	for n := range 20_000 { // more than there are places of any kind, until each is taken
		for range 3 {
			ask("/" + strconv.Itoa(n))
		}
	}
	if d.ask(t, "/a"); d.made["/a"] != 2 {
		t.Errorf("the answer was made %d times", d.made["/a"])
	}
	ask("/b")
	ask("/b")
	for range 5 { // those before it lose their credit
		ask("/b")
	}
	if ask("/b") {
		t.Error("what is not there is looked for each time")
	}
}
