package web

import (
	"bytes"
	"compress/gzip"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"palmares/internal/cache"
	"palmares/internal/wire"
)

// A Compressor compresses bodies and caches them by digest, so that each is compressed once, even
// if it is part of many versions of the catalogue, or if thousands ask for it at the same moment.
// It is safe for concurrent use.
type Compressor struct {
	bodies *cache.Cache[compressedKey, []byte]
}

// compressorSize is enough for about 10,000 pages of 50 tools.
const compressorSize = 64 << 20

type compressedKey struct {
	digest wire.Digest
	coding Coding
}

// NewCompressor returns a compressor with an empty cache.
func NewCompressor() *Compressor {
	return &Compressor{cache.New(compressorSize, func(_ compressedKey, b []byte) int { return cap(b) })}
}

// Compress returns a body in a coding; in Identity, it only assembles it.
func (z *Compressor) Compress(body wire.Body, c Coding) []byte {
	made, _ := z.bodies.Load(compressedKey{body.Digest(), c}, func() ([]byte, error) {
		return bytes.Clone(compress(body.Bytes(), c)), nil // without the spare room of its buffer
	})
	return made
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
