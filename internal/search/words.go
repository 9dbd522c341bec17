package search

import (
	"slices"
	"strings"
)

// words numbers words in order of appearance.
type words struct {
	numbers map[string]uint32
	list    []string
}

func newWords() words { return words{numbers: map[string]uint32{}} }

// number returns the number of a word, which is new if it is the former length of the list.
func (w *words) number(word []byte) uint32 {
	number, ok := w.numbers[string(word)]
	if !ok {
		number = uint32(len(w.list))
		w.list = append(w.list, string(word))
		w.numbers[w.list[number]] = number
	}
	return number
}

// sortedOrder returns the indexes of words in the order of the words, those of equal words in
// ascending order.
func sortedOrder(words []string) []uint32 {
	order := make([]uint32, len(words))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return strings.Compare(words[a], words[b]) })
	return order
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// wordsOf yields where the words of a text begin and end.
func wordsOf(text string) func(yield func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		start := -1
		for i, r := range text {
			switch k := fold(r).kind; {
			case k == letter || k == ignored:
				if start < 0 {
					start = i
				}
			case start >= 0:
				if !yield(start, i) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(start, len(text))
		}
	}
}
