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
	if m.running--; m.running == 0 {
		tuneMemory()
	}
}

// tuneMemory sets the garbage collection target after a catalogue was loaded. The live heap
// is the catalogue; garbage is the small allocations of requests. The default, as much
// garbage as live heap, would double the memory of a large catalogue for nothing, and
// collect a small one dozens of times a second.
func tuneMemory() {
	const (
		least = 25       // percent of the live heap, for a large catalogue
		room  = 64 << 20 // bytes, for a small one
	)
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	live := max(sample[0].Value.Uint64(), 1)
	debug.SetGCPercent(int(max(least, room*100/live)))
	debug.FreeOSMemory() // the garbage of loading
}
