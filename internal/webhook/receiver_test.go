package webhook_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"palmares/internal/webhook"
)

// request is what a receiver saw of one.
type request struct {
	at     time.Time
	header http.Header
	body   string
}

// receiver is an HTTP server at the other end of net.Pipe, so that it can live in a
// bubble, where time passes when everybody waits.
type receiver struct {
	conns  chan net.Conn
	closed chan struct{}
	answer http.HandlerFunc

	mu       sync.Mutex
	requests []request
	inFlight map[string]int // by path
	most     map[string]int
}

// receive starts a receiver and sends d's requests to it, whatever their host. The
// function it returns stops it.
func receive(t *testing.T, d *webhook.Dispatcher, answer http.HandlerFunc) (r *receiver, stop func()) {
	t.Helper()
	r = &receiver{conns: make(chan net.Conn), closed: make(chan struct{}), inFlight: map[string]int{}, most: map[string]int{}, answer: answer}
	d.Dial(r.dial)
	server := &http.Server{Handler: r}
	done := make(chan error, 1)
	go func() { done <- server.Serve(r) }()
	return r, func() {
		server.Close()
		<-done
	}
}

func (r *receiver) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case r.conns <- theirs:
		return ours, nil
	case <-r.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr make the receiver a net.Listener.
func (r *receiver) Accept() (net.Conn, error) {
	select {
	case c := <-r.conns:
		return c, nil
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

func (r *receiver) Close() error {
	close(r.closed)
	return nil
}

func (r *receiver) Addr() net.Addr { return &net.TCPAddr{} }

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	r.requests = append(r.requests, request{time.Now(), q.Header, string(body)})
	r.inFlight[q.URL.Path]++
	r.most[q.URL.Path] = max(r.most[q.URL.Path], r.inFlight[q.URL.Path])
	r.mu.Unlock()
	r.answer(w, q)
	r.mu.Lock()
	r.inFlight[q.URL.Path]--
	r.mu.Unlock()
}

// seen returns the requests so far.
func (r *receiver) seen() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.requests...)
}

// open is the number of requests to a path that have no answer yet.
func (r *receiver) open(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inFlight[path]
}

// atOnce is the greatest number of requests at once to a path.
func (r *receiver) atOnce(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most[path]
}

func answering(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// hanging answers nothing until the other side gives up.
func hanging(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
