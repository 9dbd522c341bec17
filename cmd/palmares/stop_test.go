package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"palmares/internal/testkit"
)

func TestSIGHUPStopsNothing(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, "--database", databases.SQLite(t))
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.stop() // with status 0, as only SIGTERM can
}

// A slow caller of the only node must not keep the others waiting when it is restarted.
func TestASlowRequestDoesNotEndTheServiceOfOthersWhileItIsFinished(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, "--database", databases.SQLite(t))
	slow, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	const body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	fmt.Fprintf(slow, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	answers := bufio.NewReader(slow)
	if line, err := answers.ReadString('\n'); !strings.Contains(line, "100 Continue") { // so it is under way
		t.Fatalf("%q, %v", line, err)
	}
	s.signal()
	s.until("/readyz", func(r *http.Response, _ string) bool { return r.StatusCode == http.StatusServiceUnavailable })
	for begin := time.Now(); time.Since(begin) < 2*time.Second; <-time.After(50 * time.Millisecond) {
		if resp, _ := s.get("/api/v1/stats"); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	fmt.Fprint(slow, body)
	if rest, err := io.ReadAll(answers); !strings.Contains(string(rest), "200 OK") {
		t.Errorf("%v, %q", err, rest)
	}
	s.stop()
}

func TestStoppingWithoutADatabaseIsClean(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*testkit.Proxy){"refused": (*testkit.Proxy).Refuse, "black hole": (*testkit.Proxy).Drop} {
		t.Run(name, func(t *testing.T) {
			proxy := testkit.NewProxy(t, databases.Postgres(t))
			key := customer(t, proxy.Direct, "ada@example.org", "developer", 1)[0]
			s := serveProcess(t, "--database", proxy.DSN)
			s.knows(key)
			if resp, body := s.get("/api/v1/stats", key); resp.StatusCode != http.StatusOK { // a count and a use of a key to be stored
				t.Fatalf("%s %s", resp.Status, body)
			}
			fail(proxy)
			s.logs("the database does not respond")
			s.stop()
		})
	}
	t.Run("at its start", func(t *testing.T) {
		proxy := testkit.NewProxy(t, databases.Postgres(t))
		proxy.Refuse()
		s := startProcess(t, "patient", "--database", proxy.DSN)
		s.logs("waits for its database")
		s.stop()
	})
}

func TestALogWhoseReaderIsGoneStopsNothing(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := palmares(t.Context(), "serve", "--listen", "localhost:0", "--database", databases.SQLite(t))
	cmd.Stderr = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	url := ""
	for lines := bufio.NewScanner(reader); url == "" && lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), `"site":"`); ok {
			url, _, _ = strings.Cut(rest, `"`)
		}
	}
	reader.Close()
	for range 3 {
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	client.CloseIdleConnections()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTooManyOpenFilesAreReportedOnce(t *testing.T) {
	t.Parallel()
	ops, err := testkit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	// The public address cannot use up all files, so the operator's does.
	s := limitedProcess(t, 100, "--database", databases.SQLite(t), "--ops-listen", ops).serves()
	s.logs("the limit of open files allows only 75 connections")
	var conns []net.Conn
	testkit.Until(t, "the report", func() bool {
		if conn, err := net.Dial("tcp", ops); err == nil {
			conns = append(conns, conn)
		}
		return s.log.Contains("too many open files")
	})
	for _, conn := range conns {
		conn.Close()
	}
	s.logs("connections are accepted again")
	if resp, _ := s.get("/healthz"); resp.StatusCode != http.StatusOK || s.log.Count("cannot be accepted") != 1 {
		t.Errorf("/healthz: %s; the log:\n%s", resp.Status, s.log)
	}
}

// limitedProcess starts a server that may open a number of files.
func limitedProcess(t *testing.T, files int, args ...string) *process {
	t.Helper()
	script := t.TempDir() + "/limited"
	text := "#!/bin/sh\nulimit -n " + strconv.Itoa(files) + "\nexec patient \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return startProcess(t, script, args...)
}
