package coding

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// A Cache keeps compressed bodies by content, so that a body is compressed once
// and outlives the version it came with. The zero value is ready to use, by any
// number of goroutines.
type Cache struct {
	mu    sync.Mutex
	size  int
	bytes map[key]*list.Element
	used  list.List // most recently used first, of encoded
}

// cacheSize bounds the memory for compressed bodies. 64 MiB hold about 10,000
// pages of 50 tools.
const cacheSize = 64 << 20

type key struct {
	digest Digest
	coding Coding
}

type encoded struct {
	key   key
	bytes []byte
}

// Get gives a body in a coding other than Identity; body is asked for its bytes
// only when they were not compressed before.
func (e *Cache) Get(d Digest, c Coding, body func() []byte) []byte {
	k := key{d, c}
	e.mu.Lock()
	if el, ok := e.bytes[k]; ok {
		e.used.MoveToFront(el)
		e.mu.Unlock()
		return el.Value.(encoded).bytes
	}
	e.mu.Unlock()

	// Two requests may compress the same body at once; that is cheaper than
	// making one wait for the other.
	b := compress(body(), c)

	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.bytes[k]; ok {
		return b
	}
	if e.bytes == nil {
		e.bytes = map[key]*list.Element{}
	}
	e.bytes[k] = e.used.PushFront(encoded{k, b})
	e.size += len(b)
	for e.size > cacheSize {
		oldest := e.used.Remove(e.used.Back()).(encoded)
		delete(e.bytes, oldest.key)
		e.size -= len(oldest.bytes)
	}
	return b
}

// Levels: the middle of each scale, where a page costs under a millisecond.
const (
	gzipLevel   = 5
	brotliLevel = 5
)

var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // only for options that do not exist
	}
	return enc
})

func compress(b []byte, c Coding) []byte {
	var out bytes.Buffer
	switch c {
	case Zstd:
		return zstdEncoder().EncodeAll(b, nil)
	case Brotli:
		w := brotli.NewWriterLevel(&out, brotliLevel)
		_, _ = w.Write(b) // into memory: cannot fail
		_ = w.Close()
	default:
		w, _ := gzip.NewWriterLevel(&out, gzipLevel) // fails only for a level that does not exist
		_, _ = w.Write(b)
		_ = w.Close()
	}
	return out.Bytes()
}
