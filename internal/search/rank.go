package search

import (
	"container/heap"
	"math"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// A field is an indexed part of a tool.
type field int

const (
	inName  field = iota
	inAlias       // a former slug
	inTagline
	inHeading
	inText
	fieldCount
)

// fields holds the weight of a word in each field, and the usual number of words:
// in a longer field each word counts less. Each field is saturated on its own
// before the weights are added, so that a review that repeats a word never counts
// as much as a name. The usual lengths are constants, not averages, so that the
// score of a tool does not change when another tool is published.
var fields = [fieldCount]struct{ weight, usual float64 }{
	inName:    {20, 2},
	inAlias:   {14, 2},
	inTagline: {4, 10},
	inHeading: {2, 12},
	inText:    {1, 300},
}

// The constants of BM25.
const (
	k1 = 1.2 // how quickly repetition saturates
	b  = 0.5 // how much the length matters
)

// saturated returns the part, from 0 to 1, of a field's weight for a word that
// occurs count times in a field of length words.
func saturated(f field, count, length int) float64 {
	norm := k1 * (1 - b + b*float64(length)/fields[f].usual)
	return float64(count) / (float64(count) + norm)
}

// Weights are stored in a byte, on a quadratic scale, which keeps small weights
// apart: a word in a name weighs many times one in a review.
var (
	maxWeight = fields[inName].weight + fields[inAlias].weight + fields[inTagline].weight + fields[inHeading].weight + fields[inText].weight
	weights   = func() (table [256]float32) {
		for b := range table {
			table[b] = float32(maxWeight * float64(b*b) / (255 * 255))
		}
		return table
	}()
)

func weightByte(weight float64) uint8 {
	return uint8(max(math.Round(255*math.Sqrt(weight/maxWeight)), 1))
}

// boostOf returns a slight preference for tested tools and high scores among tools
// that match equally well.
func boostOf(t *catalog.Tool) float32 {
	if t.Score == nil {
		return 1
	}
	return float32(1.02 + *t.Score*0.003)
}

// rating orders the tools of one level. The constant makes the boost count for tools
// that match by name only, such as by a single letter.
func (x *Index) rating(w *workspace, tool int) float32 {
	return (w.score[tool] + 0.1) * x.boost[tool]
}

// The confidence that a term is the one that was meant.
const (
	exact      = 1.0
	joined     = 0.9 // with the next word: "chat gpt" for chatgpt
	unfinished = 0.5
	mistyped   = 0.4 // halved for a second typo, and if also unfinished
)

// A queryTerm is a term that a word of a query may stand for.
type queryTerm struct {
	term       uint32
	confidence float32
}

// add adds the value of a word to every tool that has one of its terms (the best
// of them), and sets the bit of the word. A word counts more the fewer tools have
// it, as in BM25.
func (x *Index) add(w *workspace, terms []queryTerm, bit uint16) {
	w.touched = w.touched[:0]
	for _, t := range terms {
		first, end := x.start[t.term], x.start[t.term+1]
		docs, weight := x.docs[first:end], x.weight[first:end]
		for k, doc := range docs {
			value := t.confidence * weights[weight[k]]
			if before := w.best[doc]; before == 0 {
				w.touched = append(w.touched, doc)
				w.best[doc] = value
			} else if value > before {
				w.best[doc] = value
			}
		}
	}
	all, have := float64(len(x.tools)), float64(len(w.touched))
	idf := float32(math.Log(1 + (all-have+0.5)/(have+0.5)))
	for _, doc := range w.touched {
		w.score[doc] += idf * w.best[doc]
		w.found[doc] |= bit
		w.best[doc] = 0
	}
}

// The levels of a match by name; higher ones come first.
const (
	nameInQuery    = 1 + iota // the query contains the name
	namePrefix                // the name begins with the query
	nameWordPrefix            // the same, and a word ends there
	nameFolded                // equal, ignoring accents and punctuation
	nameEqual                 // equal, ignoring case
)

// matchNames sets the level of the names that equal or begin with the text, and
// reports whether there are any.
func (x *Index) matchNames(w *workspace, text string) bool {
	key, _ := nameKey(text)
	if key == "" {
		return false
	}
	open := isOpen(text)
	found := false
	first, end := x.names.prefixed(key)
	for i := first; i < end; i++ {
		level := uint8(namePrefix)
		switch tool := x.nameOf[i]; {
		case len(x.names.at(i)) == len(key) && strings.EqualFold(x.tools[tool].Name, strings.TrimSpace(text)):
			level = nameEqual
		case len(x.names.at(i)) == len(key):
			level = nameFolded
		case len(key) < 64 && x.nameEnds[i]&(1<<len(key)) != 0:
			level = nameWordPrefix
		case !open:
			continue
		}
		w.level[x.nameOf[i]] = max(level, w.level[x.nameOf[i]])
		found = true
	}
	return found
}

// The limits of the names looked up within a query.
const (
	maxNameWords   = 6
	maxWordsWithin = 2 * maxWords // more than maxWords, because stop words count here
)

// matchNamesWithin sets the level of the names that occur in the text among other
// words: a query for the price of a tool means that tool, whether or not its review
// has the word "price". Where names overlap, the longest one from the left counts.
// Stop words and single letters are not matched with names.
func (x *Index) matchNamesWithin(w *workspace, text string) {
	words := keyWords(text)
	words = words[:min(len(words), maxWordsWithin)]
	for i := 0; i < len(words); i++ {
		for n := min(maxNameWords, len(words)-i); n > 0; n-- {
			key := strings.Join(words[i:i+n], "")
			if len(key) < 2 || isStop(key) {
				continue
			}
			at, ok := x.names.find(key)
			if !ok {
				continue
			}
			for ; at < x.names.len() && x.names.at(at) == key; at++ {
				w.level[x.nameOf[at]] = nameInQuery
			}
			i += n - 1
			break
		}
	}
}

// sortKey packs the order of a hit into a number, larger for better hits: 4 bits of
// level, 28 of score, and 32 for the slug, which is the order of the catalogue. A
// score is at most that of 12 words of weight 41 and idf 15 (one tool in a million
// has them), which leaves steps of 1/32768.
func sortKey(level uint8, score float32, tool int) uint64 {
	const steps = 1 << 15
	fixed := min(uint64(float64(score)*steps), 1<<28-1)
	return uint64(level)<<60 | fixed<<32 | uint64(math.MaxUint32-uint32(tool))
}

func toolOf(key uint64) int { return int(math.MaxUint32 - uint32(key)) }

// best returns the n largest keys, in descending order. It may reorder keys.
func best(keys []uint64, n int) []uint64 {
	if n < len(keys)/8 { // otherwise sorting all of them is as fast
		top := minHeap(keys[:n])
		heap.Init(top)
		for _, key := range keys[n:] {
			if n > 0 && key > top[0] {
				top[0] = key
				heap.Fix(top, 0)
			}
		}
		keys = top
	}
	slices.Sort(keys)
	slices.Reverse(keys)
	return keys[:n]
}

// minHeap is a heap of constant size; Push and Pop are never called.
type minHeap []uint64

func (h minHeap) Len() int           { return len(h) }
func (h minHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h minHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h minHeap) Push(any)           {}
func (h minHeap) Pop() any           { return nil }
