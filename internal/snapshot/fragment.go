package snapshot

import (
	"slices"

	"palmares/internal/wire"
)

// fragments holds rendered records in one block, so that a hundred thousand of
// them are three objects for the garbage collector.
type fragments struct {
	bytes   []byte
	ends    []int
	digests []wire.Digest
}

func newFragments(n int) fragments {
	return fragments{ends: make([]int, 0, n), digests: make([]wire.Digest, 0, n)}
}

func (f *fragments) add(item any) {
	start := len(f.bytes)
	f.bytes = wire.AppendJSON(f.bytes, item)
	f.ends = append(f.ends, len(f.bytes))
	f.digests = append(f.digests, wire.Sum(f.bytes[start:]))
}

// clip releases the unused capacity of the block.
func (f *fragments) clip() { f.bytes = slices.Clone(f.bytes) }

func (f *fragments) count() int32 { return int32(len(f.ends)) }

func (f *fragments) at(i int32) []byte {
	start := 0
	if i > 0 {
		start = f.ends[i-1]
	}
	return f.bytes[start:f.ends[i]:f.ends[i]]
}

func (f *fragments) body(i int32) wire.Body { return wire.NewBody(f.digests[i], f.at(i)) }
