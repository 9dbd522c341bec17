package quota

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
)

// A table holds a day's counters of one kind of subject. It is sharded, so that requests
// of different subjects rarely contend; those of one subject share a read lock and an
// atomic counter, and never wait for each other.
type table[K comparable] struct {
	seed   maphash.Seed
	size   atomic.Int64 // counters in all shards
	shards [64]shard[K]
}

type shard[K comparable] struct {
	mu       sync.RWMutex
	counters map[K]*counter
	closed   bool

	// The counters with unsaved requests, each once. They have a lock of their own, as the
	// list grows while mu is held for reading.
	unsavedMu sync.Mutex
	unsaved   []named[K]

	_ [48]byte // a cache line of its own
}

type named[K comparable] struct {
	key     K
	counter *counter
}

// An outcome is the result of counting a request.
type outcome uint8

const (
	taken     outcome = iota
	refused           // the limit is reached
	closed            // the day has ended
	uncounted         // not counted in the store, and to be counted in memory
)

func newTable[K comparable]() *table[K] {
	t := &table[K]{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].counters = map[K]*counter{}
	}
	return t
}

func (t *table[K]) shard(key K) *shard[K] {
	return &t.shards[maphash.Comparable(t.seed, key)%uint64(len(t.shards))]
}

// take counts one request up to limit, which must not be zero, and returns the new count.
// It holds the lock to the end, so that close waits for it.
func (t *table[K]) take(key K, limit uint32) (used uint32, is outcome) {
	s := t.shard(key)
	for {
		s.mu.RLock()
		if s.closed {
			s.mu.RUnlock()
			return 0, closed
		}
		if c := s.counters[key]; c != nil {
			used, is, first := c.take(limit)
			if first {
				s.addUnsaved(key, c)
			}
			s.mu.RUnlock()
			return used, is
		}
		s.mu.RUnlock()
		t.counter(key)
	}
}

func (t *table[K]) has(key K) bool { return t.find(key) != nil }

func (t *table[K]) used(key K) uint32 {
	if c := t.find(key); c != nil {
		return c.used()
	}
	return 0
}

func (t *table[K]) find(key K) *counter {
	s := t.shard(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.counters[key]
}

// raise raises a count to what is saved in the store plus what is unsaved here.
func (t *table[K]) raise(key K, saved int64) { t.counter(key).raise(saved) }

// counter returns the counter of a subject, and creates it if there is none.
func (t *table[K]) counter(key K) *counter {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counters[key]
	if c == nil {
		c = new(counter)
		s.counters[key] = c
		t.size.Add(1)
	}
	return c
}

func (s *shard[K]) addUnsaved(key K, c *counter) {
	s.unsavedMu.Lock()
	s.unsaved = append(s.unsaved, named[K]{key, c})
	s.unsavedMu.Unlock()
}

// A delta is the unsaved requests of a subject.
type delta[K comparable] struct {
	named[K]
	requests uint32
}

// collect returns all unsaved requests and marks them as saved; giveBack undoes that. A nil
// table has none.
func (t *table[K]) collect() []delta[K] {
	if t == nil {
		return nil
	}
	var list []delta[K]
	for i := range t.shards {
		s := &t.shards[i]
		s.unsavedMu.Lock()
		unsaved := s.unsaved
		s.unsaved = nil
		s.unsavedMu.Unlock()
		for _, n := range unsaved {
			list = append(list, delta[K]{n, n.counter.collect()})
		}
	}
	return list
}

// giveBack marks requests as unsaved again after a failed save.
func (t *table[K]) giveBack(list []delta[K]) {
	for _, d := range list {
		if d.counter.giveBack(d.requests) {
			t.shard(d.key).addUnsaved(d.key, d.counter)
		}
	}
}

// close ends counting. When it returns no take is running, and later ones find it closed,
// so the next collect is the last.
func (t *table[K]) close() {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
	}
}

// A counter holds the number of requests in its upper half and how many of them are
// unsaved in the lower, so that one atomic operation changes both. The lower never exceeds
// the upper, so it does not overflow first.
type counter struct{ halves atomic.Uint64 }

const (
	fullCounter = math.MaxUint32
	oneMore     = 1<<32 + 1
	upperHalf   = fullCounter << 32
)

// take counts one request and reports whether it is the first unsaved one.
func (c *counter) take(limit uint32) (used uint32, is outcome, first bool) {
	for {
		old := c.halves.Load()
		used := uint32(old >> 32)
		if used >= limit {
			return used, refused, false
		}
		if c.halves.CompareAndSwap(old, old+oneMore) {
			return used + 1, taken, uint32(old) == 0
		}
	}
}

func (c *counter) used() uint32 { return uint32(c.halves.Load() >> 32) }

// raise raises the count to saved plus unsaved requests, at most until the counter is full.
func (c *counter) raise(saved int64) {
	for {
		old := c.halves.Load()
		unsaved := old & fullCounter
		used := min(uint64(max(saved, 0))+unsaved, fullCounter)
		if used <= old>>32 || c.halves.CompareAndSwap(old, used<<32|unsaved) {
			return
		}
	}
}

func (c *counter) collect() uint32 { return uint32(c.halves.And(upperHalf)) }

// giveBack reports whether nothing was unsaved before.
func (c *counter) giveBack(requests uint32) bool {
	return uint32(c.halves.Add(uint64(requests))) == requests
}
