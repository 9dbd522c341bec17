package server

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/testkit"
)

// A caller holds one connection.
type caller struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func call(t *testing.T, address string) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &caller{t, conn, bufio.NewReader(conn)}
}

// send sends a request without waiting for the answer.
func (c *caller) send() { fmt.Fprint(c.conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }

// answer returns whether the server then closes the connection.
func (c *caller) answer() (closes bool) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Close
}

// inBothLanes runs a test with and without the front lane.
func inBothLanes(t *testing.T, test func(t *testing.T, front func(string) bool)) {
	t.Helper()
	t.Run("net/http", func(t *testing.T) { test(t, nil) })
	t.Run("front lane", func(t *testing.T) { test(t, func(string) bool { return true }) })
}

func TestConnectionsAreLimitedAndIdleOnesMakeRoom(t *testing.T) {
	inBothLanes(t, testLimit)
}

func testLimit(t *testing.T, front func(string) bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	release := make(chan struct{}, 10)
	var inFlight atomic.Int64
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inFlight.Add(1)
		<-release
		inFlight.Add(-1)
	})
	var log testkit.Log
	limit := NewConnections(4)
	limit.patience = time.Hour // however slow the machine is, a request that was sent is read
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() {
		ran <- Run(ctx, listener, handler, Options{Limit: limit, Front: front}, slog.New(slog.NewTextHandler(&log, nil)))
	}()

	// Three connections become idle. The fourth reaches the limit, and makes them close.
	for range 3 {
		idle := call(t, address)
		release <- struct{}{}
		idle.send()
		if idle.answer() {
			t.Error("a connection is closed although there is room")
		}
		defer func() {
			if _, err := idle.in.ReadByte(); err == nil {
				t.Error("an idle connection was not closed")
			}
		}()
	}
	busy := []*caller{call(t, address)}
	busy[0].send()
	testkit.Until(t, "room for connections", func() bool { return log.Contains("room for connections again") })
	if log.Count("as many connections are open as are allowed") != 1 {
		t.Errorf("logged: %s", &log)
	}

	// Busy ones are not closed. A fifth waits for its turn.
	for range 3 {
		c := call(t, address)
		c.send()
		busy = append(busy, c)
	}
	testkit.Until(t, "four requests in flight", func() bool { return inFlight.Load() == 4 })
	waiting := call(t, address)
	waiting.send()
	if limit.Open() != 4 {
		t.Errorf("%d connections are open", limit.Open())
	}
	for range 5 {
		release <- struct{}{}
	}
	for _, c := range busy {
		c.answer()
	}
	waiting.answer()
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

func TestTheOldestSilentConnectionMakesRoom(t *testing.T) {
	inBothLanes(t, func(t *testing.T, front func(string) bool) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		var inFlight atomic.Int64
		release := make(chan struct{})
		handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			inFlight.Add(1)
			<-release
		})
		limit := NewConnections(4)
		limit.patience = 0
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() {
			ran <- Run(ctx, listener, handler, Options{Limit: limit, Front: front}, slog.New(slog.DiscardHandler))
		}()
		open := func(sends string, connections int) *caller {
			c := call(t, address)
			fmt.Fprint(c.conn, sends)
			testkit.Until(t, "the connection", func() bool { return limit.Open() == connections })
			return c
		}
		const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		busy := []*caller{open(request, 1)}
		testkit.Until(t, "its request", func() bool { return inFlight.Load() == 1 })
		silent := []*caller{open("", 2), open("GET / HT", 3), open("POST / HTTP/1.1\r\nHost:", 4)}
		for i, old := range silent {
			busy = append(busy, open(request, 4))
			if _, err := old.in.ReadByte(); err == nil {
				t.Errorf("silent connection %d got something", i)
			}
			testkit.Until(t, "the request of its successor", func() bool { return inFlight.Load() == int64(i)+2 })
		}
		waiting := call(t, address) // as all others are busy
		waiting.send()
		close(release)
		for _, c := range append(busy, waiting) {
			c.answer()
		}
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}
