package search

import (
	"cmp"
	"slices"
	"sync"

	"palmares/internal/catalog"
)

// The limits of a query. The rest is ignored, so that every query takes
// milliseconds.
const (
	maxQuery = 512 // bytes
	maxWords = 12
)

// An Index is the search index of one catalogue, made by Build or Next. It is
// immutable and safe for concurrent use.
type Index struct {
	tools []*catalog.Tool

	forms  lexicon  // words as written, folded
	termOf []uint32 // by form, its term
	used   []uint32 // by form, how often it occurs
	stems  lexicon  // by term, the stem of its forms

	roots    lexicon  // of families of words
	kinStart []uint32 // the terms of root r are those in kin[kinStart[r]:kinStart[r+1]]
	kin      []uint32

	postings

	reviews    int      // tools that have one
	inHeadings []uint32 // by term, the number of reviews that have it in a heading

	names    lexicon  // keys of all names and former slugs
	nameOf   []uint32 // by key, its tool
	nameEnds []uint64 // by key, where its words end

	categories map[string]string // what is indexed of each, by slug
	labels     map[string]bool   // words of their labels
	slugs      []string          // of categories, sorted

	boost   []float32 // by tool, a factor that breaks near ties
	pricing []uint8   // by tool, see pricingNumber
	group   []uint16  // by tool, see groupOf
	monthly []float32 // by tool, euros; infinite if it depends on the use or is not public

	workspaces sync.Pool // of *workspace
}

// postings are lists of tools. Every term has two lists, see headList. The postings of
// list l are those in [start[l], start[l+1]).
type postings struct {
	start  []uint32
	docs   []uint32 // the tool; ascending within a list
	weight []uint8  // of the term in that tool, see weightScale
}

// newPostings returns room for lists of the given sizes.
func newPostings(sizes []uint32) postings {
	start := make([]uint32, len(sizes)+1)
	for l, size := range sizes {
		start[l+1] = start[l] + size
	}
	n := start[len(sizes)]
	return postings{start: start, docs: make([]uint32, n), weight: make([]uint8, n)}
}

func (x *Index) newWorkspace() any {
	n := len(x.tools)
	return &workspace{
		score: make([]float32, n), found: make([]uint16, n), level: make([]uint8, n), best: make([]float32, n),
	}
}

// A workspace holds the state of one search, by tool. Workspaces are pooled,
// because allocating one would be most of the work.
type workspace struct {
	score []float32 // then the rating, see rate
	found []uint16  // one bit per word of the query that the tool has
	level []uint8   // how the name matches
	best  []float32 // value of the current word; zero between words

	candidates []uint32 // tools that have a word, and later those that may match otherwise
	named      []uint32 // tools that have a level

	query      Query
	barred     []uint64 // a bit for each tool that the query excludes; empty if there are none
	preferFree bool     // to tools that have a free plan

	words      []queryWord
	weights    []float32 // by set of words, how much of the query they are
	touched    []uint32  // tools that have the current word
	keys       []uint64
	neighbours []neighbour
}

// A queryWord is a word of a query with the terms it may stand for.
type queryWord struct {
	text    string
	terms   []queryTerm // what it stands for, by term
	similar []string    // if the word is unknown, others that may be meant, best first
	filler  bool        // an everyday word, see fillers
	open    bool        // possibly unfinished
	guessed bool        // similar words have been looked up
}

// A queryTerm is a term that a word of a query may stand for.
type queryTerm struct {
	term       uint32
	confidence float32
	kin        bool // related or synonymous
}

// compact sorts terms and keeps the highest confidence of each.
func compact(terms []queryTerm) []queryTerm {
	slices.SortFunc(terms, func(a, b queryTerm) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(b.confidence, a.confidence))
	})
	return slices.CompactFunc(terms, func(a, b queryTerm) bool { return a.term == b.term })
}

// A neighbour is a word of a lexicon that is similar to a query word.
type neighbour struct {
	word     int   // its index in the lexicon
	distance uint8 // number of typos
	longer   bool  // only a prefix of it is similar
}
