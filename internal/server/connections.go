package server

import (
	"bytes"
	"context"
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
// connections are closed after each answer, idle ones at once, and new ones wait in the
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
	limited := &listener{Listener: l, server: srv, limit: limit, log: log.With("address", l.Addr().String()), closed: make(chan struct{})}
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
	if l.report(err); err != nil {
		<-l.limit.slots
		return nil, err
	}
	if int(l.limit.open.Add(1)) == l.limit.Limit() && l.limit.full.CompareAndSwap(false, true) {
		l.log.Warn("as many connections are open as are allowed: idle ones are closed and others wait; raise --max-connections if these are real clients",
			"limit", l.limit.Limit())
		l.setKeepAlives() // closes idle connections
	}
	return &countedConn{TCPConn: conn.(*net.TCPConn), release: sync.OnceFunc(l.release)}, nil
}

// setKeepAlives keeps connections open after an answer, or not. Several calls at once end with
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
	switch failing := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE); {
	case failing && !l.failing:
		l.log.Error("connections cannot be accepted: too many open files; raise the limit (LimitNOFILE of systemd, ulimit -n), or lower --max-connections", "error", err)
		l.failing = true
	case err == nil && l.failing:
		l.log.Info("connections are accepted again")
		l.failing = false
	}
}

// A countedConn frees its place when it is closed. It embeds the type rather than net.Conn,
// which does not have what writes several buffers with one system call.
type countedConn struct {
	*net.TCPConn
	release func()
	// Of the next answer that net/http sends, lines are headers that go behind the status, and
	// body is all of the body. Only the goroutine that answers requests uses them.
	lines, body []byte
	sent        int // bytes that net/http is still to write and that were sent already
}

func (c *countedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}

// Write writes what net/http has made of an answer, with the lines that wait for it. net/http
// writes all of one answer before the next, so the first write begins with the status. It ends
// within the body if that is long; then all of it is sent at once, and not the writes that
// follow.
func (c *countedConn) Write(b []byte) (int, error) {
	if c.lines == nil && c.sent == 0 {
		return c.TCPConn.Write(b)
	}
	if c.lines == nil {
		if len(b) > c.sent {
			return 0, errNotKept // closes the connection
		}
		c.sent -= len(b)
		return len(b), nil
	}
	lines, body := c.lines, c.body
	c.lines, c.body = nil, nil
	status, head := bytes.IndexByte(b, '\n')+1, bytes.Index(b, []byte("\r\n\r\n"))+4
	if !bytes.HasPrefix(b, []byte("HTTP/1.")) || head < status || !bytes.HasPrefix(body, b[head:]) {
		return 0, errNotKept
	}
	room := joined.Get().(*[]byte)
	defer joined.Put(room)
	*room = append(append(append((*room)[:0], b[:status]...), lines...), b[status:]...)
	var err error
	if c.sent = len(body) - (len(b) - head); c.sent == 0 {
		_, err = c.TCPConn.Write(*room)
	} else {
		all := net.Buffers{(*room)[:len(lines)+head], body}
		_, err = all.WriteTo(c.TCPConn)
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

var (
	errNotKept = errors.New("net/http wrote something else than the answer that is kept")
	// joined are for what net/http writes at once, at most 4 KiB, with lines.
	joined = sync.Pool{New: func() any { b := make([]byte, 0, 8<<10); return &b }}
)

// connKey is the key of the connection in the context of its requests.
type connKey struct{}

// withConn adds a connection to the context of its requests, if it can add lines to answers.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	if handed, ok := conn.(interface{ NetConn() net.Conn }); ok { // by the front lane
		conn = handed.NetConn()
	}
	if counted, ok := conn.(*countedConn); ok {
		ctx = context.WithValue(ctx, connKey{}, counted)
	}
	return ctx
}
