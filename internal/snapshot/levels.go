package snapshot

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// maxLevels bounds the bitmaps kept for one figure. Scores with one decimal
// have 101 values; a figure with more values than this is compared item by item
// instead, which is slower but needs no more memory.
const maxLevels = 256

// levels answers "which positions of this list have a figure of at least x" with
// a bitmap that was prepared: one per value that occurs, each holding the
// positions whose figure is that value or more.
type levels struct {
	values []float64  // that occur, ascending
	bits   [][]uint64 // by value; nil when there are too many values
	ranks  [][]int32  // by value: how many bits are set before each block, and in all
	raw    []float64  // by position, NaN where there is none; only without bits
}

func newLevels(ids []int32, figure func(id int32) (float64, bool)) levels {
	raw := make([]float64, len(ids))
	var values []float64
	seen := map[float64]bool{}
	for pos, id := range ids {
		x, ok := figure(id)
		if !ok {
			raw[pos] = math.NaN()
			continue
		}
		raw[pos] = x
		if !seen[x] {
			seen[x] = true
			values = append(values, x)
		}
	}
	slices.Sort(values)
	if len(values) > maxLevels {
		return levels{values: values, raw: raw}
	}
	words := (len(ids) + 63) / 64
	sets := make([][]uint64, len(values))
	index := make(map[float64]int, len(values))
	for k, x := range values {
		sets[k] = make([]uint64, words)
		index[x] = k
	}
	for pos, x := range raw {
		if x == x { // not NaN
			sets[index[x]][pos/64] |= 1 << (pos % 64)
		}
	}
	for k := len(values) - 2; k >= 0; k-- {
		for w := range sets[k] {
			sets[k][w] |= sets[k+1][w]
		}
	}
	ranks := make([][]int32, len(values))
	for k := range ranks {
		ranks[k] = rankBlocks(sets[k])
	}
	return levels{values: values, bits: sets, ranks: ranks}
}

// blockWords is how many words have one rank: few enough to walk through, many
// enough that the ranks take little room.
const blockWords = 16

func rankBlocks(words []uint64) []int32 {
	ranks := make([]int32, 1, len(words)/blockWords+2)
	n := int32(0)
	for w, word := range words {
		n += int32(bits.OnesCount64(word))
		if w%blockWords == blockWords-1 || w == len(words)-1 {
			ranks = append(ranks, n)
		}
	}
	return ranks
}

// A cut is one threshold laid over a list.
type cut struct {
	bits  []uint64
	ranks []int32
	raw   []float64
	min   float64
	none  bool // nothing reaches the threshold
}

func (l *levels) atLeast(x float64) cut {
	k := sort.SearchFloat64s(l.values, x)
	if k == len(l.values) {
		return cut{none: true}
	}
	if l.bits == nil {
		return cut{raw: l.raw, min: x}
	}
	return cut{bits: l.bits[k], ranks: l.ranks[k]}
}

// word gives the bits of the 64 positions from 64*w on.
func (c *cut) word(w int) uint64 {
	if c.raw == nil {
		return c.bits[w]
	}
	var word uint64
	for i, x := range c.raw[64*w : min(64*w+64, len(c.raw))] {
		if x >= c.min {
			word |= 1 << i
		}
	}
	return word
}
