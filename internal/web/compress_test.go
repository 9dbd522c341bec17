package web_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"palmares/internal/web"
	"palmares/internal/wire"
)

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
	for _, coding := range []web.Coding{web.Gzip, web.Brotli, web.Zstd} {
		z := web.NewCompressor()
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
