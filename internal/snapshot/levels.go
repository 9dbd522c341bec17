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

// figures are the values of one figure of all tools, numbered.
type figures struct {
	values []float64 // distinct, ascending
	number []int32   // by tool, of its value; -1 if there is none
}

// newFigures numbers the values of a figure, by tool; NaN means none.
func newFigures(all []float64) *figures {
	f := &figures{number: make([]int32, len(all))}
	seen := map[float64]int32{}
	for i, x := range all {
		if math.IsNaN(x) {
			f.number[i] = -1
			continue
		}
		n, known := seen[x]
		if !known {
			n = int32(len(f.values))
			seen[x] = n
			f.values = append(f.values, x)
		}
		f.number[i] = n
	}
	unsorted := slices.Clone(f.values)
	slices.Sort(f.values)
	rank := make([]int32, len(unsorted))
	for n, x := range unsorted {
		at, _ := slices.BinarySearch(f.values, x)
		rank[n] = int32(at)
	}
	for i, n := range f.number {
		if n >= 0 {
			f.number[i] = rank[n]
		}
	}
	return f
}

// sort returns a list of tools by their values, ascending, or descending if direction is
// negative; those without a value are last. Tools of one value stay in their order.
func (f *figures) sort(ids []int32, direction int) []int32 {
	next := make([]int, len(f.values)+1) // by number of a value: where its next tool goes
	place := func(n int32) int {
		switch {
		case n < 0:
			return len(f.values)
		case direction < 0:
			return len(f.values) - 1 - int(n)
		}
		return int(n)
	}
	for _, i := range ids {
		next[place(f.number[i])]++
	}
	start := 0
	for k, count := range next {
		next[k], start = start, start+count
	}
	sorted := make([]int32, len(ids))
	for _, i := range ids {
		at := &next[place(f.number[i])]
		sorted[*at] = i
		*at++
	}
	return sorted
}

// levels returns the levels of a list of tools.
func (f *figures) levels(ids []int32) levels {
	used := make([]bool, len(f.values))
	for _, i := range ids {
		if n := f.number[i]; n >= 0 {
			used[n] = true
		}
	}
	var l levels
	level := make([]int32, len(f.values)) // by number of a value
	for n, x := range f.values {
		if used[n] {
			level[n] = int32(len(l.values))
			l.values = append(l.values, x)
		}
	}
	if len(l.values) > maxLevels {
		l.raw = make([]float64, len(ids))
		for pos, i := range ids {
			l.raw[pos] = math.NaN()
			if f.number[i] >= 0 {
				l.raw[pos] = f.values[f.number[i]]
			}
		}
		return l
	}
	words := (len(ids) + 63) / 64
	all := make([]uint64, words*len(l.values))
	l.bits = make([][]uint64, len(l.values))
	for k := range l.bits {
		l.bits[k] = all[k*words : (k+1)*words : (k+1)*words]
	}
	for pos, i := range ids {
		if n := f.number[i]; n >= 0 {
			l.bits[level[n]][pos/64] |= 1 << (pos % 64)
		}
	}
	for k := len(l.values) - 2; k >= 0; k-- {
		for w, word := range l.bits[k+1] {
			l.bits[k][w] |= word
		}
	}
	l.ranks = make([][]int32, len(l.values))
	for k := range l.ranks {
		l.ranks[k] = rankBlocks(l.bits[k])
	}
	return l
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
