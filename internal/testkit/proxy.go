package testkit

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A Proxy is a TCP proxy in front of a PostgreSQL that listens on a Unix socket. It
// counts round trips and fails in the ways that networks fail. A connection over
// which data was lost stays dead, as behind a firewall that forgot it.
type Proxy struct {
	DSN    string // of the database, through the proxy
	Direct string // of the database, beside the proxy

	t       testing.TB
	socket  string
	trips   atomic.Int64
	running sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	conns    map[net.Conn]bool
	lost     bool          // data is dropped
	delay    time.Duration // of all data
}

// NewProxy starts a proxy in front of a database that Postgres has created. It ends
// with the test.
func NewProxy(t testing.TB, dsn string) *Proxy {
	t.Helper()
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		t: t, Direct: dsn, socket: filepath.Join(address.Query().Get("host"), ".s.PGSQL.5432"), conns: map[net.Conn]bool{},
	}
	free, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p.listen(free)
	p.DSN = "postgres://postgres@" + free + address.Path + "?sslmode=disable"
	t.Cleanup(func() {
		p.Refuse()
		p.running.Wait()
	})
	return p
}

// RoundTrips returns how often the client has sent something after the server had
// answered, over all connections.
func (p *Proxy) RoundTrips() int64 { return p.trips.Load() }

// Refuse closes the port and every connection.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
	}
	p.listener = nil
	p.reset()
}

// Reset resets every connection, in the middle of whatever it does. New ones work.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reset()
}

func (p *Proxy) reset() {
	for conn := range p.conns {
		_ = conn.(*net.TCPConn).SetLinger(0) // a reset in place of an orderly close
		conn.Close()
	}
}

// Drop silently drops all data from now on.
func (p *Proxy) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = true
}

// Delay delays all data from now on.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Restore makes the proxy work again, at the same address.
func (p *Proxy) Restore() {
	p.mu.Lock()
	refused := p.listener == nil
	p.lost, p.delay = false, 0
	p.mu.Unlock()
	if refused {
		address, err := url.Parse(p.DSN)
		if err != nil {
			p.t.Fatal(err)
		}
		p.listen(address.Host)
	}
}

func (p *Proxy) listen(address string) {
	var listener net.Listener
	Until(p.t, "listening on "+address, func() (free bool) {
		var err error
		listener, err = net.Listen("tcp", address)
		if err != nil && !errors.Is(err, syscall.EADDRINUSE) { // FreeAddress of another test may look at it
			p.t.Fatal(err)
		}
		return err == nil
	})
	p.mu.Lock()
	p.listener = listener
	p.mu.Unlock()
	p.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(conn) })
		}
	})
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("unix", p.socket)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client] = true
	p.mu.Unlock()
	var asking atomic.Bool
	var both sync.WaitGroup
	both.Go(func() {
		p.copy(server, client, func() {
			if !asking.Swap(true) {
				p.trips.Add(1)
			}
		})
	})
	both.Go(func() { p.copy(client, server, func() { asking.Store(false) }) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	p.mu.Unlock()
}

func (p *Proxy) copy(to, from net.Conn, received func()) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		received()
		p.mu.Lock()
		lost, delay := p.lost, p.delay
		p.mu.Unlock()
		if delay > 0 {
			<-time.After(delay)
		}
		if lost {
			_, _ = io.Copy(io.Discard, from) // until the other side closes
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
