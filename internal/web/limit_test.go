package web_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/quota"
	"palmares/internal/web"
	"palmares/internal/wire"
)

func TestWhatFindsNoRoomWaitsInOrderAndIsRefusedAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := web.NewLimit(10, time.Second)
		enter := func(ctx context.Context, size int) <-chan error {
			entered := make(chan error, 1)
			go func() { entered <- limit.Enter(ctx, size) }()
			synctest.Wait()
			return entered
		}
		is := func(what string, entered <-chan error, want bool) {
			t.Helper()
			synctest.Wait()
			if (len(entered) == 1) != want {
				t.Errorf("%s: entered or refused %v, want %v", what, !want, want)
			}
		}
		refused := func(what string, entered <-chan error) {
			t.Helper()
			is(what, entered, true)
			if e := web.AsError(<-entered); e.Status() != 503 {
				t.Errorf("%s: %v", what, e)
			}
		}
		first := enter(t.Context(), 6)
		is("what has room", first, true)
		large := enter(t.Context(), 100)
		time.Sleep(time.Millisecond)
		small := enter(t.Context(), 4)
		is("what needs all", large, false)
		is("a small one behind it", small, false)
		leaving, leave := context.WithCancel(t.Context())
		gone := enter(leaving, 1)
		leave()
		refused("who left", gone)
		time.Sleep(time.Second - time.Millisecond)
		refused("the large one, in time", large)
		is("the small one, as nobody is before it", small, true)
		third := enter(t.Context(), 5)
		is("the third", third, false)
		limit.Leave(6)
		is("the third, in its turn", third, true)
		limit.Leave(4)
		limit.Leave(5)
		is("one that is larger than the limit, alone", enter(t.Context(), 100), true)
		limit.Leave(100)
		is("after all", enter(t.Context(), 10), true)
	})
}

func TestANetworkWaitsForItsOwnPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := web.NewPlaces([]netip.Prefix{netip.MustParsePrefix("203.0.113.7/32")})
		enter := func(from string) (leave func(), err error) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.RemoteAddr = "203.0.113.7:1" // a proxy
			r.Header.Set("X-Forwarded-For", from)
			return places.Enter(r)
		}
		var leave func()
		for i := 0; ; i++ { // all that one network may have
			next, err := enter(fmt.Sprintf("2001:db8::%x", i))
			if err != nil {
				break
			}
			leave = next
		}
		waits := make(chan error, 1)
		go func() {
			_, err := enter("2001:db8::1:1")
			waits <- err
		}()
		synctest.Wait()
		if _, err := enter("2001:db8:0:1::1"); err != nil {
			t.Errorf("another network is refused: %v", err)
		}
		if len(waits) != 0 {
			t.Error("the first network has more places than it may have")
		}
		leave()
		if err := <-waits; err != nil {
			t.Errorf("when there is room again: %v", err)
		}
	})
}

// A longBody is made piece by piece, once it may be.
type longBody struct {
	may    <-chan struct{}
	pieces int
}

func (b *longBody) Append([]byte) []byte { panic("it is assembled as a whole") }

func (b *longBody) Pieces(yield func([]byte) bool) {
	<-b.may
	for range b.pieces {
		yield(bytes.Repeat([]byte("palmares"), 8<<10))
	}
}

func TestLargeResponsesUnderWayAreLimitedAndStreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		may := make(chan struct{})
		sizes := map[string]int{"/all": 64 << 20, "/large": 2 << 20, "/small": 1000}
		anonymous := func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, nil }
		h := web.NewHandler(web.Config[int]{
			Callers: anonymous, Public: true,
			Fallback: func(r *web.Request[int]) (web.Response, error) {
				size, path := sizes[r.URL.Path], []byte(r.URL.Path)
				if size == 1000 {
					return web.Response{Body: wire.NewBody(wire.Sum(path), path), Size: size}, nil
				}
				return web.Response{Body: wire.NewParts(wire.Sum(path), &longBody{may, size >> 16}), Size: size}, nil
			},
		})
		get := func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			return w
		}
		made := make(chan int, 1)
		go func() { made <- get("/all").Body.Len() }()
		synctest.Wait()
		if w := get("/large"); w.Code != 503 || w.Header().Get("Retry-After") != "5" {
			t.Errorf("while there is no room: %d %v", w.Code, w.Header())
		}
		if w := get("/small"); w.Code != 200 {
			t.Errorf("a small one: %d", w.Code)
		}
		close(may)
		if n := <-made; n != 64<<20 {
			t.Errorf("it has %d bytes", n)
		}
		if w := get("/large"); w.Code != 200 || w.Body.Len() != 2<<20 || !strings.HasPrefix(w.Body.String(), "palmares") {
			t.Errorf("afterwards: %d, %d bytes", w.Code, w.Body.Len())
		}
	})
}

// A heldBody is made once it may be.
type heldBody struct{ may <-chan struct{} }

func (b heldBody) Append(to []byte) []byte {
	<-b.may
	return append(to, "palmares"...)
}

func TestOneCallerLeavesRoomForLargeResponsesToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		may, now := make(chan struct{}), make(chan struct{})
		close(now)
		h := web.NewHandler(web.Config[int]{
			Callers: func(_ context.Context, r *http.Request) (web.Caller, error) {
				return web.Caller{Subject: quota.Subject{Account: r.URL.Path}}, nil
			},
			Public: true,
			Fallback: func(r *web.Request[int]) (web.Response, error) {
				body := heldBody{now}
				if r.URL.RawQuery == "held" {
					body = heldBody{may}
				}
				return web.Response{Body: wire.NewParts(wire.Sum([]byte(r.URL.String())), body), Size: 1 << 20}, nil
			},
		})
		get := func(path string) int {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			return w.Code
		}
		var held sync.WaitGroup
		for range 8 {
			held.Go(func() {
				if code := get("/ada?held"); code != 200 {
					t.Errorf("one of eight: %d", code)
				}
			})
		}
		synctest.Wait()
		if code := get("/ada"); code != 503 {
			t.Errorf("the ninth: %d", code)
		}
		if code := get("/grace"); code != 200 {
			t.Errorf("another caller: %d", code)
		}
		close(may)
		held.Wait()
		if code := get("/ada"); code != 200 {
			t.Errorf("afterwards: %d", code)
		}
	})
}
