// Package lane serves plain GET requests with less work than net/http does.
//
// A Lane is a net.Listener between the real one and an http.Server. It reads each new
// connection itself. While the requests on it are plain, it passes them to the same handler
// that the http.Server has, on one goroutine and without copying headers or chunking bodies.
// At the first request that is not plain, the connection goes to the http.Server with every
// byte of that request unread, and stays there.
//
// A request is plain if all of its head has arrived in one piece, and if it is
//
//	GET /path?query HTTP/1.1
//
// with a path that the handler wants to answer here, of letters, digits and -._~/ without
// empty segments or dots at the start of one; with exactly one Host; and otherwise only
// headers of a fixed list, each at most once, in printable ASCII. None of them announces a
// body, an upgrade or the end of the connection. So there is nothing left that two parsers
// could read differently: where this one is in doubt, net/http decides.
package lane

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what a Lane needs. All fields are required.
type Config struct {
	Handler http.Handler
	// Wants reports whether requests for a path are answered here. It must not want paths
	// whose handlers flush, hijack the connection or need to know that the client is gone.
	Wants func(path string) bool
	// First is how long a new connection may wait for a request, Idle how long one may wait
	// for the next, and Write how long an answer may take to be sent.
	First, Idle, Write time.Duration
	Log                *slog.Logger
}

// A Lane is a listener for an http.Server. It serves some connections itself.
type Lane struct {
	net.Listener
	Config
	start   sync.Once
	handed  chan handed
	ended   chan struct{} // closed when nothing is handed over any more
	closing atomic.Bool
	closes  atomic.Bool // keep-alives are off
	running sync.WaitGroup

	mu    sync.Mutex
	conns map[*conn]bool
}

// handed is what Accept returns.
type handed struct {
	net.Conn
	err error
}

// New returns a Lane that accepts connections from inner once Accept is called.
func New(inner net.Listener, cfg Config) *Lane {
	return &Lane{Listener: inner, Config: cfg, handed: make(chan handed), ended: make(chan struct{}), conns: map[*conn]bool{}}
}

// accept serves connections until Close. The http.Server sees every failure, and waits before
// it asks again.
func (l *Lane) accept() {
	defer close(l.ended)
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			l.handed <- handed{err: err}
			if l.closing.Load() {
				return
			}
			continue
		}
		c := &conn{Conn: accepted, lane: l, remote: accepted.RemoteAddr().String(), header: http.Header{}}
		l.mu.Lock()
		l.conns[c] = true
		l.mu.Unlock()
		l.running.Go(c.serve)
	}
}

// Accept returns the next connection that is for the http.Server.
func (l *Lane) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.accept() })
	next := <-l.handed
	return next.Conn, next.err
}

// Close stops accepting connections, and closes those that wait for their next request.
// Answers are finished; see Wait.
func (l *Lane) Close() error {
	l.closing.Store(true)
	err := l.Listener.Close()
	l.closeIdle()
	return err
}

// Wait returns when the last answer is sent after Close. If ctx ends first, it cuts the
// others off and returns the context's error.
func (l *Lane) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { l.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	for c := range l.conns {
		_ = c.Conn.Close() // it is being cut off
	}
	l.mu.Unlock()
	<-done
	return ctx.Err()
}

// SetKeepAlives decides whether connections stay open after an answer. If not, those that
// wait for a request are closed at once.
func (l *Lane) SetKeepAlives(enabled bool) {
	if l.closes.Store(!enabled); !enabled {
		l.closeIdle()
	}
}

// ends reports whether connections are closed after each answer.
func (l *Lane) ends() bool { return l.closing.Load() || l.closes.Load() }

func (l *Lane) closeIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.idle.CompareAndSwap(true, false) {
			_ = c.Conn.Close() // nobody waits for anything
		}
	}
}

// A conn is a connection while its requests are plain.
type conn struct {
	net.Conn
	lane   *Lane
	remote string
	header http.Header // of the answer
	idle   atomic.Bool // it waits for its next request, and may be closed

	readBy, writeBy time.Time // when the deadlines were set
}

var (
	// buffers are for requests that have arrived: one that does not fit is not plain.
	buffers = sync.Pool{New: func() any { return new([4 << 10]byte) }}
	// scratches are for the heads of answers, with the body if it is small enough to copy.
	scratches = sync.Pool{New: func() any { return new([64 << 10]byte) }}
)

// serve answers plain requests, and leaves the connection to the http.Server at the first
// other one.
func (c *conn) serve() {
	buffer := buffers.Get().(*[4 << 10]byte)
	rest, handOver := c.serveFrom(buffer[:])
	unread := bytes.Clone(rest)
	buffers.Put(buffer)
	c.lane.mu.Lock()
	delete(c.lane.conns, c)
	c.lane.mu.Unlock()
	if handOver && c.SetDeadline(time.Time{}) == nil {
		select {
		case c.lane.handed <- handed{Conn: &handedConn{c.Conn, unread}}:
			return
		case <-c.lane.ended:
		}
	}
	_ = c.Conn.Close() // there is nobody to tell
}

// serveFrom returns when the connection ends or is not for us. What was read and is not
// answered is in rest then, which is a part of the buffer.
func (c *conn) serveFrom(buffer []byte) (rest []byte, handOver bool) {
	if c.SetReadDeadline(time.Now().Add(c.lane.First)) != nil {
		return nil, false
	}
	n, err := c.Read(buffer)
	if err != nil {
		return nil, false
	}
	for rest = buffer[:n]; ; {
		var r request
		length, ok := r.parse(rest)
		if !ok || !c.lane.Wants(r.path) {
			return rest, true
		}
		if !c.answer(&r) {
			return nil, false
		}
		for rest = rest[length:]; len(rest) < 4; { // like net/http, which ignores fewer at the end of a connection
			rest = buffer[:copy(buffer, rest)]
			n, ok := c.await(buffer[len(rest):])
			if !ok {
				return nil, false
			}
			rest = buffer[:len(rest)+n]
		}
	}
}

// extend sets a deadline again if a second has passed: doing so each time would cost more.
func extend(set func(time.Time) error, last *time.Time, by time.Duration) bool {
	now := time.Now()
	if now.Sub(*last) < time.Second {
		return true
	}
	*last = now
	return set(now.Add(by)) == nil
}

// await reads the next bytes. It returns false if the connection is to be closed.
func (c *conn) await(buffer []byte) (int, bool) {
	c.idle.Store(true)
	if c.lane.ends() { // closeIdle may have come just before
		return 0, false
	}
	if !extend(c.SetReadDeadline, &c.readBy, c.lane.Idle) {
		return 0, false
	}
	n, err := c.Read(buffer)
	return n, c.idle.CompareAndSwap(true, false) && n > 0 && err == nil
}

// answer has the handler answer one request, and reports whether the connection stays open.
func (c *conn) answer(r *request) (stays bool) {
	if !extend(c.SetWriteDeadline, &c.writeBy, c.lane.Write) {
		return false
	}
	scratch := scratches.Get().(*[64 << 10]byte)
	defer scratches.Put(scratch)
	clear(c.header)
	out := writer{conn: c, length: -1, header: c.header, head: scratch[:0], closes: c.lane.ends()}
	defer func() {
		if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
			c.lane.Log.Error("a handler panicked", "panic", failure, "stack", string(debug.Stack()))
		}
	}()
	c.lane.Handler.ServeHTTP(&out, r.http(c.remote))
	return out.finish()
}

// A handedConn is a connection of which some bytes have been read.
type handedConn struct {
	net.Conn
	unread []byte
}

func (c *handedConn) Read(b []byte) (int, error) {
	if len(c.unread) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}
