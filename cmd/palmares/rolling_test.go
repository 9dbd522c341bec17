package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"palmares/internal/testkit"
)

// A balancer sends requests to the nodes that are ready, in turn. It asks each
// whether it is, now and then, as load balancers do.
type balancer struct {
	proxies []*httputil.ReverseProxy
	ready   []atomic.Bool
	turn    atomic.Int64
	lost    atomic.Int64 // requests that a node did not answer
}

func balance(t *testing.T, addresses []string) (*balancer, string) {
	t.Helper()
	b := &balancer{ready: make([]atomic.Bool, len(addresses))}
	for _, address := range addresses {
		b.proxies = append(b.proxies, &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: address}) },
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				if b.lost.Add(1) == 1 {
					t.Errorf("a request was lost: %v", err)
				}
				w.WriteHeader(http.StatusBadGateway)
			},
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for i, address := range addresses {
		asking.Go(func() {
			for ctx.Err() == nil {
				resp, err := caller.Get("http://" + address + "/readyz")
				if err == nil {
					resp.Body.Close()
				}
				b.ready[i].Store(err == nil && resp.StatusCode == 200)
				<-time.After(50 * time.Millisecond)
			}
		})
	}
	front := httptest.NewServer(b)
	t.Cleanup(func() {
		stop()
		asking.Wait()
		front.Close()
	})
	return b, front.URL
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for range b.proxies {
		i := int(b.turn.Add(1)) % len(b.proxies)
		if b.ready[i].Load() {
			b.proxies[i].ServeHTTP(w, r)
			return
		}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// untilReady waits until the balancer has seen a node ready.
func (b *balancer) untilReady(i int) {
	for !b.ready[i].Load() {
		<-time.After(10 * time.Millisecond)
	}
}

func TestARollingRestartUnderLoadLosesNoRequest(t *testing.T) {
	database := testkit.Postgres(t)
	key := strings.TrimPrefix(customer(t, database, "grace@example.org", "pro", 1)[0], "Authorization: ")
	addresses := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	node := func(i int) *served {
		return serveProcess(t, "--listen", addresses[i], "--database", database, "--drain", "1s")
	}
	nodes := []*served{node(0), node(1), node(2)}
	b, front := balance(t, addresses)
	for i := range nodes {
		b.untilReady(i)
	}
	ctx, stop := context.WithCancel(t.Context())
	var answered atomic.Int64
	var load sync.WaitGroup
	for range 6 {
		load.Go(func() {
			for ctx.Err() == nil {
				req, err := http.NewRequestWithContext(t.Context(), "GET", front+"/api/v1/stats", nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", key)
				resp, err := caller.Do(req)
				if err != nil {
					t.Errorf("a request failed: %v", err)
					return
				}
				resp.Body.Close()
				if resp.StatusCode != 200 {
					t.Errorf("a request was answered %s", resp.Status)
					return
				}
				answered.Add(1)
			}
		})
	}
	for i := range nodes {
		before := answered.Load()
		nodes[i].stop()
		nodes[i] = node(i)
		b.untilReady(i)
		if answered.Load() == before {
			t.Error("nobody asked while a node was restarted")
		}
	}
	stop()
	load.Wait()
	if b.lost.Load() > 0 {
		t.Errorf("%d requests were lost", b.lost.Load())
	}
}

func TestANodeThatIsToldToStopSaysItIsNotReadyAndStillAnswers(t *testing.T) {
	s := serveProcess(t, "--database", testkit.Postgres(t), "--drain", "3s")
	if resp, _ := s.get("/readyz"); resp.StatusCode != 200 || resp.Close {
		t.Errorf("before: %s, close %v", resp.Status, resp.Close)
	}
	ended := make(chan struct{})
	go func() { s.stop(); close(ended) }()
	s.until("/readyz", func(r *http.Response, _ string) bool { return r.StatusCode == 503 })
	if resp, _ := s.get("/api/v1/stats"); resp.StatusCode != 200 || !resp.Close {
		t.Errorf("while it drains: %s, close %v; want an answer that ends its connection", resp.Status, resp.Close)
	}
	<-ended
}

func TestASecondSignalEndsTheDrain(t *testing.T) {
	s := serveProcess(t, "--database", testkit.Postgres(t), "--drain", "5m")
	tell := func() {
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	tell()
	for !strings.Contains(s.log.String(), "answering what still comes") {
		<-time.After(10 * time.Millisecond)
	}
	for ended := false; !ended; { // the first may come before anybody listens for a second
		tell()
		select {
		case err := <-s.ended:
			ended = true
			s.ended <- err
		case <-time.After(100 * time.Millisecond):
		}
	}
	if !strings.Contains(s.log.String(), "told to stop again") {
		t.Errorf("the log does not say why it did not wait:\n%s", s.log)
	}
}
