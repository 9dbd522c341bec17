// Package wire is the wire format of records, shared by all packages that serve them: one
// JSON encoding, and bodies that are named by a digest of their content.
//
// It is separate from package web so that what renders or stores such bodies does not
// depend on HTTP.
package wire

import (
	"crypto/sha256"
	"io"
)

// A Digest names a body by its content: equal digests mean equal bytes, on every node
// and after every restart.
type Digest [16]byte

// Sum returns the digest of b.
func Sum(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest(sum[:])
}

// A Body is a response body whose digest is known before its bytes are assembled, so
// that a 304 for a client that has it already is cheap.
type Body struct {
	digest Digest
	bytes  []byte // the whole body, if parts is nil
	parts  Appender
}

// An Appender assembles a body. It must append the same bytes each time.
type Appender interface {
	Append(buf []byte) []byte
}

// A Streamer is an Appender that can yield the same bytes in pieces, each of which is valid until the
// next one.
type Streamer interface {
	Appender
	Pieces(yield func([]byte) bool)
}

// NewBody returns a body of bytes with their digest. The bytes must not change.
func NewBody(d Digest, b []byte) Body { return Body{digest: d, bytes: b} }

// NewParts returns a body that is assembled each time it is sent.
func NewParts(d Digest, parts Appender) Body { return Body{digest: d, parts: parts} }

// Digest returns the name of the body.
func (b Body) Digest() Digest { return b.digest }

// Bytes returns the bytes of the body, which must not be changed.
func (b Body) Bytes() []byte {
	if b.parts == nil {
		return b.bytes
	}
	return b.parts.Append(nil)
}

// WriteTo writes the bytes of the body, without assembling all of them first if they are in pieces.
func (b Body) WriteTo(w io.Writer) (written int64, err error) {
	write := func(piece []byte) bool {
		var n int
		n, err = w.Write(piece)
		written += int64(n)
		return err == nil
	}
	if s, ok := b.parts.(Streamer); ok {
		s.Pieces(write)
	} else {
		write(b.Bytes())
	}
	return written, err
}
