package testkit

import (
	"net/http"
	"strconv"
	"strings"
)

// A PlainWriter takes whole responses (web.ReadyWriter), as that of the front lane does.
type PlainWriter struct{ http.ResponseWriter }

// IsPlain reports true.
func (PlainWriter) IsPlain() bool { return true }

// Identify does nothing: there is no log.
func (PlainWriter) Identify(string) {}

// WriteReady sends a response whose headers are lines, and those that are set already.
func (w PlainWriter) WriteReady(status int, lines, body []byte) {
	for line := range strings.Lines(string(lines)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
		w.Header()[name] = append(w.Header()[name], value)
	}
	if status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}
