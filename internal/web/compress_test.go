package web_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"palmares/internal/web"
	"palmares/internal/wire"
)

func TestCompressedBodiesTakeNoMoreMemoryThanTheirLimit(t *testing.T) {
	const limit = 64 << 20
	for name, size := range map[string]int{"short": 1_500, "long": 20_000} {
		t.Run(name, func(t *testing.T) {
			var z web.Compressor
			random := rand.NewChaCha8([32]byte{})
			before := heap()
			for n := range limit / size * 5 / 4 {
				body := make([]byte, size)
				_, _ = random.Read(body) // never fails
				var d wire.Digest
				binary.BigEndian.PutUint64(d[:], uint64(n))
				z.Compress(wire.NewBody(d, body), web.Zstd)
			}
			if held := heap() - before; held > limit*11/10 || held < limit/2 {
				t.Errorf("%d MiB are held, of %d", held>>20, limit>>20)
			}
			runtime.KeepAlive(&z)
		})
	}
}

// heap returns the size of the live heap.
func heap() int64 {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
