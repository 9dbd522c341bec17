// Package search finds tools by the words of their names, taglines and reviews.
//
// The index of a catalogue is immutable: searching needs no lock, and a new
// publication gets a new index. It is an inverted index in a few flat slices (a
// posting takes five bytes), because a map of lists would take more memory than
// the texts. The weight of a posting is computed when the index is built, so that
// a query only adds weights.
//
// Queries are matched leniently: case and accents are ignored, the forms of a
// French word are one word, the last word may be unfinished, and an unknown word
// stands for similar ones. Exact matches come first.
package search

import (
	"math/bits"
	"sync"

	"palmares/internal/catalog"
)

// The limits of a query. The rest is ignored, so that every query takes
// milliseconds.
const (
	maxQuery = 512 // bytes
	maxWords = 12
)

// An Index is the search index of one catalogue, made by Build. It is
// immutable and safe for concurrent use.
type Index struct {
	tools []catalog.Tool

	forms  lexicon  // words as written, folded
	termOf []uint32 // by form, its term
	stems  lexicon  // by term, the stem of its forms
	inName []bool   // by term, whether it is in the name or a former slug of a tool

	// The postings of term t are those in [start[t], start[t+1]).
	start  []uint32
	docs   []uint32 // the tool; ascending within a term
	weight []uint8  // of the term in that tool, see weights

	names    lexicon  // keys of all names and former slugs
	nameOf   []uint32 // by key, its tool
	nameEnds []uint64 // by key, where its words end

	boost []float32 // by tool, a factor that breaks near ties

	workspaces sync.Pool // of *workspace
}

// A Query selects a part of the tools that match a text, best first.
type Query struct {
	Text          string
	Offset, Limit int

	// Keep, if not nil, drops the tools (indexes in the catalogue) for which it
	// returns false. It may be called for many tools.
	Keep func(tool int) bool
}

// A Result is the selected part of the matching tools.
type Result struct {
	Hits  []Hit
	Total int // number of matching tools that Keep keeps

	// Partial is set if no tool has all the words. The hits are then the tools that
	// have the most of them.
	Partial bool
}

// A Hit is a tool that matches. Scores are comparable only within one query. A hit
// whose name equals the query, begins with it or occurs in it precedes others,
// whatever its score.
type Hit struct {
	Tool  int // index in the catalogue
	Score float64
}

// Search returns the tools that match a query. The order is total and the same on
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

// Matches returns the set of tools that match a text, for callers that sort them
// differently: bit i%64 of word i/64 is set if tool i matches. partial is that of
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

// A workspace holds the state of one search, by tool. Workspaces are pooled,
// because allocating one would be most of the work.
type workspace struct {
	score []float32
	found []uint16  // one bit per word of the query that the tool has
	level []uint8   // how the name matches
	best  []float32 // value of the current word; zero between words

	words      []queryWord
	touched    []uint32 // tools that have the current word
	keys       []uint64
	neighbours []neighbour
}

func (x *Index) newWorkspace() any {
	n := len(x.tools)
	return &workspace{
		score: make([]float32, n), found: make([]uint16, n), level: make([]uint8, n), best: make([]float32, n),
	}
}

// A matching decides which tools match: those whose name does, and those that have
// enough of the words.
type matching struct {
	enough  int // number of words; 0 if only names match
	partial bool
}

func (m matching) has(w *workspace, i int) bool {
	return w.level[i] > 0 || m.enough > 0 && bits.OnesCount16(w.found[i]) >= m.enough
}

// match looks up all words. If no tool has them all, it also tries similar words
// for the words that the catalogue knows; if that does not help, the tools with the
// most words match.
func (x *Index) match(w *workspace, text string) matching {
	text = truncate(text, maxQuery)
	clear(w.level)
	x.matchNamesWithin(w, text)
	named := x.matchNames(w, text)
	x.parse(w, text)
	all := len(w.words)
	most := x.matchWords(w, false)
	if most == all || named {
		return matching{enough: all}
	}
	if x.guess(w) {
		if x.matchWords(w, true) == all {
			return matching{enough: all}
		}
		x.matchWords(w, false)
	}
	return matching{enough: most, partial: true}
}

// matchWords computes the score of each tool and returns the largest number of
// words that one tool has.
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
