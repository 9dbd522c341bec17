package web

import (
	"cmp"
	"net/http"
	"time"
)

const (
	// defaultStall is how long a reader may take nothing.
	defaultStall = time.Minute
	// pieceSize is what is written before one deadline. A reader that is slower than one
	// piece in that time is cut off, so that it does not keep a page in memory for hours.
	pieceSize = 256 << 10
)

// A stallWriter moves the deadline of the connection with every piece that it writes, so
// that a reader may take longer than the server gives to a response.
type stallWriter struct {
	http.ResponseWriter
	timeout time.Duration
}

// ExtendTimeout returns a writer for a response that is large: its reader may take as long
// as it needs, but one that takes nothing for Config.StallTimeout is cut off.
func (s *Sender) ExtendTimeout(w http.ResponseWriter) http.ResponseWriter {
	return &stallWriter{ResponseWriter: w, timeout: cmp.Or(s.stallTimeout, defaultStall)}
}

// Write writes b in pieces.
func (w *stallWriter) Write(b []byte) (n int, err error) {
	conn := http.NewResponseController(w.ResponseWriter)
	for n < len(b) && err == nil {
		// It fails only on connections without deadlines, which tests have.
		_ = conn.SetWriteDeadline(time.Now().Add(w.timeout))
		var written int
		written, err = w.ResponseWriter.Write(b[n:min(n+pieceSize, len(b))])
		n += written
	}
	return n, err
}
