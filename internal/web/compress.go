package web

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"palmares/internal/wire"
)

// A Compressor compresses bodies and keeps them by digest, so that each is compressed
// once, even if it is part of many versions of the catalogue, or if thousands ask for it
// at the same moment. Whoever asks for a body that is kept waits for nobody. The zero value
// is ready to use, by any number of goroutines.
type Compressor struct {
	bodies sync.Map // of *compressedBody, by compressedKey

	mu   sync.Mutex
	size int
	kept list.List // of *compressedBody, in the order in which they are dropped
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
	bytes func() []byte // makes them on its first call; others wait for it
	size  int           // of everything, once they are made
	used  atomic.Bool   // again, since it was last spared
}

// compressedSize is what a body takes besides its bytes: its places in the map and the list.
const compressedSize = 400

// Compress returns a body in a coding; in Identity, it only assembles it.
func (z *Compressor) Compress(body wire.Body, c Coding) []byte {
	k := compressedKey{body.Digest(), c}
	found, ok := z.bodies.Load(k)
	if !ok {
		b := &compressedBody{key: k}
		b.bytes = sync.OnceValue(func() []byte { return z.make(b, body) })
		found, _ = z.bodies.LoadOrStore(k, b)
	}
	b := found.(*compressedBody)
	if ok && !b.used.Load() { // a write would take the cache line from other processors
		b.used.Store(true)
	}
	return b.bytes()
}

// make compresses a body, which is kept until there is no room for it.
func (z *Compressor) make(b *compressedBody, body wire.Body) []byte {
	isMade := false
	defer func() {
		if !isMade { // it panicked: the next one tries again
			z.bodies.Delete(b.key)
		}
	}()
	made := bytes.Clone(compress(body.Bytes(), b.key.coding)) // without the spare room of its buffer
	isMade = true
	z.mu.Lock()
	defer z.mu.Unlock()
	b.size = cap(made) + compressedSize
	z.size += b.size
	z.kept.PushBack(b)
	for z.size > compressorSize {
		z.dropOne()
	}
	return made
}

// dropOne drops the oldest body that was not asked for again since it was last spared. It
// is called with the lock held.
func (z *Compressor) dropOne() {
	for {
		oldest := z.kept.Front()
		b := oldest.Value.(*compressedBody)
		if b.used.Swap(false) {
			z.kept.MoveToBack(oldest)
			continue
		}
		z.kept.Remove(oldest)
		z.bodies.Delete(b.key)
		z.size -= b.size
		return
	}
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
