package snapshot

import (
	"crypto/sha256"
	"slices"

	"palmares/internal/catalog"
)

// A Digest names a body by its content: equal digests, equal bytes, on every
// node and after every restart.
type Digest [16]byte

// fragments are rendered records, packed into one block: a hundred thousand of
// them are three objects to the garbage collector.
type fragments struct {
	bytes   []byte
	ends    []int
	digests []Digest
}

func newFragments(n int) fragments {
	return fragments{ends: make([]int, 0, n), digests: make([]Digest, 0, n)}
}

func (f *fragments) add(item any) {
	start := len(f.bytes)
	f.bytes = catalog.AppendJSON(f.bytes, item)
	f.ends = append(f.ends, len(f.bytes))
	f.digests = append(f.digests, digest(f.bytes[start:]))
}

// clip gives back the room that growing the block left behind it.
func (f *fragments) clip() { f.bytes = slices.Clone(f.bytes) }

func (f *fragments) count() int32 { return int32(len(f.ends)) }

func (f *fragments) at(i int32) []byte {
	start := 0
	if i > 0 {
		start = f.ends[i-1]
	}
	return f.bytes[start:f.ends[i]:f.ends[i]]
}

func (f *fragments) body(i int32) Body { return Body{bytes: f.at(i), digest: f.digests[i]} }

func digest(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest(sum[:])
}

// A Body is one whole answer: a record that stands alone, or a page of them.
type Body struct {
	digest Digest
	bytes  []byte // the whole body, or nil for a page
	page   *Page
}

// NewBody makes a body of bytes that come from elsewhere than the catalogue.
func NewBody(b []byte) Body { return Body{digest: digest(b), bytes: b} }

// Digest names the body; it costs nothing, so a caller that already has the
// bytes can be told so before they are put together.
func (b Body) Digest() Digest { return b.digest }

// Append adds the bytes of the body to buf.
func (b Body) Append(buf []byte) []byte {
	if b.page == nil {
		return append(buf, b.bytes...)
	}
	return b.page.appendBody(buf)
}

// Bytes gives the bytes of a body that stands alone, which must not be changed;
// those of a page are put together anew each time.
func (b Body) Bytes() []byte {
	if b.page == nil {
		return b.bytes
	}
	return b.page.appendBody(nil)
}
