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

// A patientWriter moves the deadline of the connection with every piece that it writes, so
// that a reader may take longer than the server gives to an answer.
type patientWriter struct {
	http.ResponseWriter
	stall time.Duration
}

// Patient returns a writer for an answer that is large: its reader may take as long as it
// needs, but one that takes nothing for Config.Stall is cut off.
func (s *Sender) Patient(w http.ResponseWriter) http.ResponseWriter {
	return &patientWriter{ResponseWriter: w, stall: cmp.Or(s.stall, defaultStall)}
}

// Write writes b in pieces.
func (w *patientWriter) Write(b []byte) (n int, err error) {
	conn := http.NewResponseController(w.ResponseWriter)
	for n < len(b) && err == nil {
		// It fails only on connections without deadlines, which tests have.
		_ = conn.SetWriteDeadline(time.Now().Add(w.stall))
		var written int
		written, err = w.ResponseWriter.Write(b[n:min(n+pieceSize, len(b))])
		n += written
	}
	return n, err
}
