package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

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
