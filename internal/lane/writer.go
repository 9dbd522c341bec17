package lane

import (
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// A writer is the http.ResponseWriter of one answer.
type writer struct {
	conn   *conn
	header http.Header
	late   http.Header // the header as it was when the status was set, until the length is known
	status int         // 0 until it is set
	head   []byte      // not sent yet; empty if it is sent, or not complete
	body   []byte      // held back until the length is known
	length int64       // as declared; -1 if it was not
	sent   int64       // of the body
	closes bool        // the connection is closed after this answer
	failed bool
}

// Header returns the headers of the answer.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader sets the status. With a declared length the head is complete.
func (w *writer) WriteHeader(status int) {
	if w.status != 0 || status < 200 { // informational answers are optional
		return
	}
	w.status = status
	if declared := w.header["Content-Length"]; len(declared) == 1 {
		if n, err := strconv.ParseInt(declared[0], 10, 64); err == nil && n >= 0 {
			w.length = n
		}
	}
	if w.isBodyless() || w.length >= 0 && len(w.header["Content-Type"]) > 0 {
		w.compose(w.header)
	} else {
		w.late = maps.Clone(w.header)
	}
}

func (w *writer) isBodyless() bool {
	return w.status == http.StatusNoContent || w.status == http.StatusNotModified
}

// Write sends a part of the body, or holds it back until the length is known.
func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.isBodyless():
		return 0, http.ErrBodyNotAllowed
	case w.late != nil:
		w.body = append(w.body, b...)
		return len(b), nil
	case w.sent+int64(len(b)) > w.length:
		return 0, http.ErrContentLength
	}
	n, err := w.send(b)
	w.sent += int64(n)
	return n, err
}

// send sends the head, if it is not sent yet, and a part of the body, in one system call if
// that is possible.
func (w *writer) send(b []byte) (n int, err error) {
	if w.failed {
		return 0, net.ErrClosed
	}
	switch head := len(w.head); {
	case head == 0:
		n, err = w.conn.Write(b)
	case len(b) <= cap(w.head)-head:
		n, err = w.conn.Write(append(w.head, b...))
		n = max(0, n-head)
	default:
		if _, err = w.conn.Write(w.head); err == nil {
			n, err = w.conn.Write(b)
		}
	}
	w.head = w.head[:0]
	w.failed = err != nil
	return n, err
}

// finish sends what is left, and reports whether the connection can be used again.
func (w *writer) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.late != nil {
		if len(w.late["Content-Type"]) == 0 && len(w.body) > 0 && len(w.late["Content-Encoding"]) == 0 {
			w.late.Set("Content-Type", http.DetectContentType(w.body))
		}
		if w.length < 0 {
			w.length = int64(len(w.body))
			w.late["Content-Length"] = []string{strconv.Itoa(len(w.body))}
		}
		w.compose(w.late)
		w.late = nil
		_, _ = w.Write(w.body) // w.failed says whether it was sent
	}
	if len(w.head) > 0 {
		_, _ = w.send(nil) // likewise
	}
	return !w.failed && !w.closes && (w.isBodyless() || w.sent == w.length)
}

// compose writes the head.
func (w *writer) compose(header http.Header) {
	b := strconv.AppendInt(append(w.head[:0], "HTTP/1.1 "...), int64(w.status), 10)
	b = append(append(append(b, ' '), http.StatusText(w.status)...), "\r\n"...)
	for name, values := range header {
		if name == "Connection" || w.isBodyless() && (name == "Content-Length" || name == "Content-Type" && w.status == http.StatusNoContent) {
			w.closes = w.closes || name == "Connection" && len(values) == 1 && values[0] == "close"
			continue
		}
		for _, v := range values {
			b = append(b, name...)
			b = append(b, ": "...)
			for i := range len(v) {
				c := v[i]
				if c == '\r' || c == '\n' { // as net/http does
					c = ' '
				}
				b = append(b, c)
			}
			b = append(b, "\r\n"...)
		}
	}
	if _, given := header["Date"]; !given {
		b = append(b, "Date: "...)
		b = append(b, date()...)
		b = append(b, "\r\n"...)
	}
	if w.closes {
		b = append(b, "Connection: close\r\n"...)
	}
	w.head = append(b, "\r\n"...)
}

// lastDate is the value of Date in the last second.
var lastDate atomic.Pointer[struct {
	unix int64
	text string
}]

// date returns the value of Date.
func date() string {
	now := time.Now()
	s := lastDate.Load()
	if s == nil || s.unix != now.Unix() {
		s = &struct {
			unix int64
			text string
		}{now.Unix(), now.UTC().Format(http.TimeFormat)}
		lastDate.Store(s)
	}
	return s.text
}

// SetWriteDeadline sets the deadline for the rest of the answer. It is for
// http.ResponseController.
func (w *writer) SetWriteDeadline(t time.Time) error {
	w.conn.writeBy = time.Time{}
	return w.conn.SetWriteDeadline(t)
}
