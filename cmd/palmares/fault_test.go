package main

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"palmares/internal/testkit"
)

// A line is the way to a PostgreSQL, on which everything can go wrong. A connection
// over which data was lost stays dead, as behind a firewall that forgot it.
type line struct {
	t      *testing.T
	socket string
	dsn    string // over this line
	direct string // beside it

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	conns    map[net.Conn]bool
	hole     bool          // data is lost
	delay    time.Duration // of all data
	running  sync.WaitGroup
}

func newLine(t *testing.T) *line {
	t.Helper()
	l := &line{t: t, direct: testkit.Postgres(t), conns: map[net.Conn]bool{}}
	dsn, err := url.Parse(l.direct)
	if err != nil {
		t.Fatal(err)
	}
	l.socket = filepath.Join(dsn.Query().Get("host"), ".s.PGSQL.5432")
	l.listen("127.0.0.1:0")
	l.dsn = "postgres://postgres@" + l.listener.Addr().String() + dsn.Path
	t.Cleanup(func() {
		l.refuse()
		l.running.Wait()
	})
	return l
}

func (l *line) listen(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.listener, l.hole, l.delay = listener, false, 0
	l.mu.Unlock()
	l.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			l.running.Go(func() { l.serve(conn) })
		}
	})
}

func (l *line) serve(near net.Conn) {
	far, err := net.Dial("unix", l.socket)
	if err != nil {
		near.Close()
		return
	}
	l.mu.Lock()
	l.conns[near] = true
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.copy(far, near) })
	both.Go(func() { l.copy(near, far) })
	both.Wait()
	l.mu.Lock()
	delete(l.conns, near)
	l.mu.Unlock()
}

func (l *line) copy(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		l.mu.Lock()
		hole, delay := l.hole, l.delay
		l.mu.Unlock()
		if delay > 0 {
			<-time.After(delay)
		}
		if hole {
			_, _ = io.Copy(io.Discard, from) // until somebody hangs up
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// refuse closes the port and cuts every connection.
func (l *line) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		l.listener.Close()
	}
	l.listener = nil
	l.cut()
}

// reset cuts every connection, in the middle of whatever it does; new ones work.
func (l *line) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut()
}

func (l *line) cut() {
	for c := range l.conns {
		_ = c.(*net.TCPConn).SetLinger(0) // a reset, not a good-bye
		c.Close()
	}
}

// swallow loses everything from now on, without a word.
func (l *line) swallow() { l.mu.Lock(); l.hole = true; l.mu.Unlock() }

// slow holds everything up.
func (l *line) slow(d time.Duration) { l.mu.Lock(); l.delay = d; l.mu.Unlock() }

// mend makes it work again, at the same address.
func (l *line) mend() {
	l.mu.Lock()
	refused := l.listener == nil
	l.hole, l.delay = false, 0
	l.mu.Unlock()
	if refused {
		address, err := url.Parse(l.dsn)
		if err != nil {
			l.t.Fatal(err)
		}
		l.listen(address.Host)
	}
}
