package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// tuneMemory sets how much garbage may gather, after a catalogue was loaded. What
// a server keeps is the catalogue; what it throws away are the small leftovers
// of requests. The default, as much garbage as live memory, would double the
// memory of a large catalogue for nothing, and collect a small one dozens of times a
// second.
func tuneMemory() {
	const (
		least = 25       // percent of what is live, for a large catalogue
		room  = 64 << 20 // bytes, for a small one
	)
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	live := max(sample[0].Value.Uint64(), 1)
	debug.SetGCPercent(int(max(least, room*100/live)))
	debug.FreeOSMemory() // what loading left behind
}
