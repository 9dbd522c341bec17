package server

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"
)

// serve answers one request and writes its one log record.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	rec := &recorder{ResponseWriter: w}
	defer func() {
		failure := recover()
		if failure != nil {
			s.recoverFrom(failure, rec, r)
		}
		took := time.Since(start)
		s.metrics.observe(r.Pattern, rec.status, took)
		s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
			slog.String("method", r.Method),
			slog.String("path", loggedPath(r.URL.Path)),
			slog.Int("status", rec.status),
			slog.Int64("bytes", rec.bytes),
			slog.Int64("us", took.Microseconds()),
			slog.String("client", network(r.RemoteAddr)),
		)
		if failure != nil && rec.broken {
			panic(http.ErrAbortHandler) // cut the connection: half an answer must not look whole
		}
	}()
	s.route(rec, r)
	if rec.status == 0 {
		rec.status = http.StatusOK // what net/http sends for a handler that wrote nothing
	}
}

// recoverFrom answers 500 for a handler that panicked, if it still can.
func (s *server) recoverFrom(failure any, rec *recorder, r *http.Request) {
	if failure != http.ErrAbortHandler {
		s.log.Error("a handler panicked", "path", loggedPath(r.URL.Path), "panic", fmt.Sprint(failure), "stack", string(debug.Stack()))
	}
	switch {
	case rec.status != 0:
		rec.broken = true
	case underAPI(r.URL.Path):
		s.api.WriteInternalError(rec)
	default:
		clear(rec.Header())
		rec.Header().Set("Cache-Control", "no-store")
		http.Error(rec, "Une erreur interne s’est produite ; elle est consignée. Réessayez plus tard.", http.StatusInternalServerError)
	}
}

// A recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	broken bool // it failed after the header was sent
}

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 && status >= 200 {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(b)
	rec.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// loggedPath is a path without what might be a key in it, and not too long.
func loggedPath(p string) string {
	if i := strings.Index(p, "plm_"); i >= 0 {
		p = p[:i] + "plm_[…]"
	}
	const most = 200
	if len(p) > most {
		p = strings.ToValidUTF8(p[:most], "") + "…"
	}
	return p
}

// network is the neighbourhood of a client: enough to see where a flood comes
// from, not enough to tell a person.
func network(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return ""
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	bits := 48
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 24
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return ""
	}
	return prefix.String()
}
