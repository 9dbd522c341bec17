package quota

import (
	"math"
	"sync"
)

// A table holds a day's counters of one kind of subject.
type table[K comparable] struct {
	mu      sync.Mutex
	counts  map[K]uint32
	unsaved map[K]uint32 // of counts, those that are not saved
	kindOf  func(K) int  // 0 or 1
	sizes   [2]int       // how many counters of each kind there are
	closed  bool
}

// fullCounter is where a counter ends, so that it never overflows to zero.
const fullCounter = math.MaxUint32

// An outcome is the result of counting a request.
type outcome uint8

const (
	taken     outcome = iota
	refused           // the limit is reached
	closed            // the day has ended
	uncounted         // not counted in the store, and to be counted in memory
)

func newTable[K comparable](kindOf func(K) int) *table[K] {
	return &table[K]{counts: map[K]uint32{}, unsaved: map[K]uint32{}, kindOf: kindOf}
}

// set sets a counter. It is called with the lock held.
func (t *table[K]) set(key K, count uint32) {
	if _, has := t.counts[key]; !has {
		t.sizes[t.kindOf(key)]++
	}
	t.counts[key] = count
}

// take counts one request up to limit, and returns the new count.
func (t *table[K]) take(key K, limit uint32) (used uint32, is outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, closed
	}
	used = t.counts[key]
	if used >= limit {
		return used, refused
	}
	t.set(key, used+1)
	t.unsaved[key]++
	return used + 1, taken
}

func (t *table[K]) used(key K) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[key]
}

// isOver reports whether a table without a counter for key has at least so many others of its kind.
func (t *table[K]) isOver(key K, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, has := t.counts[key]
	return !has && t.sizes[t.kindOf(key)] >= most
}

// raise raises a count to what is saved in the store plus what is unsaved here.
func (t *table[K]) raise(key K, saved int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	used := min(max(saved, 0)+int64(t.unsaved[key]), fullCounter)
	t.set(key, max(t.counts[key], uint32(used)))
}

// collect returns all unsaved requests and marks them as saved; giveBack undoes that. A nil
// table has none.
func (t *table[K]) collect() map[K]uint32 {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	unsaved := t.unsaved
	t.unsaved = map[K]uint32{}
	return unsaved
}

// giveBack marks requests as unsaved again after a failed save.
func (t *table[K]) giveBack(unsaved map[K]uint32) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, n := range unsaved {
		t.unsaved[key] += n
	}
}

// close ends counting: later calls of take find it closed, so the next collect is the last.
func (t *table[K]) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}
