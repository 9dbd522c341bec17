package search

import (
	"sort"
	"strings"
)

// A lexicon is a sorted list of words, kept as one text: a string header for each
// would cost more than the words themselves. A word is known by its place.
type lexicon struct {
	text   string
	ends   []uint32 // by place, where the word ends in the text
	shared []uint8  // by place, how many bytes the word begins with are those of the one before
}

// newLexicon keeps words, which are sorted and may repeat.
func newLexicon(words []string) lexicon {
	size := 0
	for _, word := range words {
		size += len(word)
	}
	var text strings.Builder
	text.Grow(size)
	l := lexicon{ends: make([]uint32, len(words)), shared: make([]uint8, len(words))}
	before := ""
	for i, word := range words {
		n := 0
		for n < min(len(before), len(word), 255) && before[n] == word[n] {
			n++
		}
		l.shared[i] = uint8(n)
		text.WriteString(word)
		l.ends[i] = uint32(text.Len())
		before = word
	}
	l.text = text.String()
	return l
}

func (l *lexicon) len() int { return len(l.ends) }

func (l *lexicon) at(i int) string {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]]
}

// find gives the first place of a word.
func (l *lexicon) find(word string) (int, bool) {
	i := sort.Search(l.len(), func(i int) bool { return l.at(i) >= word })
	return i, i < l.len() && l.at(i) == word
}

// prefixed gives the places, from first to before last, of the words that begin so.
func (l *lexicon) prefixed(prefix string) (first, last int) {
	first = sort.Search(l.len(), func(i int) bool { return l.at(i) >= prefix })
	last = first + sort.Search(l.len()-first, func(i int) bool { return !strings.HasPrefix(l.at(first+i), prefix) })
	return first, last
}
