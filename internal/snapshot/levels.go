package snapshot

import (
	"maps"
	"math"
	"slices"
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
	raw    []float64  // by position, NaN if there is none; only if bits is nil
}

// newLevels returns the levels of a list of tools. The figures are by tool; NaN means none.
func newLevels(ids []int32, figures []float64) levels {
	distinct := map[float64]bool{}
	for _, i := range ids {
		if x := figures[i]; !math.IsNaN(x) {
			distinct[x] = true
		}
	}
	l := levels{values: slices.Sorted(maps.Keys(distinct))}
	if len(l.values) > maxLevels {
		l.raw = make([]float64, len(ids))
		for pos, i := range ids {
			l.raw[pos] = figures[i]
		}
		return l
	}
	l.bits = make([][]uint64, len(l.values))
	for k := range l.bits {
		l.bits[k] = make([]uint64, (len(ids)+63)/64)
	}
	for pos, i := range ids {
		if x := figures[i]; !math.IsNaN(x) {
			k, _ := slices.BinarySearch(l.values, x)
			l.bits[k][pos/64] |= 1 << (pos % 64)
		}
	}
	for k := len(l.values) - 2; k >= 0; k-- {
		for w, word := range l.bits[k+1] {
			l.bits[k][w] |= word
		}
	}
	return l
}

// A filter selects the positions of a list that reach a threshold.
type filter struct {
	bits []uint64
	raw  []float64
	min  float64
	none bool // nothing reaches the threshold
}

func (l levels) atLeast(x float64) filter {
	k, _ := slices.BinarySearch(l.values, x)
	if k == len(l.values) {
		return filter{none: true}
	}
	if l.bits == nil {
		return filter{raw: l.raw, min: x}
	}
	return filter{bits: l.bits[k]}
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
