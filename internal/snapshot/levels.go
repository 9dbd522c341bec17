package snapshot

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// maxLevels limits the number of bitmaps of one figure. Scores with one decimal
// have 101 values; a figure with more values than maxLevels is compared item by
// item, which is slower but needs no more memory.
const maxLevels = 256

// levels finds the positions of a list whose figure is at least x. There is one
// precomputed bitmap per distinct value, of the positions whose figure is that
// value or more.
type levels struct {
	values []float64  // distinct, ascending
	bits   [][]uint64 // by value; nil if there are too many values
	ranks  [][]int32  // by value: number of bits set before each block, and in total
	raw    []float64  // by position, NaN if there is none; only if bits is nil
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

// blockWords is the number of words per rank: few enough to scan, and enough for
// the ranks to take little memory.
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

// A filter selects the positions of a list that reach a threshold.
type filter struct {
	bits  []uint64
	ranks []int32
	raw   []float64
	min   float64
	none  bool // nothing reaches the threshold
}

func (l *levels) atLeast(x float64) filter {
	k := sort.SearchFloat64s(l.values, x)
	if k == len(l.values) {
		return filter{none: true}
	}
	if l.bits == nil {
		return filter{raw: l.raw, min: x}
	}
	return filter{bits: l.bits[k], ranks: l.ranks[k]}
}

// word returns the bits of the 64 positions from 64*w.
func (c *filter) word(w int) uint64 {
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
