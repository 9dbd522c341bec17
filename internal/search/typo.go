package search

// typos says how many slips are forgiven in a word of that many bytes. Shorter
// words have too many neighbours that mean something else.
func typos(length int) int {
	switch {
	case length >= 8:
		return mostTypos
	case length >= 4:
		return 1
	}
	return 0
}

const mostTypos = 2

// A reach is all that is within so many slips of the beginning of a word that
// has been read: bit j of number e is set when the first j bytes of the word
// asked for can become that beginning by at most e slips. (This is the
// nondeterministic automaton of Wu and Manber, with exchanged neighbours added;
// a word fits in 64 bits.)
type reach [mostTypos + 1]uint64

// A neighbour is a word of a lexicon that is about the one asked for.
type neighbour struct {
	word     int   // its place in the lexicon
	distance uint8 // the slips between them
	longer   bool  // what was asked for is about how the word begins
}

// near collects the words of the lexicon at most most slips away from word: one
// byte too many, missing, or another, or two neighbours exchanged. With open, a
// word may also go on after what is near, as it does while somebody types.
//
// The words are walked in their order, so that what two of them share in the
// beginning is compared once, and a beginning that is already too far away takes
// all words that have it out of question; passing over those is reading the
// lengths they share, a byte each. Nothing has to be prepared for it, where a
// table of all deletions would need more memory than the postings.
func (l *lexicon) near(word string, most int, open bool, found []neighbour) []neighbour {
	var (
		at      [256]uint64        // by byte, where it stands in the word: bit j for the jth
		reached [maxWord + 2]reach // one more than the bytes read; the first is of none
		begun   [maxWord + 1]uint8 // by bytes read, the distance of the nearest beginning
		whole   = uint64(1) << len(word)
		far     = uint8(most + 1)
	)
	for j := range len(word) {
		at[word[j]] |= 2 << j
	}
	for e := range reached[1] {
		reached[1][e] = (2<<e - 1) & (whole<<1 - 1)
	}
	begun[0] = reached[1].distance(whole, most)
	depth := 0 // how many bytes of the word before are those of this one too
	for i := 0; i < l.len(); {
		w := l.at(i)
		depth = min(depth, int(l.shared[i]))
		alive := true
		for alive && depth < len(w) {
			c := at[w[depth]]
			exchanged := uint64(0)
			if depth > 0 {
				exchanged = c << 1 & at[w[depth-1]]
			}
			next := &reached[depth+2]
			next.read(&reached[depth+1], &reached[depth], c, exchanged, whole<<1-1)
			depth++
			alive = next[most] != 0
			begun[depth] = min(begun[depth-1], next.distance(whole, most))
		}
		if alive {
			if d := reached[depth+1].distance(whole, most); d < far {
				found = append(found, neighbour{i, d, false})
			} else if open && begun[depth] < far {
				found = append(found, neighbour{i, begun[depth], true})
			}
			i++
			continue
		}
		for first := true; i < l.len() && (first || int(l.shared[i]) >= depth); i++ {
			if first = false; open && begun[depth] < far {
				found = append(found, neighbour{i, begun[depth], true})
			}
		}
	}
	return found
}

// read makes r what is reached after one byte more than last, which in turn is
// one more than before; c says where that byte stands in the word, and exchanged
// where it stands before the byte that precedes it here.
func (r *reach) read(last, before *reach, c, exchanged, within uint64) {
	r[0] = last[0] << 1 & c
	for e := 1; e < len(r); e++ {
		missing, other, extra := r[e-1]<<1, last[e-1]<<1, last[e-1]
		r[e] = (last[e]<<1&c | missing | other | extra | before[e-1]<<2&exchanged) & within
	}
}

// distance is the least number of slips that reaches the whole word, one more
// than most when more are needed.
func (r *reach) distance(whole uint64, most int) uint8 {
	for e := range most + 1 {
		if r[e]&whole != 0 {
			return uint8(e)
		}
	}
	return uint8(most + 1)
}
