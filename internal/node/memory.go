package node

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// A Memory keeps garbage within bounds while a catalogue is loaded or published. The
// zero value is ready for use.
type Memory struct {
	mu      sync.Mutex
	running int  // works that were announced
	loads   int  // how many of these load a catalogue
	watched bool // the target follows what lives
}

// Begin announces work that needs much memory for a while. The target of a small
// catalogue, several times the live heap, would let its garbage grow to gigabytes.
func (m *Memory) Begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running++
	m.tune()
	m.watch()
}

// BeginLoad is Begin for loading a catalogue: most of what is allocated stays, and
// collecting garbage often would only take time.
func (m *Memory) BeginLoad() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running++
	m.loads++
	if before := debug.SetGCPercent(100); before < 100 {
		debug.SetGCPercent(before)
	}
}

// EndLoad ends what BeginLoad began.
func (m *Memory) EndLoad() {
	m.mu.Lock()
	m.loads--
	m.mu.Unlock()
	m.End()
}

// End ends what Begin began.
func (m *Memory) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running--; m.running > 0 {
		return
	}
	runtime.GC()
	m.tune()
	debug.FreeOSMemory() // the garbage of loading
	m.watch()
}

// tune sets the garbage collection target. During a publication, most of what is allocated
// is garbage soon: it is collected once there is as much of it as lives, or a quarter of
// what lives if that is much.
func (m *Memory) tune() {
	switch m.running {
	case 0:
		tuneMemory()
		return
	case m.loads:
		return
	}
	const much = 128 << 20 // bytes
	debug.SetGCPercent(int(max(leastGarbage, min(100, leastGarbage*much/max(liveMemory(), 1)))))
}

// watch has the target set again after every garbage collection: work that was announced
// needs more and more memory, and thousands of requests that wait may take more than a
// small catalogue, and must not multiply the garbage.
func (m *Memory) watch() {
	if !m.watched {
		m.watched = true
		m.watchNext()
	}
}

func (m *Memory) watchNext() {
	type sentinel struct{ _ [16]byte }
	runtime.AddCleanup(new(sentinel), func(m *Memory) {
		m.mu.Lock()
		m.tune()
		m.mu.Unlock()
		m.watchNext()
	}, m)
}

// leastGarbage is, in percent of what lives, how much garbage there may always be.
const leastGarbage = 25

// tuneMemory sets the garbage collection target. What lives is the catalogue, and
// connections with their stacks; garbage is the small allocations of requests. The default,
// as much garbage as lives, would double the memory of a large catalogue for nothing, and
// collect a small one dozens of times a second.
func tuneMemory() {
	const room = 64 << 20 // bytes, for a small one
	debug.SetGCPercent(int(max(leastGarbage, room*100/max(liveMemory(), 1))))
}

// liveMemory returns how much memory was in use after the last garbage collection.
func liveMemory() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() + sample[1].Value.Uint64()) //nolint:gosec // below 1<<63
}

// Takeover is how much of the memory of one version is needed while the next one is made beside
// it, in percent.
const Takeover = 140

var takeovers = []struct {
	publication string
	percent     int64
}{
	{"a publication", Takeover},
	{"a publication that changes more than a quarter of the tools", 250},
}
