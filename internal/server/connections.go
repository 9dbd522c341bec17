package server

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"palmares/internal/lane"
)

// Connections limits how many connections are open at once. While the limit is reached,
// connections are closed after each response, idle ones at once, and of those that have not sent
// a complete request in time the oldest one makes room for a new one. Without any, new ones wait.
type Connections struct {
	slots    chan struct{} // one token per open connection
	open     atomic.Int64
	full     atomic.Bool   // the limit was reached, and most connections are still open
	patience time.Duration // how long a new connection has for its first request when others wait

	mu  sync.Mutex
	all list.List // of *limitedConn, the oldest first
}

// NewConnections returns a limit of most connections.
func NewConnections(most int) *Connections {
	return &Connections{slots: make(chan struct{}, most), patience: time.Second}
}

// Open returns how many connections are open.
func (c *Connections) Open() int { return int(c.open.Load()) }

// Limit returns how many may be open.
func (c *Connections) Limit() int { return cap(c.slots) }

// A listener accepts connections up to a limit, and logs when it cannot. With a limit, the
// inner one must be for TCP.
type listener struct {
	net.Listener
	server *http.Server
	lane   *lane.Lane   // nil for none
	limit  *Connections // nil for none
	log    *slog.Logger

	failing bool // the process has no file descriptors left; used by Accept only
	close   func() error
	closed  chan struct{}
}

func newListener(l net.Listener, srv *http.Server, limit *Connections, log *slog.Logger) *listener {
	limited := &listener{
		Listener: l, server: srv, limit: limit,
		log: log.With("address", l.Addr().String()), closed: make(chan struct{}),
	}
	limited.close = sync.OnceValue(func() error {
		close(limited.closed)
		return l.Close()
	})
	return limited
}

// Close makes a blocked Accept return.
func (l *listener) Close() error { return l.close() }

// Accept waits for the next connection, and for a place for it.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	l.report(err)
	if err != nil || l.limit == nil {
		return conn, err
	}
	if !l.awaitRoom() {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	if int(l.limit.open.Add(1)) == l.limit.Limit() && l.limit.full.CompareAndSwap(false, true) {
		l.log.Warn("as many connections are open as are allowed: idle ones are closed and others wait; "+
			"raise --max-connections if these are real clients",
			"limit", l.limit.Limit())
		l.setKeepAlives() // closes idle connections
	}
	return l.limit.add(conn.(*net.TCPConn), l.release), nil
}

// awaitRoom takes a place for a connection, and reports whether it got one before l was closed. A
// silent connection has some time before it is closed for that: its request may be on its way, and
// idle ones may just be making room.
func (l *listener) awaitRoom() bool {
	for {
		select {
		case l.limit.slots <- struct{}{}:
			return true
		default:
		}
		wait := l.limit.patience
		silent := l.limit.oldestSilent()
		if silent != nil {
			wait = time.Until(silent.born.Add(wait))
		}
		select {
		case l.limit.slots <- struct{}{}:
			return true
		case <-l.closed:
			return false
		case <-time.After(wait):
			if silent != nil && !silent.asks.Load() {
				_ = silent.Close() // nobody waits for anything
			}
		}
	}
}

// add adds a connection, for which there is room.
func (c *Connections) add(conn *net.TCPConn, release func()) *limitedConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	limited := &limitedConn{TCPConn: conn, born: time.Now()}
	place := c.all.PushBack(limited)
	limited.release = sync.OnceFunc(func() {
		c.mu.Lock()
		c.all.Remove(place)
		c.mu.Unlock()
		release()
	})
	return limited
}

// oldestSilent returns the oldest connection that has not sent a complete request, nil for none.
func (c *Connections) oldestSilent() *limitedConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.all.Front(); e != nil; e = e.Next() {
		if conn := e.Value.(*limitedConn); !conn.asks.Load() {
			return conn
		}
	}
	return nil
}

// setKeepAlives keeps connections open after a response, or not. Several calls at once end with
// what is true then.
func (l *listener) setKeepAlives() {
	for {
		full := l.limit.full.Load()
		l.server.SetKeepAlivesEnabled(!full)
		if l.lane != nil {
			l.lane.SetKeepAlives(!full)
		}
		if l.limit.full.Load() == full {
			return
		}
	}
}

// release frees the place of a connection.
func (l *listener) release() {
	<-l.limit.slots
	if int(l.limit.open.Add(-1)) <= l.limit.Limit()/4*3 && l.limit.full.CompareAndSwap(true, false) {
		l.setKeepAlives()
		l.log.Info("there is room for connections again")
	}
}

// report logs the first failure and the recovery, not every attempt in between. The
// caller, net/http, tries again.
func (l *listener) report(err error) {
	failing := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
	switch {
	case failing && !l.failing:
		l.log.Error("connections cannot be accepted: too many open files; raise the limit (LimitNOFILE of systemd, "+
			"ulimit -n), or lower --max-connections", "error", err)
		l.failing = true
	case err == nil && l.failing:
		l.log.Info("connections are accepted again")
		l.failing = false
	}
}

// A limitedConn frees its place when it is closed. It embeds the type rather than net.Conn,
// which does not have what writes several buffers with one system call.
type limitedConn struct {
	*net.TCPConn
	born    time.Time
	release func()
	asks    atomic.Bool // it has sent a complete request since it was last idle
}

// SetAsks is called by whoever reads requests from the connection.
func (c *limitedConn) SetAsks(asks bool) { c.asks.Store(asks) }

// track makes srv tell the connections that it reads from which of them have sent a request.
func track(srv *http.Server) {
	handler := srv.Handler
	limitedOf := func(c net.Conn) *limitedConn {
		for { // it may be encrypted, and handed over by the front lane
			outer, ok := c.(interface{ NetConn() net.Conn })
			if !ok {
				break
			}
			c = outer.NetConn()
		}
		limited, _ := c.(*limitedConn)
		return limited
	}
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, limitedOf(c))
	}
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		if limited := limitedOf(c); limited != nil && state == http.StateIdle {
			limited.SetAsks(false)
		}
	}
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if limited, _ := r.Context().Value(connKey{}).(*limitedConn); limited != nil { // nil in the front lane
			limited.SetAsks(true)
		}
		handler.ServeHTTP(w, r)
	})
}

// connKey is the key of the connection in the context of its requests.
type connKey struct{}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
