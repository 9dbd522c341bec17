package server

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"

	"palmares/internal/lane"
)

// Connections limits how many connections are open at once. While the limit is reached,
// connections are closed after each response, idle ones at once, and new ones wait in the
// kernel's queue.
type Connections struct {
	slots chan struct{} // one token per open connection, and one for the next
	open  atomic.Int64
	full  atomic.Bool // the limit was reached, and most connections are still open
}

// NewConnections returns a limit of most connections.
func NewConnections(most int) *Connections { return &Connections{slots: make(chan struct{}, most)} }

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
	if l.limit == nil {
		conn, err := l.Listener.Accept()
		l.report(err)
		return conn, err
	}
	select {
	case l.limit.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	l.report(err)
	if err != nil {
		<-l.limit.slots
		return nil, err
	}
	if int(l.limit.open.Add(1)) == l.limit.Limit() && l.limit.full.CompareAndSwap(false, true) {
		l.log.Warn("as many connections are open as are allowed: idle ones are closed and others wait; "+
			"raise --max-connections if these are real clients",
			"limit", l.limit.Limit())
		l.setKeepAlives() // closes idle connections
	}
	return &limitedConn{TCPConn: conn.(*net.TCPConn), release: sync.OnceFunc(l.release)}, nil
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
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
