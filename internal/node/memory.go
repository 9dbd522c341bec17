package node

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// LimitGarbage sets the garbage collection target, now and after every collection: there may be
// an eighth of what lives as garbage, or 64 MiB if that is more. The default, as much garbage
// as lives, would double the memory of a large catalogue for nothing, and collect that of a
// small one dozens of times a second.
func LimitGarbage() {
	const room = 64 << 20 // bytes
	debug.SetGCPercent(int(max(12, room*100/max(liveMemory(), 1))))
	type sentinel struct{ _ [16]byte }
	runtime.AddCleanup(new(sentinel), func(struct{}) { LimitGarbage() }, struct{}{})
}

// liveMemory returns how much memory was in use after the last garbage collection, the stacks of
// connections included.
func liveMemory() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() + sample[1].Value.Uint64()) //nolint:gosec // below 1<<63
}

// takeovers are how much of the memory of one version is needed while the next one is made beside
// it, in percent.
var takeovers = []struct {
	publication string
	percent     int64
}{
	{"a publication", 140},
	{"a publication that changes more than a quarter of the tools", 250},
}

// TooLarge says what will not fit into a limit, beside a version that takes live bytes; "" if
// everything will.
func TooLarge(live, limit int64) string {
	for _, next := range takeovers {
		needed := live * next.percent / 100
		if needed > limit {
			return fmt.Sprintf("%s may need %d MiB for a while, and the limit is %d MiB: "+
				"raise it (--memory, MemoryMax of systemd, the limits of the container)",
				next.publication, needed>>20, limit>>20)
		}
	}
	return ""
}
