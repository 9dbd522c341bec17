package api

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"palmares/internal/snapshot"
)

// A coding is one way to send a body.
type coding uint8

// The codings, the one we like best last: it wins among equals.
const (
	identity coding = iota
	gzipped
	zstded
	brotlied
	codingCount
)

var (
	codingNames = [codingCount][]string{nil, {"gzip"}, {"zstd"}, {"br"}}
	tagSuffixes = [codingCount]string{"", "-gzip", "-zstd", "-br"}
)

// chooseCoding reads Accept-Encoding (RFC 9110 §12.5.3). Without the header, or
// with one that accepts nothing we have, the body goes out as it is.
func chooseCoding(lines []string) coding {
	if len(lines) == 0 {
		return identity
	}
	var weights [codingCount]int // in thousandths; -1: not named
	for i := range weights {
		weights[i] = -1
	}
	star := -1
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, rest, _ := strings.Cut(item, ";")
			weight, ok := quality(rest)
			if !ok {
				continue
			}
			name = strings.ToLower(strings.Trim(name, " \t"))
			switch name {
			case "*":
				star = weight
			case "identity":
				weights[identity] = weight
			case "gzip", "x-gzip":
				weights[gzipped] = weight
			case "zstd":
				weights[zstded] = weight
			case "br":
				weights[brotlied] = weight
			}
		}
	}
	best, bestWeight := identity, weights[identity]
	for c := gzipped; c < codingCount; c++ {
		w := weights[c]
		if w < 0 {
			w = star
		}
		if w > 0 && w >= bestWeight {
			best, bestWeight = c, w
		}
	}
	return best
}

// quality reads the parameters behind a coding: nothing, or `q=` and a weight.
func quality(s string) (thousandths int, ok bool) {
	s = strings.Trim(s, " \t")
	if s == "" {
		return 1000, true
	}
	key, value, _ := strings.Cut(s, "=")
	if k := strings.Trim(key, " \t"); k != "q" && k != "Q" {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.Trim(value, " \t"), 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, false
	}
	return int(x * 1000), true
}

// encodings keeps compressed bodies by content, so that a body is compressed
// once however often it is asked for, and outlives the version it came with.
type encodings struct {
	mu    sync.Mutex
	size  int
	bytes map[encodingKey]*list.Element
	used  list.List // most recently used first, of encoded
}

// encodingsSize bounds the memory for compressed bodies. 64 MiB hold
// about 10,000 pages of 50 tools.
const encodingsSize = 64 << 20

type encodingKey struct {
	digest snapshot.Digest
	coding coding
}

type encoded struct {
	key   encodingKey
	bytes []byte
}

func (e *encodings) get(body snapshot.Body, c coding) []byte {
	key := encodingKey{body.Digest(), c}
	e.mu.Lock()
	if el, ok := e.bytes[key]; ok {
		e.used.MoveToFront(el)
		e.mu.Unlock()
		return el.Value.(encoded).bytes
	}
	e.mu.Unlock()

	// Two requests may compress the same body at once; that is cheaper than
	// making one wait for the other.
	b := compress(body.Bytes(nil), c)

	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.bytes[key]; ok {
		return b
	}
	if e.bytes == nil {
		e.bytes = map[encodingKey]*list.Element{}
	}
	e.bytes[key] = e.used.PushFront(encoded{key, b})
	e.size += len(b)
	for e.size > encodingsSize {
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

func compress(b []byte, c coding) []byte {
	var out bytes.Buffer
	switch c {
	case zstded:
		return zstdEncoder().EncodeAll(b, nil)
	case brotlied:
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
