package catalog

import "math/bits"

// EditDistance returns how many letters have to be changed, added or left out to turn a
// into b, or a number above most.
func EditDistance(a, b string, most int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > most {
		return most + 1
	}
	// A letter that only one of them has costs a change; most slugs end here.
	inA, inB := letters(a), letters(b)
	if least := max(bits.OnesCount64(inA&^inB), bits.OnesCount64(inB&^inA)); least > most {
		return least
	}
	var short [MaxSlug + 1]int // spares an allocation for every slug
	row := short[:]
	if len(b) > MaxSlug {
		row = make([]int, len(b)+1)
	}
	row = row[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least > most {
			return least // it never falls again
		}
	}
	return row[len(b)]
}

// letters returns the set of bytes that a text has, of which some share a bit.
func letters(text string) (set uint64) {
	for i := range len(text) {
		set |= 1 << (text[i] % 64)
	}
	return set
}
