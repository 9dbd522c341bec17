package snapshot

import (
	"hash/maphash"

	"palmares/internal/catalog"
)

// A table finds records of a list by their keys. It holds indexes only, so that it takes a
// fraction of the memory of a map, and that of the next list is made from it by counting,
// without looking at keys.
type table struct {
	slots []int32 // index + 1; 0 if free; gone
	taken int     // slots that are not free
}

// gone marks the slot of a record that is no longer in the list: the search goes on.
const gone = -1

var tableSeed = maphash.MakeSeed()

// newTable returns a table of n records.
func newTable(n int, hash func(i int32) uint64) table {
	size := 8
	for size < n*3/2 {
		size *= 2
	}
	t := table{slots: make([]int32, size)}
	for i := range int32(n) {
		t.add(i, hash(i))
	}
	return t
}

func (t *table) add(i int32, hash uint64) {
	at := hash & uint64(len(t.slots)-1)
	for t.slots[at] != 0 {
		at = (at + 1) & uint64(len(t.slots)-1)
	}
	t.slots[at] = i + 1
	t.taken++
}

// find returns the index of the record with the given hash for which is returns true.
func (t *table) find(hash uint64, is func(i int32) bool) (int32, bool) {
	if t.slots == nil {
		return 0, false
	}
	for at := hash & uint64(len(t.slots)-1); ; at = (at + 1) & uint64(len(t.slots)-1) {
		switch i := t.slots[at]; {
		case i == 0:
			return 0, false
		case i != gone && is(i-1):
			return i - 1, true
		}
	}
}

// next returns the table of the list that follows that of t, of n records.
func (t *table) next(m *catalog.Moves, n int, hash func(i int32) uint64) table {
	if m.None() {
		return *t
	}
	if t.taken+len(m.Fresh) > len(t.slots)*3/4 {
		return newTable(n, hash)
	}
	next := table{slots: make([]int32, len(t.slots)), taken: t.taken}
	for at, i := range t.slots {
		if i > 0 {
			i = m.Moved[i-1] + 1
			if i == 0 {
				i = gone
			}
		}
		next.slots[at] = i
	}
	for _, i := range m.Fresh {
		next.add(i, hash(i))
	}
	return next
}

func hashOf(key string) uint64 { return maphash.String(tableSeed, key) }
