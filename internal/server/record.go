package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"palmares/internal/clientip"
)

// ServeHTTP serves one request and writes its one log record, except for probes.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	rec := &recorder{ResponseWriter: w}
	rec.lane, _ = w.(laneWriter)
	at := s.at(r.URL.Path)
	if s.origin != "" {
		rec.canonical = at.link(s.origin, r)
	}
	defer func() {
		failure := recover()
		if failure != nil {
			s.recoverFrom(failure, at, rec, r)
		}
		took := time.Since(start)
		s.metrics.observe(r.Pattern, rec.status, took)
		if !at.isProbe {
			s.logRequest(rec, r, took)
		}
		if failure != nil && rec.broken {
			panic(http.ErrAbortHandler) // close the connection: half a response must not look complete
		}
	}()
	at.handler.ServeHTTP(rec, r)
	if rec.status == 0 {
		rec.status = http.StatusOK // net/http sends it if a handler writes nothing
	}
}

// recoverFrom sends 500 after a panic, unless the response has begun.
func (s *server) recoverFrom(failure any, at *prefix, rec *recorder, r *http.Request) {
	if failure != http.ErrAbortHandler {
		s.log.Error("a handler panicked",
			"path", loggedPath(r.URL.Path), "panic", fmt.Sprint(failure), "stack", string(debug.Stack()))
	}
	if rec.status != 0 {
		rec.broken = true
		return
	}
	at.writeInternalError(rec)
}

// A laneWriter sends whole responses, as the front lane does.
type laneWriter interface {
	WriteReady(status int, lines, body []byte) (int, error)
}

// A recorder records the status and length of a response.
type recorder struct {
	http.ResponseWriter
	lane   laneWriter // the same; nil for a writer of net/http
	status int
	bytes  int64
	broken bool // the handler panicked after the header was sent
	// canonical is a Link to what was copied; "" for none.
	canonical string
}

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 && status >= 200 {
		rec.begin(status)
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.begin(http.StatusOK)
	}
	n, err := rec.ResponseWriter.Write(b)
	rec.bytes += int64(n)
	return n, err
}

// IsPlain implements web.ReadyWriter.
func (rec *recorder) IsPlain() bool { return rec.lane != nil }

// WriteReady implements web.ReadyWriter.
func (rec *recorder) WriteReady(status int, lines, body []byte) {
	rec.begin(status)
	n, _ := rec.lane.WriteReady(status, lines, body) // fails only if the client has disconnected
	rec.bytes += int64(n)
}

// begin notes the status of a response before its header is sent.
func (rec *recorder) begin(status int) {
	rec.status = status
	isCopied := status == http.StatusOK || status == http.StatusPartialContent || status == http.StatusNotModified
	if rec.canonical != "" && isCopied {
		h := rec.Header()
		h["Link"] = slices.Concat(h["Link"], []string{rec.canonical}) // which may be shared
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// loggedPath shortens a path and removes what might be a key or a publish token.
func loggedPath(p string) string {
	for _, prefix := range []string{"plm_", "plp_"} {
		if i := strings.Index(p, prefix); i >= 0 {
			p = p[:i] + prefix + "[…]"
		}
	}
	const limit = 200
	if len(p) > limit {
		p = strings.ToValidUTF8(p[:limit], "") + "…"
	}
	return p
}

// logRequest writes the log record of a request.
func (s *server) logRequest(rec *recorder, r *http.Request, took time.Duration) {
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", r.Method), slog.String("path", loggedPath(r.URL.Path)),
		slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes), slog.Int64("us", took.Microseconds()),
		slog.String("client", clientNetwork(clientip.Addr(r, s.trusted))))
}

// clientNetwork returns the network of a client: enough to see where a flood comes from, not
// enough to identify a person.
func clientNetwork(addr netip.Addr) string {
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return ""
	}
	return prefix.String()
}
