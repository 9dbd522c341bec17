package search

import (
	"runtime"
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
	order := make([]int32, len(words))
	for i := range order {
		order[i] = int32(^i)
	}
	return new(lexicon).merge(order, words)
}

// sharedPrefix returns the length of the prefix that two words share, at most 255.
func sharedPrefix(a, b string) uint8 {
	n := 0
	for n < min(len(a), len(b), 255) && a[n] == b[n] {
		n++
	}
	return uint8(n)
}

// merge returns a lexicon with words of l and others. The order holds, by index of the new
// lexicon, the index in l, or ^k for the k-th of the others, see mergedOrder.
func (l *lexicon) merge(order []int32, others []string) lexicon {
	size := len(l.text)
	for _, word := range others {
		size += len(word)
	}
	var text strings.Builder
	text.Grow(size)
	merged := lexicon{ends: make([]uint32, len(order)), shared: make([]uint8, len(order))}
	before := ""
	for i, from := range order {
		if i%(1<<14) == 0 {
			runtime.Gosched()
		}
		var word string
		if from >= 0 {
			word = l.at(int(from))
		} else {
			word = others[^from]
		}
		merged.shared[i] = sharedPrefix(before, word)
		text.WriteString(word)
		merged.ends[i] = uint32(text.Len())
		before = word
	}
	merged.text = text.String()
	return merged
}

// places returns where words that are not in l belong: the index of what follows.
func (l *lexicon) places(words []string) []int {
	places := make([]int, len(words))
	for i, word := range words {
		places[i], _ = l.find(word)
	}
	return places
}

// mergedOrder returns the order of a sorted list that keeps some of n elements and gets
// others: the index of one that is kept, or ^k for the k-th of the others, which goes
// before the element places[k].
func mergedOrder(n int, keep func(int) bool, places []int) []int32 {
	order := make([]int32, 0, n+len(places))
	other := 0
	for i := range n + 1 {
		for other < len(places) && places[other] == i {
			order = append(order, int32(^other))
			other++
		}
		if i < n && keep(i) {
			order = append(order, int32(i))
		}
	}
	return order
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
