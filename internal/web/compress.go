package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime"

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

// Compress returns a body in a coding other than Identity.
func (z *Compressor) Compress(body wire.Body, c Coding) []byte {
	made, _ := z.bodies.Load(compressedKey{body.Digest(), c}, func() ([]byte, error) {
		var out bytes.Buffer
		compress(&out, body, c)
		return bytes.Clone(out.Bytes()), nil
	})
	return made
}

// The middle of each scale, where a page takes less than a millisecond.
const (
	gzipLevel   = 5
	brotliLevel = 5
	zstdWindow  = 1 << 20
)

// An encoder has the memory for one compression, some megabytes, which the next one uses again.
type encoder struct {
	zstd   *zstd.Encoder
	brotli *brotli.Writer
	gzip   *gzip.Writer
}

// encoders are all encoders: as many as processors, because each keeps one busy.
var encoders = func() chan *encoder {
	all := make(chan *encoder, runtime.GOMAXPROCS(0))
	for range cap(all) {
		all <- &encoder{}
	}
	return all
}()

// resetter is what the writers of all codings have in common.
type resetter interface {
	io.WriteCloser
	Reset(w io.Writer)
}

func (e *encoder) in(c Coding) resetter {
	var err error // only for invalid options
	switch {
	case c == Zstd && e.zstd == nil:
		e.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
	case c == Brotli && e.brotli == nil:
		e.brotli = brotli.NewWriterLevel(nil, brotliLevel)
	case c == Gzip && e.gzip == nil:
		e.gzip, err = gzip.NewWriterLevel(nil, gzipLevel)
	}
	if err != nil {
		panic(err)
	}
	return map[Coding]resetter{Zstd: e.zstd, Brotli: e.brotli, Gzip: e.gzip}[c]
}

// compress writes a body in a coding, once there is an encoder for it.
func compress(to io.Writer, body wire.Body, c Coding) {
	e := <-encoders
	defer func() { encoders <- e }()
	w := e.in(c)
	w.Reset(to)
	_, _ = body.WriteTo(w) // to memory: cannot fail
	_ = w.Close()
}

// unpack writes a body that was compressed as Zstd.
func unpack(to io.Writer, body []byte) {
	from, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // only for invalid options
	}
	defer from.Close()
	_, _ = from.WriteTo(to) // fails only if the client has disconnected
}
