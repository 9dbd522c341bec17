package web

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"palmares/internal/wire"
)

// A Compressor compresses bodies and keeps them by digest, so that each is compressed
// once, even if it is part of many versions of the catalogue, or if thousands ask for it
// at the same moment. The zero value is ready to use, by any number of goroutines.
type Compressor struct {
	mu     sync.Mutex
	size   int
	bodies map[compressedKey]*list.Element
	used   list.List // of compressedBody, most recently used first
	making map[compressedKey]func() []byte
}

// compressorSize bounds the memory for compressed bodies. 64 MiB hold about 10,000
// pages of 50 tools.
const compressorSize = 64 << 20

type compressedKey struct {
	digest wire.Digest
	coding Coding
}

type compressedBody struct {
	key   compressedKey
	bytes []byte
}

// size returns what the body takes, with its place in the map and the list.
func (b compressedBody) size() int { return cap(b.bytes) + 200 }

// Compress returns a body in a coding; in Identity, it only assembles it.
func (z *Compressor) Compress(body wire.Body, c Coding) []byte {
	k := compressedKey{body.Digest(), c}
	z.mu.Lock()
	if el, ok := z.bodies[k]; ok {
		z.used.MoveToFront(el)
		z.mu.Unlock()
		return el.Value.(compressedBody).bytes
	}
	compressed, ok := z.making[k]
	if !ok {
		if z.making == nil {
			z.making, z.bodies = map[compressedKey]func() []byte{}, map[compressedKey]*list.Element{}
		}
		compressed = sync.OnceValue(func() []byte { return z.make(k, body) })
		z.making[k] = compressed
	}
	z.mu.Unlock()
	return compressed() // whoever comes second waits for the first
}

// make compresses a body and keeps it.
func (z *Compressor) make(k compressedKey, body wire.Body) []byte {
	defer func() {
		z.mu.Lock()
		defer z.mu.Unlock()
		delete(z.making, k)
	}()
	b := bytes.Clone(compress(body.Bytes(), k.coding)) // without the spare room of its buffer
	z.mu.Lock()
	defer z.mu.Unlock()
	kept := compressedBody{k, b}
	z.bodies[k] = z.used.PushFront(kept)
	z.size += kept.size()
	for z.size > compressorSize {
		oldest := z.used.Remove(z.used.Back()).(compressedBody)
		delete(z.bodies, oldest.key)
		z.size -= oldest.size()
	}
	return b
}

// The middle of each scale, where a page takes less than a millisecond.
const (
	gzipLevel   = 5
	brotliLevel = 5
)

var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // only for invalid options
	}
	return enc
})

func compress(b []byte, c Coding) []byte {
	var out bytes.Buffer
	switch c {
	case Identity:
		return b
	case Zstd:
		return zstdEncoder().EncodeAll(b, nil)
	case Brotli:
		w := brotli.NewWriterLevel(&out, brotliLevel)
		_, _ = w.Write(b) // to memory: cannot fail
		_ = w.Close()
	default:
		w, _ := gzip.NewWriterLevel(&out, gzipLevel) // fails only for an invalid level
		_, _ = w.Write(b)
		_ = w.Close()
	}
	return out.Bytes()
}
