// Package lane serves plain GET requests with less work than net/http does.
//
// A Lane is a net.Listener between the real one and an http.Server. It reads each connection.
// While the requests on it are plain, it passes them to the handler of the http.Server, on one
// goroutine and without copying headers or chunking bodies. At the first one that is not plain,
// the connection goes to the http.Server with every byte of it unread, and stays there.
//
// A request is plain if all of its head has arrived in one piece, and if it is
//
//	GET /path?query HTTP/1.1
//
// with a path that is wanted here, of letters, digits and -._~/ without empty segments or dots
// at the start of one; with exactly one Host; and otherwise only headers of a fixed list, each at
// most once, in printable ASCII. None of them announces a body, an upgrade or the end of the
// connection. So two parsers cannot read it differently: in doubt, net/http decides.
package lane

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A Lane is a listener for an http.Server. It serves some connections itself.
type Lane struct {
	net.Listener
	// TLS is set before Accept is called if connections are encrypted. Those of HTTP/2 go to the
	// http.Server at once.
	TLS *tls.Config

	server  *http.Server
	wants   func(path string) bool
	start   sync.Once
	handed  chan func() (net.Conn, error) // what Accept returns
	closing atomic.Bool
	closes  atomic.Bool // keep-alives are off
	conns   sync.Map    // every *conn that is served here
	running sync.WaitGroup
}

// New returns a Lane that accepts TCP connections from inner once Accept is called. It uses
// the handler, the error log and the three timeouts of srv, which must be set.
//
// Requests for paths that wants reports are answered here. Their handlers must end without being
// cancelled, and not flush, hijack the connection, change the request's headers, or use it afterwards.
func New(inner net.Listener, srv *http.Server, wants func(path string) bool) *Lane {
	return &Lane{
		Listener: inner, server: srv, wants: wants, handed: make(chan func() (net.Conn, error)),
	}
}

// accept serves connections until Close. The http.Server hears of failures, and then waits; of the
// end only when it has got the last connection that is for it.
func (l *Lane) accept() {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			if l.closing.Load() {
				l.running.Wait()
			}
			l.handed <- func() (net.Conn, error) { return nil, err }
			if l.closing.Load() {
				return
			}
			continue
		}
		if l.TLS != nil {
			accepted = tls.Server(accepted, l.TLS)
		}
		c := &conn{
			stream: accepted.(stream), lane: l, remote: accepted.RemoteAddr().String(), born: time.Now(), header: http.Header{},
		}
		l.conns.Store(c, nil)
		l.running.Go(c.serve)
	}
}

// Accept returns the next connection that is for the http.Server.
func (l *Lane) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.accept() })
	return (<-l.handed)()
}

// Close stops accepting connections, and closes those that wait for their next request. Requests
// that are not answered yet are, here or by the http.Server, which must not be closed before Wait
// has returned.
func (l *Lane) Close() error {
	l.closing.Store(true)
	defer l.closeIdle()
	return l.Listener.Close()
}

// Wait returns when the last connection was closed after Close, or left to the http.Server. If ctx
// ends first, it cuts the others off and returns the context's error.
func (l *Lane) Wait(ctx context.Context) error {
	finished := context.AfterFunc(ctx, func() {
		for c := range l.conns.Range {
			_ = c.(*conn).Close() // it is being cut off
		}
	})
	l.running.Wait()
	if !finished() {
		return ctx.Err()
	}
	return nil
}

// SetKeepAlives decides whether connections stay open after an answer. If not, it closes idle ones.
func (l *Lane) SetKeepAlives(enabled bool) {
	if l.closes.Store(!enabled); !enabled {
		l.closeIdle()
	}
}

// ends reports whether connections are closed after each answer.
func (l *Lane) ends() bool { return l.closing.Load() || l.closes.Load() }

// silence is how long, at the end, connections that have not sent anything are heard from their start, as when
// net/http shuts down.
const silence = 5 * time.Second

// closeIdle ends connections that wait for a request, and gives the silent ones less time.
func (l *Lane) closeIdle() {
	for c := range l.conns.Range {
		if c := c.(*conn); c.idle.Load() {
			_ = c.SetReadDeadline(time.Now()) // await looks once more; it fails if it is closed
		} else if !c.heard.Load() {
			_ = c.SetReadDeadline(c.born.Add(silence)) // it fails if it is closed
		}
	}
}

// A stream is a connection that can be closed in one direction, as net/http does with refusals.
type stream interface {
	net.Conn
	CloseWrite() error
}

// A conn is a connection while its requests are plain.
type conn struct {
	stream
	lane   *Lane
	remote string
	born   time.Time
	heard  atomic.Bool    // it has sent something
	idle   atomic.Bool    // it waits for its next request, and may be ended
	in     [4 << 10]byte  // what has arrived; a request that does not fit is not plain
	given  requestHeaders // of the last request
	header http.Header    // of the answer
	out    writer
	head   [4 << 10]byte // of the answer, with the body if there is room
	second int64         // when renew last did something, as a Unix time
	date   []byte        // the line of Date for that second
}

// serve answers plain requests, and leaves the connection to the http.Server at any other one.
func (c *conn) serve() {
	rest := c.greet()
	if rest == nil {
		unread, handOver := c.answerAll()
		if handOver {
			rest = &handedConn{c.stream, io.MultiReader(bytes.NewReader(bytes.Clone(unread)), c.stream)}
		}
	}
	c.lane.conns.Delete(c)
	c.setAsks(false)
	if rest != nil && c.SetDeadline(time.Time{}) == nil {
		c.lane.handed <- func() (net.Conn, error) { return rest, nil }
		return
	}
	_ = c.Close() // there is nobody to tell
}

// greet does the handshake of an encrypted connection, and returns the connection if it is for the
// http.Server. If the handshake fails, so does the first read.
func (c *conn) greet() net.Conn {
	encrypted, ok := c.stream.(*tls.Conn)
	if !ok {
		return nil
	}
	_ = c.SetWriteDeadline(c.born.Add(c.lane.server.ReadTimeout))
	c.limitSilence()
	if encrypted.Handshake() == nil && encrypted.ConnectionState().NegotiatedProtocol == "h2" {
		return encrypted
	}
	return nil
}

// limitSilence sets the deadline of the first request. If it fails, so does Read.
func (c *conn) limitSilence() {
	_ = c.SetReadDeadline(c.born.Add(c.lane.server.ReadTimeout))
	if c.lane.ends() { // closeIdle may have come just before
		_ = c.SetReadDeadline(c.born.Add(silence))
	}
}

// answerAll returns when the connection ends or is not for us. Then unread is what was read
// and is not answered.
func (c *conn) answerAll() (unread []byte, handOver bool) {
	c.limitSilence()
	n, err := c.Read(c.in[:])
	if c.heard.Store(true); err != nil {
		return nil, false
	}
	first := true
	for unread = c.in[:n]; ; first = false {
		r, length := c.given.parse(unread)
		if r == nil || !c.lane.wants(r.URL.Path) {
			return unread, true
		}
		if first { // from then on it is busy, or idle as c.idle says
			c.setAsks(true)
		}
		r.RemoteAddr = c.remote
		c.renew()
		if !c.answer(r) {
			return nil, false
		}
		for unread = unread[length:]; len(unread) < 4; { // like net/http, which ignores fewer at the end of a connection
			kept := copy(c.in[:], unread)
			n, ok := c.await(c.in[kept:])
			if !ok {
				return nil, false
			}
			unread = c.in[:kept+n]
		}
	}
}

// setAsks tells the connection, if that wants to know, that it has sent a complete request, or that
// what comes next is read by others.
func (c *conn) setAsks(asks bool) {
	inner := net.Conn(c.stream)
	if encrypted, ok := inner.(*tls.Conn); ok {
		inner = encrypted.NetConn()
	}
	if to, ok := inner.(interface{ SetAsks(asks bool) }); ok {
		to.SetAsks(asks)
	}
}

// renew sets the deadlines and Date again if it is another second than before. Doing so for
// each request would cost more.
func (c *conn) renew() {
	if now := time.Now(); now.Unix() != c.second {
		c.second = now.Unix()
		c.date = now.UTC().AppendFormat(c.date[:0], "Date: "+http.TimeFormat+"\r\n")
		_ = c.SetReadDeadline(now.Add(c.lane.server.IdleTimeout)) // if it fails, so does Read
		_ = c.SetWriteDeadline(now.Add(c.lane.server.WriteTimeout))
	}
}

// lastLook is for bytes that have arrived, but not been read, when a connection is to be closed. On a
// busy machine a deadline may end before they are noticed, so there are a few.
const (
	lastLook  = 10 * time.Millisecond
	lastLooks = 3
)

// await reads the next bytes. It returns false if the connection is to be closed.
func (c *conn) await(buffer []byte) (int, bool) {
	if c.second == 0 { // the answer had a deadline of its own, and may have taken long
		c.renew()
	}
	c.idle.Store(true)
	if c.lane.ends() { // closeIdle may have come just before
		_ = c.SetReadDeadline(time.Now()) // if it fails, so does Read
	}
	n, err := c.Read(buffer)
	c.idle.Store(false)
	for i := 0; i < lastLooks && errors.Is(err, os.ErrDeadlineExceeded); i++ {
		c.second = 0 // for another deadline before the answer
		_ = c.SetReadDeadline(time.Now().Add(lastLook))
		n, err = c.Read(buffer)
	}
	return n, n > 0 && err == nil
}

// answer has the handler answer one request, and reports whether the connection stays open.
func (c *conn) answer(r *http.Request) (stays bool) {
	defer func() {
		if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
			c.lane.server.ErrorLog.Printf("panic serving %s: %v\n%s", c.remote, failure, debug.Stack())
		}
	}()
	clear(c.header)
	c.out = writer{conn: c, head: c.head[:0], closes: c.lane.ends()}
	c.lane.server.Handler.ServeHTTP(&c.out, r)
	return c.out.finish()
}

// A handedConn is a connection of which some bytes have been read.
type handedConn struct {
	stream
	rest io.Reader
}

// NetConn returns the connection itself.
func (c *handedConn) NetConn() net.Conn { return c.stream }

func (c *handedConn) Read(b []byte) (int, error) { return c.rest.Read(b) }
