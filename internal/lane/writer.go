package lane

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A writer is the http.ResponseWriter of one answer.
type writer struct {
	conn    *conn
	status  int    // 0 until it is set
	head    []byte // not sent yet; empty once it is
	held    bool   // the body is held back to the end, as its type or length is not known
	untyped bool   // the type is to be found out
	body    []byte // if it is held back
	length  int64  // as declared, unless negative
	sent    int64  // of the body
	closes  bool   // the connection is closed after this answer
	failed  bool
}

// Header returns the headers of the answer.
func (w *writer) Header() http.Header { return w.conn.header }

// WriteHeader sets the status, and the headers as they are now.
func (w *writer) WriteHeader(status int) {
	if w.status != 0 || status < 200 { // informational answers are optional
		return
	}
	header := w.conn.header
	declared, err := strconv.ParseUint(header.Get("Content-Length"), 10, 63)
	w.length = int64(declared)
	if err != nil {
		w.length = -1
	}
	w.begin(status)
	w.untyped = len(header["Content-Type"])+len(header["Content-Encoding"]) == 0
	w.held = !w.isBodyless() && (w.length < 0 || w.untyped)
	if !w.held {
		w.end()
	}
}

// WriteReady sends a whole answer. Of its headers, lines are those that are not in Header,
// each with its end, without Content-Length, Date and Connection. Nothing may be written
// before or after it.
func (w *writer) WriteReady(status int, lines, body []byte) (int, error) {
	w.begin(status)
	w.head = append(w.head, lines...)
	w.length = int64(len(body))
	w.end()
	return w.Write(body)
}

func (w *writer) isBodyless() bool {
	return w.status == http.StatusNoContent || w.status == http.StatusNotModified
}

// begin writes the status and the headers into the head.
func (w *writer) begin(status int) {
	w.status = status
	b := strconv.AppendInt(append(w.head, "HTTP/1.1 "...), int64(status), 10)
	b = append(append(append(b, ' '), http.StatusText(status)...), "\r\n"...)
	for name, values := range w.conn.header {
		switch {
		case name == "Connection":
			w.closes = w.closes || len(values) == 1 && values[0] == "close"
		case name == "Content-Length", name == "Date", name == "Content-Type" && status == http.StatusNotModified:
		default:
			for _, v := range values {
				b = append(append(append(append(b, name...), ": "...), lineEnds.Replace(v)...), "\r\n"...)
			}
		}
	}
	w.head = b
}

var lineEnds = strings.NewReplacer("\r", " ", "\n", " ") // as net/http does

// end completes the head.
func (w *writer) end() {
	b := w.head
	if !w.isBodyless() {
		b = strconv.AppendInt(append(b, "Content-Length: "...), w.length, 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, w.conn.date...)
	if w.closes {
		b = append(b, "Connection: close\r\n"...)
	}
	w.head = append(b, "\r\n"...)
}

// Write sends a part of the body, or holds it back.
func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.isBodyless() && len(b) > 0:
		return 0, http.ErrBodyNotAllowed
	case w.held:
		w.body = append(w.body, b...)
		return len(b), nil
	case w.sent+int64(len(b)) > w.length && len(b) > 0:
		return 0, http.ErrContentLength
	case w.failed:
		return 0, net.ErrClosed
	}
	head := len(w.head)
	n, err := w.send(b)
	n = max(0, n-head)
	w.sent += int64(n)
	w.failed = err != nil
	return n, err
}

// send sends the head, if it is not sent yet, and b, with one system call.
func (w *writer) send(b []byte) (int, error) {
	head := w.head
	w.head = head[:0]
	switch {
	case len(head) == 0:
		return w.conn.Write(b)
	case len(b) <= cap(head)-len(head):
		return w.conn.Write(append(head, b...))
	}
	both := net.Buffers{head, b}
	n, err := both.WriteTo(w.conn.stream)
	return int(n), err
}

// finish sends what is left, and reports whether the connection can be used again.
func (w *writer) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.held {
		w.held = false
		if w.untyped && len(w.body) > 0 {
			w.head = append(append(append(w.head, "Content-Type: "...), http.DetectContentType(w.body)...), "\r\n"...)
		}
		if w.length < 0 {
			w.length = int64(len(w.body))
		}
		w.end()
	}
	if len(w.head) > 0 {
		_, _ = w.Write(w.body) // w.failed says whether it was sent
	}
	return !w.failed && !w.closes && (w.isBodyless() || w.sent == w.length)
}

// SetWriteDeadline sets that of the rest of the answer. It is for http.ResponseController.
func (w *writer) SetWriteDeadline(t time.Time) error {
	w.conn.second = 0 // the next answer has its own
	return w.conn.SetWriteDeadline(t)
}
