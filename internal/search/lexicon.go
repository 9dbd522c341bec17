package search

import (
	"sort"
	"strings"
)

// A lexicon is a sorted list of words, identified by their index. It is stored as
// one string, because a string header per word would take more memory than the
// words.
type lexicon struct {
	text   string
	ends   []uint32 // by index, where the word ends in text
	shared []uint8  // by index, length of the prefix shared with the previous word
}

// newLexicon returns a lexicon of words, which must be sorted and may repeat.
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

// find returns the first index of a word.
func (l *lexicon) find(word string) (int, bool) {
	i := sort.Search(l.len(), func(i int) bool { return l.at(i) >= word })
	return i, i < l.len() && l.at(i) == word
}

// prefixed returns the range [first, end) of the words with a prefix.
func (l *lexicon) prefixed(prefix string) (first, end int) {
	first = sort.Search(l.len(), func(i int) bool { return l.at(i) >= prefix })
	end = first + sort.Search(l.len()-first, func(i int) bool { return !strings.HasPrefix(l.at(first+i), prefix) })
	return first, end
}
