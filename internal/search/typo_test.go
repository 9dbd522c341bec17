package search

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// distance computes the number of typos naively, with the whole table.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j], d[i][j-1], d[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func TestNeighboursAreExactlyTheWordsWithinTheDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{1,9}`)
		words := rapid.SliceOf(word).Draw(t, "words")
		slices.Sort(words)
		words = slices.Compact(words)
		asked := rapid.OneOf(word, rapid.StringMatching(`[abc]{40}`)).Draw(t, "asked")
		most := rapid.IntRange(1, 2).Draw(t, "most")
		open := rapid.Bool().Draw(t, "open")

		var want []neighbour
		for i, w := range words {
			if d := distance(asked, w); d <= most {
				want = append(want, neighbour{i, uint8(d), false})
				continue
			}
			least := most + 1
			for end := range len(w) {
				least = min(least, distance(asked, w[:end]))
			}
			if open && least <= most {
				want = append(want, neighbour{i, uint8(least), true})
			}
		}
		l := newLexicon(words)
		got := l.near(asked, most, open, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("near %q of %q: got %v, want %v", asked, words, got, want)
		}
	})
}
