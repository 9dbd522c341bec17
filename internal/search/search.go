// Package search finds tools by the words of their names, taglines and reviews.
//
// It is a room of its own so that the website and the API look in one index and
// find the same. The index is made for one catalogue and never changes: searching
// needs no lock, and a new publication gets a new one. It is an inverted index held
// in a few flat slices (a posting is five bytes), because a map of lists would weigh
// more than the texts. Everything that ranks a posting is settled when it is built,
// so that a query only adds up.
//
// Readers are forgiven much: case and accents never matter, forms of a French word
// are one word, the last word may be unfinished, and a word that nobody wrote is
// taken for the ones it resembles. What they wrote exactly still comes first.
package search

import (
	"math/bits"
	"sync"

	"palmares/internal/catalog"
)

// The limits of a query. What goes beyond is not looked at: a longer one is no
// question, and an answer must cost milliseconds whatever was sent.
const (
	maxQuery = 512 // bytes
	maxWords = 12
)

// An Index finds the tools of one catalogue. Build and Names make it; after that
// nothing changes it, and any number of goroutines may search.
type Index struct {
	tools []catalog.Tool

	surfaces lexicon  // words as they are written, folded
	termOf   []uint32 // by surface, the term it is a form of
	stems    lexicon  // by term, what its forms have in common
	inName   []bool   // by term, whether a tool's name has it, or a former one

	// The postings of term t are those from start[t] to before start[t+1].
	start  []uint32
	docs   []uint32 // the tool; ascending within a term
	weight []uint8  // what the term is worth in that tool, see weights

	names    lexicon  // the keys of all names, former ones too
	nameOf   []uint32 // by key, its tool
	nameEnds []uint64 // by key, where its words end

	favour []float32 // by tool, the factor that breaks near ties

	workspaces sync.Pool // of *workspace
}

// A Query asks for a part of the tools that match a text, the best first.
type Query struct {
	Text          string
	Offset, Limit int

	// Keep, unless nil, leaves out the tools (indexes in the catalogue) for which
	// it says false. It may be called for many.
	Keep func(tool int) bool
}

// A Result is the part that was asked for.
type Result struct {
	Hits  []Hit
	Total int // how many there are in all, kept ones only

	// Partial says that no tool has all the words; the hits have the most of them.
	Partial bool
}

// A Hit is a tool that matches. Scores compare hits of one query, no more; a hit
// whose name is, begins with or stands within the query comes before others
// whatever its score.
type Hit struct {
	Tool  int // index in the catalogue
	Score float64
}

// Search finds the tools that match a query. The order is total and the same on
// every node: by how the name matches, then by score, then by slug.
func (x *Index) Search(q Query) Result {
	w := x.workspaces.Get().(*workspace)
	defer x.workspaces.Put(w)
	m := x.match(w, q.Text)
	w.keys = w.keys[:0]
	for i := range w.score {
		if m.has(w, i) && (q.Keep == nil || q.Keep(i)) {
			w.keys = append(w.keys, sortKey(w.level[i], x.rating(w, i), i))
		}
	}
	r := Result{Total: len(w.keys), Partial: m.partial && len(w.keys) > 0}
	first := min(max(q.Offset, 0), r.Total)
	last := first + min(max(q.Limit, 0), r.Total-first)
	for _, key := range best(w.keys, last)[first:] {
		i := toolOf(key)
		r.Hits = append(r.Hits, Hit{Tool: i, Score: float64(x.rating(w, i))})
	}
	return r
}

// Matches finds the tools that match a text, for whoever lists them in an order
// of their own: bit i%64 of word i/64 is set when tool i does. Partial is as in
// Result.
func (x *Index) Matches(text string) (set []uint64, partial bool) {
	w := x.workspaces.Get().(*workspace)
	defer x.workspaces.Put(w)
	m := x.match(w, text)
	set = make([]uint64, (len(x.tools)+63)/64)
	for i := range w.score {
		if m.has(w, i) {
			set[i/64] |= 1 << (i % 64)
			partial = m.partial
		}
	}
	return set, partial
}

// A workspace is what one search needs, by tool. It is kept between searches
// because making it anew would be most of the work.
type workspace struct {
	score []float32
	found []uint16  // a bit for each word of the query that the tool has
	level []uint8   // how the name matches
	best  []float32 // of the word being looked for; zero between words

	words      []queryWord
	touched    []uint32 // tools that have the word being looked for
	keys       []uint64
	neighbours []neighbour
}

func (x *Index) newWorkspace() any {
	n := len(x.tools)
	return &workspace{
		score: make([]float32, n), found: make([]uint16, n), level: make([]uint8, n), best: make([]float32, n),
	}
}

// A matching says which tools match: those whose name does, and those that have
// enough of the words.
type matching struct {
	enough  int // words
	partial bool
}

func (m matching) has(w *workspace, i int) bool {
	return w.level[i] > 0 || m.enough > 0 && bits.OnesCount16(w.found[i]) >= m.enough
}

// match looks for all words. Only when no tool has them all are words suspected
// that the catalogue knows; and if that leads nowhere either, most of them will do.
func (x *Index) match(w *workspace, text string) matching {
	text = cut(text, maxQuery)
	clear(w.level)
	x.matchNamesWithin(w, text)
	named := x.matchNames(w, text)
	x.parse(w, text)
	all := len(w.words)
	most := x.matchWords(w, false)
	if most == all || named {
		return matching{enough: all}
	}
	if x.suspect(w) {
		if x.matchWords(w, true) == all {
			return matching{enough: all}
		}
		x.matchWords(w, false)
	}
	return matching{enough: most, partial: true}
}

// matchWords adds up what each tool has of the words, and gives the largest
// number of words that one tool has.
func (x *Index) matchWords(w *workspace, guessing bool) int {
	clear(w.score)
	clear(w.found)
	for i := range w.words {
		terms := w.words[i].terms
		if guessing && w.words[i].guesses != nil {
			terms = w.words[i].guesses
		}
		x.add(w, terms, 1<<i)
	}
	most := 0
	for _, found := range w.found {
		most = max(most, bits.OnesCount16(found))
	}
	return most
}
