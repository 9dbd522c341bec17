package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"palmares/internal/clientip"
	"palmares/internal/wire"
)

// ServeHTTP serves one request and writes its one log record, except for probes.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	rec := recorders.Get().(*recorder)
	*rec = recorder{ResponseWriter: w, line: rec.line[:0]}
	rec.lane, _ = w.(laneWriter)
	at := s.at(r.URL.Path)
	rec.isReserved = s.live != nil && s.live.Snapshot().Catalog.DeniesTraining()
	defer func() {
		failure := recover()
		if failure != nil {
			s.recoverFrom(failure, at, rec, r)
		}
		took := time.Since(start)
		s.metrics.observe(r.Pattern, rec.status, took)
		if !at.isProbe {
			s.logRequest(rec, r, start.Add(took), took)
		}
		broken := rec.broken
		recorders.Put(rec)
		if failure != nil && broken {
			panic(http.ErrAbortHandler) // close the connection: half a response must not look complete
		}
	}()
	at.handler.ServeHTTP(rec, r)
	if rec.status == 0 {
		rec.status = http.StatusOK // net/http sends it if a handler writes nothing
	}
}

// logTime is the form of times in the log, which are UTC.
const logTime = "2006-01-02T15:04:05.000000Z"

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
	at.writeInternalError(rec, r)
}

// A laneWriter sends whole responses, as the front lane does.
type laneWriter interface {
	WriteReady(status int, lines, body []byte) (int, error)
}

type recorder struct {
	http.ResponseWriter
	lane       laneWriter // the same; nil for that of net/http
	status     int
	bytes      int64
	broken     bool   // the handler panicked after the header was sent
	isReserved bool   // against the mining of texts
	account    string // whose key the request has; "" for none
	line       []byte // buffer for the log record
}

var recorders = sync.Pool{New: func() any { return &recorder{line: make([]byte, 0, 512)} }}

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

// Identify implements web.ReadyWriter.
func (rec *recorder) Identify(accountID string) { rec.account = accountID }

var reserved = []string{"1"}

// begin notes the status of a response before its header is sent.
func (rec *recorder) begin(status int) {
	rec.status = status
	if rec.isReserved {
		rec.Header()["Tdm-Reservation"] = reserved
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// loggedPath shortens a path and removes what might be a key, a publish token or the token of a
// private link.
func loggedPath(p string) string {
	for _, prefix := range []string{"plm_", "plp_", "/apercu/"} {
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

// logRequest writes the log record of a request, in the form of slog's JSON handler. It
// is assembled by hand: slog took a twentieth of a whole request.
func (s *server) logRequest(rec *recorder, r *http.Request, now time.Time, took time.Duration) {
	b := append(rec.line, `{"time":"`...)
	b = now.UTC().AppendFormat(b, logTime)
	b = append(b, `","level":"INFO","msg":"request","method":`...)
	b = appendText(b, r.Method)
	b = append(b, `,"path":`...)
	b = appendText(b, loggedPath(r.URL.Path))
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(rec.status), 10)
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, rec.bytes, 10)
	b = append(b, `,"us":`...)
	b = strconv.AppendInt(b, took.Microseconds(), 10)
	b = append(b, `,"client":"`...)
	b = appendClientNetwork(b, clientip.Addr(r, s.trusted))
	if rec.account != "" {
		b = append(b, `","account":"`...)
		b = append(b, rec.account...)
	}
	b = append(b, "\"}\n"...)
	rec.line = b
	_, _ = s.requests.Write(b) // there is nowhere to report a failure
}

func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return wire.AppendJSON(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendClientNetwork appends the network of a client: enough to see where a flood comes
// from, not enough to identify a person.
func appendClientNetwork(b []byte, addr netip.Addr) []byte {
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return b
	}
	return prefix.AppendTo(b)
}
