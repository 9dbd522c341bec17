package search

import (
	_ "embed"
	"strings"
	"sync"
)

// maxTypos returns the number of typos allowed in a word of the given length in
// bytes. Short words have too many neighbours with another meaning.
func maxTypos(length int) int {
	switch {
	case length >= 8:
		return typoLimit
	case length >= 5:
		return 1
	}
	return 0
}

const typoLimit = 2

// isOrdinary reports whether a word is a French one that people type as they mean it, also
// if no tool has it.
func isOrdinary(stem stemmer, word string) bool {
	s := stem.stem(word)
	return isStop(word) || fillers[word] || ordinaryStems()[s] || kinTables().root[s] != ""
}

var ordinaryStems = sync.OnceValue(func() map[string]bool {
	stems := map[string]bool{}
	s := newStemmer()
	for word := range strings.FieldsSeq(ordinary) {
		stems[s.stem(word)] = true
	}
	for line := range strings.Lines(strings.ReplaceAll(synonyms, "~", "")) {
		for _, word := range Words(line) {
			stems[s.stem(word)] = true
		}
	}
	for _, word := range Words(phrases) {
		stems[s.stem(word)] = true
	}
	return stems
})

// ordinary are everyday words of French, and English ones that people use in searches, that are
// one or two letters away from others.
//
//go:embed ordinary.txt
var ordinary string

// variants returns how else an unknown word may have been meant, apart from typos: an elision
// without its apostrophe (dimages), a short word with two letters swapped (gtp), and other letters
// for the same sounds (foto).
func variants(word string) []string {
	var all []string
	for i := 1; i < len(word)-2 && i <= len("qu"); i++ {
		if elisions[word[:i]] && strings.IndexByte("aeiouhy", word[i]) >= 0 {
			all = append(all, word[i:])
		}
	}
	if len(word) == 3 || len(word) == 4 {
		for i := 1; i < len(word); i++ {
			all = append(all, word[:i-1]+word[i:i+1]+word[i-1:i]+word[i+1:])
		}
	}
	if len(word) < 3 {
		return nil
	}
	for _, s := range sounds {
		for _, other := range [...]string{strings.ReplaceAll(word, s[0], s[1]), strings.ReplaceAll(word, s[1], s[0])} {
			if other != word {
				all = append(all, other)
			}
		}
	}
	return all
}

// sounds are letters that sound alike.
var sounds = [...][2]string{
	{"f", "ph"}, {"k", "c"}, {"k", "qu"}, {"i", "y"}, {"t", "th"}, {"o", "au"}, {"o", "eau"}, {"an", "en"},
}

// states are those of the automaton of Wu and Manber, with transpositions added,
// after reading a prefix of a word: bit j of element e is set if the first j bytes
// of the query word can become that prefix with at most e typos. A word fits in 64
// bits.
type states [typoLimit + 1]uint64

// near appends to found the words of the lexicon that are within limit typos of
// word: an extra, missing or different byte, or two adjacent bytes transposed. If
// open is set, words with a similar prefix count too.
//
// The words are scanned in order, so that a shared prefix is compared once, and a
// prefix that is already too far away excludes all words that have it; skipping
// them costs reading one byte each. This needs no precomputed data, whereas a table
// of all deletions would take more memory than the postings.
func (l *lexicon) near(word string, limit int, open bool, found []neighbour) []neighbour {
	var (
		at    [256]uint64         // by byte, its positions in word: bit j+1 for index j
		after [maxWord + 2]states // after[d+1]: after d bytes; after[0] is zero
		begun [maxWord + 1]uint8  // by bytes read, the distance of the nearest prefix
		whole = uint64(1) << len(word)
		far   = uint8(limit + 1)
	)
	for j := range len(word) {
		at[word[j]] |= 2 << j
	}
	for e := range after[1] {
		after[1][e] = (2<<e - 1) & (whole<<1 - 1)
	}
	begun[0] = after[1].distance(whole, limit)
	depth := 0 // number of leading bytes already read for this word
	for i := 0; i < l.len(); {
		w := l.at(i)
		depth = min(depth, int(l.shared[i]))
		alive := true
		for alive && depth < len(w) {
			c := at[w[depth]]
			swapped := uint64(0)
			if depth > 0 {
				swapped = c << 1 & at[w[depth-1]]
			}
			next := &after[depth+2]
			next.advance(&after[depth+1], &after[depth], c, swapped, whole<<1-1)
			depth++
			alive = next[limit] != 0
			begun[depth] = min(begun[depth-1], next.distance(whole, limit))
		}
		if alive {
			if d := after[depth+1].distance(whole, limit); d < far {
				found = append(found, neighbour{i, d, false})
			} else if open && begun[depth] < far {
				found = append(found, neighbour{i, begun[depth], true})
			}
			i++
			continue
		}
		for first := true; i < l.len() && (first || int(l.shared[i]) >= depth); i++ {
			first = false
			if open && begun[depth] < far {
				found = append(found, neighbour{i, begun[depth], true})
			}
		}
	}
	return found
}

// advance sets s to the states after one more byte than last, which is one byte
// after before. c has the positions of that byte in the query word, and swapped
// those where it directly precedes the previous byte read.
func (s *states) advance(last, before *states, c, swapped, mask uint64) {
	s[0] = last[0] << 1 & c
	for e := 1; e < len(s); e++ {
		missing, other, extra := s[e-1]<<1, last[e-1]<<1, last[e-1]
		s[e] = (last[e]<<1&c | missing | other | extra | before[e-1]<<2&swapped) & mask
	}
}

// distance returns the smallest number of typos with which the whole query word is
// matched, or limit+1 if there is none.
func (s *states) distance(whole uint64, limit int) uint8 {
	for e := range limit + 1 {
		if s[e]&whole != 0 {
			return uint8(e)
		}
	}
	return uint8(limit + 1)
}
