package search

import (
	"container/heap"
	"math"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// A field is a part of a tool in which words are found.
type field int

const (
	inName  field = iota
	inAlias       // what the tool was called before
	inTagline
	inHeading
	inText
	fieldCount
)

// fields says what a word in each is worth, and how many words one usually has:
// in a longer one each says less. Worth is added up after each field has been
// saturated on its own, so that a review which repeats a word can never weigh as
// much as a name. The usual lengths are given rather than measured, so that what
// a tool is worth does not change when another is published.
var fields = [fieldCount]struct{ worth, usual float64 }{
	inName:    {20, 2},
	inAlias:   {14, 2},
	inTagline: {4, 10},
	inHeading: {2, 12},
	inText:    {1, 300},
}

// BM25's constants: how soon repetition stops to count, how much length does.
const (
	saturation   = 1.2
	lengthMatter = 0.5
)

// saturated gives the part, from 0 to 1, of a field's worth that a word has which
// occurs count times among length words.
func saturated(f field, count, length int) float64 {
	norm := saturation * (1 - lengthMatter + lengthMatter*float64(length)/fields[f].usual)
	return float64(count) / (float64(count) + norm)
}

// Weights are stored in a byte, on a square scale: what a word is worth in a
// review must still be told apart, and a name is worth many times that.
var (
	maxWeight = fields[inName].worth + fields[inAlias].worth + fields[inTagline].worth + fields[inHeading].worth + fields[inText].worth
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

// favourOf is the light preference among tools that match alike: tested ones,
// and those that did well.
func favourOf(t *catalog.Tool) float32 {
	if t.Score == nil {
		return 1
	}
	return float32(1.02 + *t.Score*0.003)
}

// rating is what orders the tools of one level. A name may match without any word
// of it (as one letter does); the preference counts then too.
func (x *Index) rating(w *workspace, tool int) float32 {
	return (w.score[tool] + 0.1) * x.favour[tool]
}

// How much a word is believed to be the one that was meant.
const (
	written    = 1.0
	tied       = 0.9 // with its neighbour: "chat gpt" for chatgpt
	unfinished = 0.5
	slipped    = 0.4 // halved for a second slip, and when unfinished besides
)

// A queryTerm is a term that a word of a query may stand for.
type queryTerm struct {
	term   uint32
	belief float32
}

// add credits every tool that has one of the terms with the best of them, and
// with the bit of the word they stand for. A word is worth more the fewer tools
// have it, as in BM25.
func (x *Index) add(w *workspace, terms []queryTerm, bit uint16) {
	w.touched = w.touched[:0]
	for _, t := range terms {
		first, last := x.start[t.term], x.start[t.term+1]
		docs, weight := x.docs[first:last], x.weight[first:last]
		for k, doc := range docs {
			value := t.belief * weights[weight[k]]
			if before := w.best[doc]; before == 0 {
				w.touched = append(w.touched, doc)
				w.best[doc] = value
			} else if value > before {
				w.best[doc] = value
			}
		}
	}
	all, have := float64(len(x.tools)), float64(len(w.touched))
	rarity := float32(math.Log(1 + (all-have+0.5)/(have+0.5)))
	for _, doc := range w.touched {
		w.score[doc] += rarity * w.best[doc]
		w.found[doc] |= bit
		w.best[doc] = 0
	}
}

// The levels on which a name matches; those of a higher one come first.
const (
	nameWithin     = 1 + iota // the query has other words besides
	nameBegins                // in the middle of a word
	nameBeginsWord            // and a word ends there
	nameFolds                 // but for case, accents and signs it is the query
	nameIs
)

// matchNames finds the names that are or begin with the text, taken as one.
func (x *Index) matchNames(w *workspace, text string) bool {
	key, _ := nameKey(text)
	if key == "" {
		return false
	}
	open := isOpen(text)
	some := false
	first, last := x.names.prefixed(key)
	for i := first; i < last; i++ {
		level := uint8(nameBegins)
		switch tool := x.nameOf[i]; {
		case len(x.names.at(i)) == len(key) && strings.EqualFold(x.tools[tool].Name, strings.TrimSpace(text)):
			level = nameIs
		case len(x.names.at(i)) == len(key):
			level = nameFolds
		case len(key) < 64 && x.nameEnds[i]&(1<<len(key)) != 0:
			level = nameBeginsWord
		case !open:
			continue
		}
		w.level[x.nameOf[i]] = max(level, w.level[x.nameOf[i]])
		some = true
	}
	return some
}

// The limits of the names that are looked for within a query.
const (
	maxNameWords   = 6
	maxWordsWithin = 2 * maxWords // a name has words that are not looked for by themselves
)

// matchNamesWithin finds the names that the text has whole, among other words:
// who asks for the price of a tool means that tool, whether or not its review
// has the word. Where names overlap, the longest from the left is meant. What is
// a word of no use or a single letter elsewhere is not taken for a name.
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
				w.level[x.nameOf[at]] = nameWithin
			}
			i += n - 1
			break
		}
	}
}

// sortKey packs what orders a hit into a number that is larger the better it is:
// 4 bits of level, 28 of score, 32 for the slug, which is the order of the
// catalogue itself. A score is at most that of 12 words of weight 41 and rarity
// 15 (one tool in a million has them), which leaves steps of a 32,768th.
func sortKey(level uint8, score float32, tool int) uint64 {
	const steps = 1 << 15
	fixed := min(uint64(float64(score)*steps), 1<<28-1)
	return uint64(level)<<60 | fixed<<32 | uint64(math.MaxUint32-uint32(tool))
}

func toolOf(key uint64) int { return int(math.MaxUint32 - uint32(key)) }

// best gives the n largest keys, the largest first. It may reorder keys.
func best(keys []uint64, n int) []uint64 {
	if n < len(keys)/8 { // otherwise sorting all is as fast
		top := smallestFirst(keys[:n])
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

// smallestFirst is a heap of keys; only its order is ever needed.
type smallestFirst []uint64

func (s smallestFirst) Len() int           { return len(s) }
func (s smallestFirst) Less(i, j int) bool { return s[i] < s[j] }
func (s smallestFirst) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s smallestFirst) Push(any)           {}
func (s smallestFirst) Pop() any           { return nil }
