package snapshot

import (
	"bytes"
	"runtime"
	"sync"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// A fragment is a rendered record.
type fragment struct {
	json   []byte
	digest wire.Digest
}

// newFragment renders a record, in the room of a buffer, which may be used again.
func newFragment(buffer []byte, item any) fragment {
	json := bytes.Clone(wire.AppendJSON(buffer[:0], item)) // without unused capacity
	return fragment{json, wire.Sum(json)}
}

func (f *fragment) body() wire.Body { return wire.NewBody(f.digest, f.json) }

// fragments are rendered records, or records that are rendered when somebody asks for them.
type fragments struct {
	made []fragment
	item func(i int32) any // of a record that is not made
}

// at returns the i-th fragment.
func (f *fragments) at(i int32) *fragment {
	if f.made == nil {
		one := newFragment(nil, f.item(i))
		return &one
	}
	return &f.made[i]
}

// render renders n records, on all cores.
func render(n int, item func(i int32) any) fragments {
	const least = 1_000 // records that are worth a goroutine
	parts := min(runtime.GOMAXPROCS(0), 1+n/least)
	all := make([]fragment, n)
	var wait sync.WaitGroup
	for k := range parts {
		wait.Go(func() {
			buffer := make([]byte, 0, 4<<10) // most records fit
			for i := n * k / parts; i < n*(k+1)/parts; i++ {
				all[i] = newFragment(buffer, item(int32(i)))
			}
		})
	}
	wait.Wait()
	return fragments{made: all}
}

// next returns the fragments of the list of n records that follows the list of f. Only fresh
// records are rendered.
func (f fragments) next(m *catalog.Step, n int, item func(i int32) any) fragments {
	if m.None() {
		return f
	}
	next := make([]fragment, n)
	for i, to := range m.Moved {
		if to >= 0 {
			next[to] = f.made[i]
		}
	}
	for _, i := range m.Fresh {
		next[i] = newFragment(nil, item(i))
	}
	return fragments{made: next}
}
