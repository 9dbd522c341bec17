package web_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
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

func TestBodiesThatAreAskedForAgainAreKept(t *testing.T) {
	var z web.Compressor
	often := &counted{}
	random := rand.NewChaCha8([32]byte{})
	const size = 1 << 20
	for n := range 200 { // three times what there is room for
		z.Compress(wire.NewParts(wire.Digest{1}, often), web.Gzip)
		body := make([]byte, size)
		_, _ = random.Read(body) // never fails
		z.Compress(wire.NewBody(wire.Digest{2, byte(n)}, body), web.Identity)
	}
	if n := often.times.Load(); n != 1 {
		t.Errorf("it was made %d times", n)
	}
}

func TestABodyThatCouldNotBeMadeIsTriedAgain(t *testing.T) {
	var z web.Compressor
	body := &broken{}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the failure is lost")
			}
		}()
		z.Compress(wire.NewParts(wire.Digest{1}, body), web.Gzip)
	}()
	body.repaired = true
	if len(z.Compress(wire.NewParts(wire.Digest{1}, body), web.Gzip)) == 0 {
		t.Error("there is no body")
	}
}

// broken panics until it is repaired.
type broken struct{ repaired bool }

func (b *broken) Append(to []byte) []byte {
	if !b.repaired {
		panic("broken")
	}
	return append(to, "Un avis."...)
}

// counted counts how often it is assembled, and is not done before all who want it have
// asked for it.
type counted struct {
	times atomic.Int32
	asked sync.WaitGroup
}

func (c *counted) Append(b []byte) []byte {
	c.times.Add(1)
	c.asked.Wait()
	return append(b, "Un avis."...)
}

func TestABodyThatManyWantAtOnceIsMadeOnce(t *testing.T) {
	const many = 100
	for _, coding := range []web.Coding{web.Identity, web.Gzip, web.Brotli, web.Zstd} {
		var z web.Compressor
		var served sync.WaitGroup
		body := &counted{}
		body.asked.Add(many)
		for range many {
			served.Go(func() {
				body.asked.Done()
				z.Compress(wire.NewParts(wire.Digest{1}, body), coding)
			})
		}
		served.Wait()
		if n := body.times.Load(); n != 1 {
			t.Errorf("it was made %d times in coding %d", n, coding)
		}
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
