package site

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"hash"
	"io"
	"net/http"
	"strconv"

	"palmares/internal/web"
	"palmares/internal/wire"
)

// A packedWriter compresses a response while it is written, so that its plain form is
// never in memory as a whole.
type packedWriter struct {
	*bufio.Writer // to the compressor and the digest
	packed        bytes.Buffer
	gzip          *gzip.Writer
	digest        hash.Hash
	size          int
}

func newPackedWriter() *packedWriter {
	p := &packedWriter{digest: sha256.New()}
	p.gzip = gzip.NewWriter(&p.packed)
	p.Writer = bufio.NewWriter(plainWriter{p})
	return p
}

// A plainWriter receives the plain form of a packedWriter. It writes to memory and
// cannot fail.
type plainWriter struct{ *packedWriter }

func (w plainWriter) Write(b []byte) (int, error) {
	w.size += len(b)
	_, _ = w.digest.Write(b)
	return w.gzip.Write(b)
}

// response ends the writing.
func (p *packedWriter) response(kind string) *response {
	_ = p.Flush()
	_ = p.gzip.Close()
	return &response{
		status: http.StatusOK, kind: kind, cache: cachePage, digest: wire.Digest(p.digest.Sum(nil)[:len(wire.Digest{})]),
		packed: bytes.Clone(p.packed.Bytes()), size: p.size,
	}
}

// writePacked sends the body of a packed response, in gzip or unpacked on the way.
func (a *response) writePacked(w http.ResponseWriter, r *http.Request, c web.Coding) {
	h := w.Header()
	if c != web.Identity {
		h["Content-Encoding"] = c.Header()
		h.Set("Content-Length", strconv.Itoa(len(a.packed)))
		w.WriteHeader(a.status)
		_, _ = w.Write(a.packed) // fails only when the client is gone
		return
	}
	h.Set("Content-Length", strconv.Itoa(a.size))
	w.WriteHeader(a.status)
	if r.Method == http.MethodHead {
		return
	}
	plain, err := gzip.NewReader(bytes.NewReader(a.packed))
	if err != nil {
		panic(err) // packedWriter wrote it
	}
	_, _ = io.Copy(w, plain) // fails only when the client is gone
}
