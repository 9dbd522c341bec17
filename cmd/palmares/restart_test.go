package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/testkit"
)

var restarts = flag.Int("restarts", 2, "how often a server is restarted under load")

// A supervisor starts servers as systemd does: it keeps the socket on which they listen, and hears
// what they notify.
type supervisor struct {
	t       *testing.T
	address string
	socket  *os.File
	path    string // of the socket for notifications
	said    *testkit.Log
}

func newSupervisor(t *testing.T) *supervisor {
	t.Helper()
	s := &supervisor{t: t, address: freeAddress(t), path: filepath.Join(t.TempDir(), "notify"), said: &testkit.Log{}}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	s.socket, err = listener.(*net.TCPListener).File()
	if err := errors.Join(err, listener.Close()); err != nil { // only the copy stays
		t.Fatal(err)
	}
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { heard.Close(); s.socket.Close() })
	go func() {
		for buffer := make([]byte, 4096); ; {
			n, err := heard.Read(buffer)
			if err != nil {
				return
			}
			fmt.Fprintf(s.said, "%s\n", buffer[:n])
		}
	}()
	return s
}

// serve starts a server on the socket.
func (s *supervisor) serve(args ...string) *process {
	s.t.Helper()
	const passes = `LISTEN_PID=$$ exec "$0" "$@"`
	args = append([]string{"-c", passes, "palmares", "serve", "--listen", s.address}, args...)
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), "sh", args...)
	cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "NOTIFY_SOCKET="+s.path, "WATCHDOG_USEC=2000000")
	cmd.ExtraFiles = []*os.File{s.socket}
	return launch(s.t, cmd)
}

// A caller keeps its connection as long as the server does, and never repeats a request.
type caller struct {
	address string
	conn    net.Conn
	answers *bufio.Reader
	longest time.Duration
}

func (c *caller) ask(path string) error {
	begin := time.Now()
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return err
		}
		c.conn, c.answers = conn, bufio.NewReader(conn)
	}
	fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	resp, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if resp.Close {
		err = errors.Join(err, c.conn.Close())
		c.conn = nil
	}
	c.longest = max(c.longest, time.Since(begin))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return err
}

// TestARestartUnderLoadWithAHangingWebhookFailsNoRequest restarts the only node of a catalogue while
// an endpoint does not answer.
func TestARestartUnderLoadWithAHangingWebhookFailsNoRequest(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	must(t, "account", "create", "ada@example.org", "--plan", "pro", "--database", database)
	hung := newReceiver(t, hanging)
	hung.add("ada@example.org", database)
	must(t, "publish", marked(t, "A", 3), "--database", database)
	s := newSupervisor(t)
	start := func() *process {
		return s.serve("--database", database, "--quota", "off", "--webhook-allow", "127.0.0.0/8")
	}
	node := start().serves()

	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var answered atomic.Int64
	var longest [4]time.Duration
	for i := range longest {
		load.Go(func() {
			c := &caller{address: s.address}
			for n := 0; ctx.Err() == nil; n++ {
				if n%100 == 0 && i%2 == 0 && c.conn != nil { // connections that are new, too
					c.conn.Close()
					c.conn = nil
				}
				if err := c.ask("/api/v1/tools"); err != nil {
					t.Errorf("request %d of caller %d: %v", n, i, err)
					return
				}
				answered.Add(1)
				<-time.After(time.Millisecond)
			}
			longest[i] = c.longest
			if c.conn != nil {
				c.conn.Close()
			}
		})
	}
	for n := range *restarts {
		hung.until((n + 1) * 4) // as many as an endpoint gets at a time
		before := answered.Load()
		testkit.Until(t, "requests", func() bool { return answered.Load() > before })
		node.stop()
		node = start().serves()
	}
	stop()
	load.Wait()
	slowest := time.Duration(0)
	for _, d := range longest {
		slowest = max(slowest, d)
	}
	t.Logf("%d restarts: %d requests answered, none failed, each within %s; the endpoint that hangs was sent %d",
		*restarts, answered.Load(), slowest.Round(time.Millisecond), len(hung.all()))
	testkit.Until(t, "a sign of life", func() bool { return s.said.Contains("/\nWATCHDOG=1\n") })
	if ready, stopping := s.said.Count("READY=1"), s.said.Count("STOPPING=1"); ready != *restarts+1 || stopping != *restarts {
		t.Errorf("the supervisor heard:\n%s", s.said)
	}
	if text := must(t, "webhook", "list", "ada@example.org", "--database", database); strings.Contains(text, "failing") {
		t.Errorf("restarts count against the endpoint:\n%s", text)
	}
}

func TestAServerThatCannotStartSaysWhyWhereSystemctlShowsIt(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"--drain=long": `STATUS=--drain: "long" is not`, "--secret-key=short": "STATUS="} {
		s := newSupervisor(t)
		node := s.serve(setting, "--database", databases.SQLite(t))
		node.killed = true
		<-node.ended
		testkit.Until(t, want, func() bool { return s.said.Contains(want) })
	}
}
