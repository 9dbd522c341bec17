// Package cache keeps what is costly to make, in a bounded number of bytes.
//
// New values are on probation, in an eighth of the room once the cache is full. There they wait
// to be asked for again, which gives them a place among the others. These earn a credit whenever
// they are found, up to a limit, and lose it instead of their place when room is needed. So
// somebody who asks for everything once evicts nothing that others use, and somebody who asks for
// everything a few times evicts only what others do not ask for.
package cache

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// A Cache holds values by key. Finding a value takes no lock. It is safe for concurrent use;
// values must not be changed.
type Cache[K comparable, V any] struct {
	limit   int
	sizeOf  func(K, V) int
	entries sync.Map // of *entry[K, V], by key
	flights sync.Map // of func() (V, error), by key: values that are being made

	mu        sync.Mutex // held to add and evict entries
	size      int
	fresh     list.List // entries on probation, oldest first
	freshSize int
	proven    list.List // the others, in the order in which they are considered for eviction
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	size   int
	credit atomic.Int32
}

const (
	maxCredit = 3
	// overhead is about what an entry takes besides its key and value: in the map and in a list.
	overhead = 300
)

// New returns an empty cache of at most limit bytes. sizeOf returns the bytes of a key and its
// value.
func New[K comparable, V any](limit int, sizeOf func(K, V) int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, sizeOf: sizeOf}
}

// Size returns how many bytes the cache holds.
func (c *Cache[K, V]) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// Get returns the value of a key, and false if the cache does not have it.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	found, ok := c.entries.Load(key)
	if !ok {
		return value, false
	}
	e := found.(*entry[K, V])
	if credit := e.credit.Load(); credit < maxCredit { // otherwise nothing is written that processors share
		e.credit.Store(credit + 1)
	}
	return e.value, true
}

// Load returns the value of a key, which load makes if the cache does not have it. Of several
// callers at once, one makes it and the others wait for it. All of them get its error, or its
// panic, and the next caller tries again.
func (c *Cache[K, V]) Load(key K, load func() (V, error)) (V, error) {
	if value, ok := c.Get(key); ok {
		return value, nil
	}
	flight := sync.OnceValues(func() (V, error) {
		defer c.flights.Delete(key)
		if value, ok := c.Get(key); ok { // made by a flight that ended a moment ago
			return value, nil
		}
		value, err := load()
		if err == nil {
			c.Put(key, value)
		}
		return value, err
	})
	if other, ok := c.flights.LoadOrStore(key, flight); ok {
		flight = other.(func() (V, error))
	}
	return flight()
}

// Put adds a value, unless the key has one or it is so large that it would evict too many others.
func (c *Cache[K, V]) Put(key K, value V) {
	e := &entry[K, V]{key: key, value: value, size: c.sizeOf(key, value) + overhead}
	if e.size > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries.LoadOrStore(key, e); ok {
		return
	}
	c.fresh.PushBack(e)
	c.freshSize += e.size
	c.size += e.size
	for c.size > c.limit {
		c.makeRoom()
	}
}

// makeRoom considers one entry for eviction. It is called with the lock held.
func (c *Cache[K, V]) makeRoom() {
	from := &c.proven
	if c.freshSize > c.limit/8 {
		from = &c.fresh
	}
	e := from.Remove(from.Front()).(*entry[K, V])
	if from == &c.fresh {
		c.freshSize -= e.size
	}
	if credit := e.credit.Load(); credit > 0 {
		e.credit.Store(credit - 1) // one that is earned meanwhile may be lost
		c.proven.PushBack(e)
		return
	}
	c.entries.Delete(e.key)
	c.size -= e.size
}
