package lane_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"palmares/internal/lane"
	"palmares/internal/testkit"
)

// A server is an http.Server with a lane before it, or without.
type server struct {
	address string
	lane    *lane.Lane // nil without
	inLane  atomic.Int64
}

// newServer returns an http.Server with what a lane needs.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
}

// start starts a server that ends with the test.
func start(t testing.TB, handler http.Handler, withLane bool) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{address: listener.Addr().String()}
	srv := newServer(handler)
	if withLane {
		counted := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.inLane.Add(1)
			handler.ServeHTTP(w, r)
		}))
		s.lane = lane.New(listener, counted, func(path string) bool { return path != "/unwanted" })
		listener = s.lane
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	t.Cleanup(func() {
		_ = srv.Close() // it reports what Serve does
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if s.lane != nil {
			if err := s.lane.Wait(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// exchange sends pieces and returns everything that comes back until the server closes the connection.
func exchange(t testing.TB, address string, pieces ...[]byte) ([]byte, error) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	go func() {
		for _, piece := range pieces {
			if _, err := conn.Write(piece); err != nil {
				return // the server has had enough
			}
		}
		_ = conn.(*net.TCPConn).CloseWrite() // likewise
	}()
	raw, err := io.ReadAll(conn)
	_ = conn.(*net.TCPConn).SetLinger(0) // or the ports of a million exchanges would all be in use
	return raw, err
}

// echo answers with what it was asked, in ways that the path names.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // a body that cannot be read is told
	text, err := json.Marshal(map[string]any{
		"method": r.Method, "path": r.URL.Path, "raw": r.URL.RawPath, "query": r.URL.RawQuery, "force": r.URL.ForceQuery, "fragment": r.URL.Fragment,
		"target": r.RequestURI, "proto": r.Proto, "host": r.Host, "urlhost": r.URL.Host, "header": r.Header, "length": r.ContentLength,
		"encoding": r.TransferEncoding, "body": body, "trailer": r.Trailer, "close": r.Close, "form": r.Form,
	})
	if err != nil {
		panic(err)
	}
	h := w.Header()
	h.Set("X-Line", "a\r\nb: c")
	switch r.URL.Path {
	case "/304":
		h.Set("ETag", `"x"`)
		h.Set("Content-Type", "text/plain")
		h.Set("Content-Length", "3")
		w.WriteHeader(http.StatusNotModified)
		if _, err := w.Write(text); !errors.Is(err, http.ErrBodyNotAllowed) {
			panic("a 304 with a body")
		}
		return
	case "/204":
		h.Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNoContent)
		return
	case "/404":
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(text)))
		w.WriteHeader(http.StatusNotFound)
	case "/close":
		h.Set("Connection", "close")
		h.Set("Content-Length", strconv.Itoa(len(text)))
	case "/unknown-type":
		h.Set("Content-Length", strconv.Itoa(len(text)))
	case "/unknown-length":
		h.Set("Content-Type", "application/json")
	case "/empty":
		return
	case "/large":
		text = bytes.Repeat(text, 1000)
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(text)))
	case "/ready", "/ready-large", "/ready-304":
		status, lines := http.StatusOK, "Content-Type: text/plain\r\nETag: \"x\"\r\n"
		switch r.URL.Path {
		case "/ready-large":
			text = bytes.Repeat(text, 1000)
		case "/ready-304":
			status, lines, text = http.StatusNotModified, "ETag: \"x\"\r\n", nil
		}
		if ready, ok := w.(interface {
			WriteReady(status int, lines, body []byte) (int, error)
		}); ok {
			if n, err := ready.WriteReady(status, []byte(lines), text); n != len(text) && err == nil {
				panic("a part was sent")
			}
			return
		}
		h.Set("Content-Type", "text/plain")
		h["ETag"] = []string{`"x"`}
		if status == http.StatusOK {
			h.Set("Content-Length", strconv.Itoa(len(text)))
		}
		w.WriteHeader(status)
	case "/late":
		h.Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusOK)
		h.Set("X-Late", "ignored")
	default:
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(text)))
	}
	for len(text) > 0 { // in pieces
		n := min(len(text), 100_000)
		if _, err := w.Write(text[:n]); err != nil {
			return
		}
		text = text[n:]
	}
})

// An answer is what a client sees.
type answer struct {
	Status int
	Header http.Header
	Body   string
	Close  bool
}

// dates are those of answers, which may be in another second than those of another server.
var dates = regexp.MustCompile(`\r\nDate: \w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT`)

// answers reads all answers of a connection, as if all requests were GET. What is left over is
// one more.
func answers(raw []byte) (all []answer) {
	in := bufio.NewReader(bytes.NewReader(dates.ReplaceAll(raw, []byte("\r\nDate: Mon, 16 Nov 2026 09:00:00 GMT"))))
	for {
		if _, err := in.Peek(1); err != nil {
			return all
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return append(all, answer{Body: "not an answer"})
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			body = append(body, "(cut off)"...)
		}
		if _, err := http.ParseTime(resp.Header.Get("Date")); err != nil && resp.StatusCode != http.StatusBadRequest {
			body = append(body, "(without a date)"...)
		}
		resp.Header.Del("Date")
		resp.Header.Del("Content-Length") // the bodies are compared
		all = append(all, answer{resp.StatusCode, resp.Header, string(body), resp.Close})
	}
}

// differ sends the same bytes to both servers and returns how the answers differ, "" if they
// do not. Whether the kernel drops what a server has sent and then resets the connection is a
// matter of timing; that only one of them does it every time is not.
func differ(t testing.TB, plain, laned *server, pieces ...[]byte) string {
	t.Helper()
	for range 20 {
		want, err := exchange(t, plain.address, pieces...)
		got, gotErr := exchange(t, laned.address, pieces...)
		if errors.Is(err, syscall.ECONNRESET) {
			return ""
		}
		if errors.Is(gotErr, syscall.ECONNRESET) {
			continue
		}
		if err != nil || gotErr != nil {
			t.Fatal(err, gotErr)
		}
		a, b := fmt.Sprintf("%+v", answers(want)), fmt.Sprintf("%+v", answers(got))
		if a == b {
			return ""
		}
		return fmt.Sprintf("net/http: %.2000s\nlane:     %.2000s", a, b)
	}
	return "the lane resets the connection"
}

const host = "Host: palmares.example\r\n"

// plainRequests are answered in the lane.
var plainRequests = []string{
	"GET / HTTP/1.1\r\n" + host + "\r\n",
	"GET /api/v1/tools?limit=50&page=2 HTTP/1.1\r\n" + host + "User-Agent: x\r\nAccept: */*\r\n\r\n",
	"GET /a HTTP/1.1\r\nhost:palmares.example:8080\r\naccept-encoding:   br, gzip  \r\nconnection: keep-alive\r\n\r\n",
	"GET /a?q=a+b/../c HTTP/1.1\r\n" + host + "Authorization: Bearer plm_x\r\nIf-None-Match: \"a\", W/\"b\"\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n",
	"GET /304 HTTP/1.1\r\n" + host + "\r\n", "GET /204 HTTP/1.1\r\n" + host + "\r\n", "GET /404 HTTP/1.1\r\n" + host + "\r\n",
	"GET /close HTTP/1.1\r\n" + host + "\r\n", "GET /unknown-type HTTP/1.1\r\n" + host + "\r\n",
	"GET /unknown-length HTTP/1.1\r\n" + host + "\r\n", "GET /empty HTTP/1.1\r\n" + host + "\r\n",
	"GET /large HTTP/1.1\r\n" + host + "\r\n", "GET /late HTTP/1.1\r\n" + host + "\r\n",
	"GET /a?b?c HTTP/1.1\r\nHost: [::1]:80\r\nAccept: \r\n\r\n",
	"GET /ready HTTP/1.1\r\n" + host + "\r\n", "GET /ready-large HTTP/1.1\r\n" + host + "\r\n", "GET /ready-304 HTTP/1.1\r\n" + host + "\r\n",
}

// otherRequests are for net/http: what it refuses, what it reads in its own way, and what is
// used to make two servers read different requests from the same bytes.
var otherRequests = []string{
	"POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc",
	"HEAD / HTTP/1.1\r\n" + host + "\r\n",
	"get / HTTP/1.1\r\n" + host + "\r\n",
	"GET  / HTTP/1.1\r\n" + host + "\r\n",
	"GET /\tHTTP/1.1\r\n" + host + "\r\n",
	"GET / HTTP/1.0\r\n" + host + "\r\n", "GET / HTTP/1.2\r\n" + host + "\r\n", "GET / HTTP/2.0\r\n" + host + "\r\n", "GET /\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"GET http://palmares.example/ HTTP/1.1\r\n" + host + "\r\n", "GET //evil.example/ HTTP/1.1\r\n" + host + "\r\n",
	"GET /a/../b HTTP/1.1\r\n" + host + "\r\n", "GET /.well-known HTTP/1.1\r\n" + host + "\r\n", "GET /a//b HTTP/1.1\r\n" + host + "\r\n",
	"GET /%61 HTTP/1.1\r\n" + host + "\r\n", "GET /é HTTP/1.1\r\n" + host + "\r\n", "GET /a#b HTTP/1.1\r\n" + host + "\r\n", "GET /a? HTTP/1.1\r\n" + host + "\r\n",
	"GET /a|b HTTP/1.1\r\n" + host + "\r\n", "GET /a\"b HTTP/1.1\r\n" + host + "\r\n", "GET * HTTP/1.1\r\n" + host + "\r\n",
	"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\n" + host + host + "\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
	"GET / HTTP/1.1\r\nHost : palmares.example\r\n\r\n", "GET / HTTP/1.1\r\n Host: palmares.example\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello", "GET / HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Length: 5\r\n\r\nhello", "GET / HTTP/1.1\r\n" + host + "Content-Length: +5\r\n\r\nhello",
	"GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "transfer-encoding: identity\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Accept: a\r\n\tb\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Accept: a\r\n b: c\r\n\r\n",
	"GET / HTTP/1.1\n" + "Host: palmares.example\n\n", "GET / HTTP/1.1\r\n" + host + "Accept: a\nContent-Length: 4\r\n\r\nabcd", "GET / HTTP/1.1\r\n" + host + "Accept: a\rb\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Accept: a\x00b\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Accept: é\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Accept\r\n\r\n", "GET / HTTP/1.1\r\n" + host + ": x\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Accept: a\r\nAccept: b\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Authorization: a\r\nauthorization: b\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "X-Forwarded-For: a\r\nX-Forwarded-For: b\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Connection: keep-alive, Host\r\n\r\n",
	"GET / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Range: bytes=0-1\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "Cookie: a=b\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "X-Unknown: a\r\n\r\n",
	"GET /unwanted HTTP/1.1\r\n" + host + "\r\n",
	"GET / HTTP/1.1\r\n" + host + "User-Agent: " + strings.Repeat("x", 5000) + "\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "User-Agent: " + strings.Repeat("x", 45_000) + "\r\n\r\n", "GET /" + strings.Repeat("x", 5000) + " HTTP/1.1\r\n" + host + "\r\n",
	"\r\nGET / HTTP/1.1\r\n" + host + "\r\n", "", "G", "GET / HTTP/1.1\r\n" + host, "\x16\x03\x01\x02\x00\x01\x00\x01",
}

func TestPlainRequestsAreAnsweredInTheLaneAsNetHTTPWould(t *testing.T) {
	plain, laned := start(t, echo, false), start(t, echo, true)
	for _, r := range plainRequests {
		before := laned.inLane.Load()
		if found := differ(t, plain, laned, []byte(r)); found != "" {
			t.Errorf("%q\n%s", r, found)
		}
		if laned.inLane.Load() != before+1 {
			t.Errorf("%q was not answered in the lane", r)
		}
	}
}

func TestRequestsOfOneConnectionAreAnsweredEachByItself(t *testing.T) {
	plain, laned := start(t, echo, false), start(t, echo, true)
	for _, first := range plainRequests {
		for _, second := range plainRequests {
			if found := differ(t, plain, laned, []byte(first+second)); found != "" {
				t.Errorf("%q\n%s", first+second, found)
			}
		}
	}
}

func TestOtherRequestsAreLeftToNetHTTP(t *testing.T) {
	plain, laned := start(t, echo, false), start(t, echo, true)
	for _, r := range otherRequests {
		for _, raw := range []string{r, plainRequests[1] + r, r + plainRequests[1]} {
			if found := differ(t, plain, laned, []byte(raw)); found != "" {
				t.Errorf("%q\n%s", raw, found)
			}
		}
		before := laned.inLane.Load()
		if _, err := exchange(t, laned.address, []byte(r)); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if laned.inLane.Load() != before {
			t.Errorf("%q was answered in the lane", r)
		}
	}
}

func TestRequestsMayArriveInAnyPieces(t *testing.T) {
	plain, laned := start(t, echo, false), start(t, echo, true)
	all := plainRequests[1] + plainRequests[3] + otherRequests[0] + plainRequests[2]
	for i := range len(all) {
		if found := differ(t, plain, laned, []byte(all[:i]), []byte(all[i:])); found != "" {
			t.Fatalf("after %d bytes\n%s", i, found)
		}
	}
}

func FuzzTheLaneAnswersAsNetHTTPWould(f *testing.F) {
	for _, r := range append(plainRequests, otherRequests...) {
		f.Add([]byte(r), uint16(len(r)))
		f.Add([]byte(r+plainRequests[1]), uint16(len(r)))
	}
	plain, laned := start(f, echo, false), start(f, echo, true)
	f.Fuzz(func(t *testing.T, raw []byte, split uint16) {
		i := min(int(split), len(raw))
		if found := differ(t, plain, laned, raw[:i], raw[i:]); found != "" {
			t.Fatalf("%q, %q\n%s", raw[:i], raw[i:], found)
		}
	})
}

// listen starts a lane without an http.Server.
func listen(t *testing.T, srv *http.Server, encrypted *tls.Config) (l *lane.Lane, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = lane.New(listener, srv, func(string) bool { return true })
	l.TLS = encrypted
	go l.Accept() //nolint:errcheck // it returns the failure of the listener
	return l, listener.Addr().String()
}

// dial starts a lane without an http.Server, and sends it a plain request.
func dial(t *testing.T, srv *http.Server) net.Conn {
	t.Helper()
	l, address := listen(t, srv, nil)
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), l.Wait(context.WithoutCancel(t.Context()))); err != nil {
			t.Error(err)
		}
	})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, plainRequests[0]); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestAConnectionThatWaitsIsClosedInTime(t *testing.T) {
	srv := newServer(echo)
	srv.IdleTimeout = 50 * time.Millisecond
	conn := dial(t, srv)
	if raw, err := io.ReadAll(conn); err != nil || len(answers(raw)) != 1 {
		t.Errorf("%v, %q", err, raw)
	}
}

func TestAConnectionThatSaysNothingDoesNotDelayTheEnd(t *testing.T) {
	l, address := listen(t, newServer(echo), nil) // which gives it a minute
	silent, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := exchange(t, address, []byte(plainRequests[0])); err != nil { // was accepted later
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	if err := errors.Join(l.Close(), l.Wait(ctx)); err != nil {
		t.Error(err)
	}
}

func TestARequestThatHasArrivedIsAnsweredBeforeTheEnd(t *testing.T) {
	own, roots := testkit.NewRoot(t, time.Now().Add(-time.Hour))
	for n := range 200 {
		encrypted := []*tls.Config{nil, {Certificates: []tls.Certificate{own}}}[n%2]
		l, address := listen(t, newServer(echo), encrypted)
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if encrypted != nil {
			conn = tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
		}
		answers := bufio.NewReader(conn)
		for _, last := range []bool{false, true} {
			if _, err := io.WriteString(conn, plainRequests[0]); err != nil {
				t.Fatal(err)
			}
			if last {
				if err := errors.Join(l.Close(), l.Wait(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("last: %t, %v", last, err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAReaderThatReadsNothingIsCutOff(t *testing.T) {
	failure := make(chan error, 1)
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "1000000000000")
		piece := make([]byte, 1<<20)
		for {
			if _, err := w.Write(piece); err != nil {
				failure <- err
				return
			}
		}
	})
	srv := newServer(endless)
	srv.WriteTimeout = 50 * time.Millisecond
	dial(t, srv)
	if err := <-failure; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing ended with %v", err)
	}
}

func TestAPanicEndsTheConnectionOnly(t *testing.T) {
	for _, failure := range []any{http.ErrAbortHandler, "oh"} {
		s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/panic" {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("Content-Length", "10")
				fmt.Fprint(w, "half")
				panic(failure)
			}
			echo.ServeHTTP(w, r)
		}), true)
		raw, err := exchange(t, s.address, []byte("GET /panic HTTP/1.1\r\n"+host+"\r\n"+plainRequests[0]))
		if got := answers(raw); err != nil && !errors.Is(err, syscall.ECONNRESET) || len(got) > 1 || len(got) == 1 && got[0].Body != "half(cut off)" {
			t.Errorf("%v, %+v", err, got)
		}
		if raw, err := exchange(t, s.address, []byte(plainRequests[0])); err != nil || len(answers(raw)) != 1 {
			t.Errorf("the next connection: %v, %q", err, raw)
		}
	}
}
