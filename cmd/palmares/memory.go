package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// A memory keeps garbage within bounds while a catalogue is loaded or published. The
// zero value is ready for use.
type memory struct {
	mu      sync.Mutex
	running int
	watched bool // the target follows what lives
}

// Begin announces work that needs much memory for a while. The target of a small
// catalogue, several times the live heap, would let its garbage grow to gigabytes.
func (m *memory) Begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running++
	if before := debug.SetGCPercent(100); before < 100 {
		debug.SetGCPercent(before)
	}
}

// End ends what Begin began.
func (m *memory) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running--; m.running > 0 {
		return
	}
	runtime.GC()
	tuneMemory()
	debug.FreeOSMemory() // the garbage of loading
	if !m.watched {
		m.watched = true
		m.watch()
	}
}

// watch sets the target again after every garbage collection: thousands of requests that
// wait may take more than a small catalogue, and must not multiply the garbage.
func (m *memory) watch() {
	type sentinel struct{ _ [16]byte }
	runtime.AddCleanup(new(sentinel), func(m *memory) {
		m.mu.Lock()
		if m.running == 0 {
			tuneMemory()
		}
		m.mu.Unlock()
		m.watch()
	}, m)
}

// tuneMemory sets the garbage collection target. What lives is the catalogue, and
// connections with their stacks; garbage is the small allocations of requests. The default,
// as much garbage as lives, would double the memory of a large catalogue for nothing, and
// collect a small one dozens of times a second.
func tuneMemory() {
	const (
		least = 25       // percent of what lives, for a large catalogue
		room  = 64 << 20 // bytes, for a small one
	)
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(sample)
	live := max(sample[0].Value.Uint64()+sample[1].Value.Uint64(), 1)
	debug.SetGCPercent(int(max(least, room*100/live)))
}
