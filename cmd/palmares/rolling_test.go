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
	"testing"
	"time"

	"palmares/internal/testkit"
)

// A balancer sends requests to the nodes that are ready, in turn. It polls their
// readiness, as load balancers do.
type balancer struct {
	t        *testing.T
	url      string
	backends []*backend
	turn     atomic.Int64
}

// A backend is a node as the balancer sees it.
type backend struct {
	proxy    *httputil.ReverseProxy
	ready    atomic.Bool
	inFlight atomic.Int64
}

func balance(t *testing.T, addresses []string) *balancer {
	t.Helper()
	b := &balancer{t: t}
	ctx, stop := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	for _, address := range addresses {
		node := &backend{proxy: &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: address}) },
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				t.Errorf("a request was lost: %v", err)
				w.WriteHeader(http.StatusBadGateway)
			},
		}}
		b.backends = append(b.backends, node)
		polling.Go(func() {
			for ctx.Err() == nil {
				resp, err := client.Get("http://" + address + "/readyz")
				if err == nil {
					resp.Body.Close()
				}
				node.ready.Store(err == nil && resp.StatusCode == 200)
				<-time.After(50 * time.Millisecond)
			}
		})
	}
	front := httptest.NewServer(b)
	b.url = front.URL
	t.Cleanup(func() {
		stop()
		polling.Wait()
		front.Close()
	})
	return b
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for range b.backends {
		node := b.backends[int(b.turn.Add(1))%len(b.backends)]
		if node.serve(w, r) {
			return
		}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// serve passes a request on and reports whether the node was ready for it.
func (n *backend) serve(w http.ResponseWriter, r *http.Request) bool {
	n.inFlight.Add(1) // before looking whether it is ready, for untilUnused
	defer n.inFlight.Add(-1)
	if !n.ready.Load() {
		return false
	}
	n.proxy.ServeHTTP(w, r)
	return true
}

func (b *balancer) untilReady(i int) {
	b.t.Helper()
	testkit.Until(b.t, "a ready node", b.backends[i].ready.Load)
}

// untilUnused waits until the balancer no longer sends requests to a node.
func (b *balancer) untilUnused(i int) {
	b.t.Helper()
	testkit.Until(b.t, "a node without requests", func() bool {
		return !b.backends[i].ready.Load() && b.backends[i].inFlight.Load() == 0
	})
}

// read sends requests until ctx is done, and counts those that were answered.
func (b *balancer) read(ctx context.Context, key string, answered *atomic.Int64) {
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(b.t.Context(), "GET", b.url+"/api/v1/stats", nil)
		if err != nil {
			b.t.Error(err)
			return
		}
		req.Header.Set("Authorization", key)
		resp, err := client.Do(req)
		if err != nil {
			b.t.Errorf("a request failed: %v", err)
			return
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			b.t.Errorf("a request was answered %s", resp.Status)
			return
		}
		answered.Add(1)
		<-time.After(5 * time.Millisecond)
	}
}

// TestARollingRestartUnderLoadLosesNoRequest ends each node's drain when the balancer
// has seen that it is not ready, however long that takes on this machine.
func TestARollingRestartUnderLoadLosesNoRequest(t *testing.T) {
	t.Parallel()
	database := databases.Postgres(t)
	key := strings.TrimPrefix(customer(t, database, "grace@example.org", "pro", 1)[0], "Authorization: ")
	addresses := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	node := func(i int) *process {
		p := serveProcess(t, "--listen", addresses[i], "--database", database, "--drain", "5m")
		t.Cleanup(p.endDrain)
		return p
	}
	nodes := []*process{node(0), node(1), node(2)}
	b := balance(t, addresses)
	for i := range nodes {
		b.untilReady(i)
	}
	ctx, stop := context.WithCancel(t.Context())
	var answered atomic.Int64
	var load sync.WaitGroup
	for range 6 {
		load.Go(func() { b.read(ctx, key, &answered) })
	}
	for i := range nodes {
		before := answered.Load()
		nodes[i].signal()
		b.untilUnused(i)
		nodes[i].endDrain()
		nodes[i] = node(i)
		b.untilReady(i)
		if answered.Load() == before {
			t.Error("nobody asked while a node was restarted")
		}
	}
	stop()
	load.Wait()
}

func TestANodeThatIsAskedToStopSaysItIsNotReadyAndStillAnswers(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, "--database", databases.Postgres(t), "--drain", "5m")
	if resp, _ := s.get("/readyz"); resp.StatusCode != 200 || resp.Close {
		t.Errorf("before: %s, close %v", resp.Status, resp.Close)
	}
	s.signal()
	s.until("/readyz", func(r *http.Response, _ string) bool { return r.StatusCode == 503 })
	if resp, _ := s.get("/api/v1/stats"); resp.StatusCode != 200 || !resp.Close {
		t.Errorf("while it drains: %s, close %v; want an answer that ends its connection", resp.Status, resp.Close)
	}
	s.endDrain()
	if !s.log.Contains("asked to stop again") {
		t.Errorf("the log does not say why it did not wait:\n%s", s.log)
	}
}
