package cache_test

import (
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"palmares/internal/cache"
)

func newCache(limit int) *cache.Cache[string, []byte] {
	return cache.New(limit, func(key string, value []byte) int { return len(key) + len(value) })
}

// A source counts how often each value is made.
type source struct {
	cache *cache.Cache[string, []byte]
	size  int
	made  map[string]int
}

func (s *source) load(key string) {
	_, _ = s.cache.Load(key, func() ([]byte, error) {
		s.made[key]++
		return make([]byte, s.size), nil
	})
}

func TestSomebodyWhoAsksForEverythingEvictsNothingThatOthersAskFor(t *testing.T) {
	s := source{newCache(1 << 20), 10_000, map[string]int{}}
	s.load("often")
	s.load("often")
	for _, times := range []int{1, 3} {
		for n := range 2000 {
			for range times {
				s.load(strconv.Itoa(times) + " " + strconv.Itoa(n))
			}
			s.load("often")
		}
	}
	if n := s.made["often"]; n != 1 {
		t.Errorf("it was made %d times", n)
	}
}

func TestSomebodyWhoAsksForEverythingOnceEvictsNothingThatWasAskedForAgain(t *testing.T) {
	s := source{newCache(1 << 20), 1000, map[string]int{}}
	for n := range 500 {
		s.load(strconv.Itoa(n))
		s.load(strconv.Itoa(n))
	}
	for n := range 10_000 {
		s.load("once " + strconv.Itoa(n))
	}
	for n := range 500 {
		s.load(strconv.Itoa(n))
		if made := s.made[strconv.Itoa(n)]; made != 1 {
			t.Fatalf("%d was made %d times", n, made)
		}
	}
}

func TestACacheTakesNoMoreMemoryThanItsLimit(t *testing.T) {
	const limit = 4 << 20
	for _, size := range []int{100, 24_000} {
		before := heap()
		c := newCache(limit)
		for n := range limit / size * 2 {
			c.Put(strconv.Itoa(n), make([]byte, size))
		}
		if held := heap() - before; held > limit*11/10 || held < limit/2 || c.Size() > limit {
			t.Errorf("%d bytes are held in values of %d, %d in its own count", held, size, c.Size())
		}
		runtime.KeepAlive(c)
	}
}

func TestAValueThatWouldEvictManyOthersIsNotKept(t *testing.T) {
	c := newCache(1 << 20)
	c.Put("small", make([]byte, 1000))
	c.Put("large", make([]byte, 1<<19))
	_, small := c.Get("small")
	_, large := c.Get("large")
	if !small || large {
		t.Errorf("small: %v, large: %v", small, large)
	}
}

func TestAValueThatManyWantAtOnceIsMadeOnce(t *testing.T) {
	const many = 100
	c := newCache(1 << 20)
	var made atomic.Int32
	var asked, served sync.WaitGroup
	asked.Add(many)
	for range many {
		served.Go(func() {
			asked.Done()
			_, _ = c.Load("a", func() ([]byte, error) {
				made.Add(1)
				asked.Wait()
				return nil, nil
			})
		})
	}
	served.Wait()
	if made.Load() != 1 {
		t.Errorf("it was made %d times", made.Load())
	}
}

func TestAValueThatCouldNotBeMadeIsTriedAgain(t *testing.T) {
	c := newCache(1 << 20)
	broken := errors.New("broken")
	if _, err := c.Load("a", func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	func() {
		defer func() {
			if recover() != broken {
				t.Error("the panic is lost")
			}
		}()
		_, _ = c.Load("a", func() ([]byte, error) { panic(broken) })
	}()
	got, err := c.Load("a", func() ([]byte, error) { return []byte("ok"), nil })
	if string(got) != "ok" || err != nil {
		t.Errorf("%q, %v", got, err)
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
