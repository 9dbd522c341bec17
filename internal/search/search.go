// Package search finds tools by the words of their names, categories, taglines and
// reviews.
//
// The index of a catalogue is immutable: searching needs no lock, and a new
// publication gets a new index, which Next makes from the previous one. It is an
// inverted index in a few flat slices (a posting takes five bytes), because a map of
// lists would take more memory than the texts. The weight of a posting is computed when the index is built, so that
// a query only adds weights.
//
// Queries are matched leniently: case and accents are ignored, the forms of a
// French word are one word, its family counts nearly as much, everyday words count
// little, the last word may be unfinished, and an unknown word stands for similar ones.
// Exact matches come first. What a query says about prices is a constraint.
package search

import (
	"math"
	"slices"
)

// A Query selects a part of the tools that match a text, best first.
type Query struct {
	Text          string
	Offset, Limit int

	// Verbatim searches for the words as they are typed: similar ones do not count.
	Verbatim bool

	// Known are names that the catalogue does not have, whose words are typed as they are meant.
	Known []string

	// Constraints hold for every hit. With constraints, a Text that is empty or says nothing
	// matches every tool.
	Constraints []Constraint

	// Near drops the tools that rank far below the best, for callers that sort the others
	// differently.
	Near bool

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

	// Suggestion is the text that was searched for instead, if that of the query has a word that
	// the catalogue does not know.
	Suggestion string
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
	r := x.collectMeant(w, q)
	first := min(max(q.Offset, 0), r.Total)
	last := first + min(max(q.Limit, 0), r.Total-first)
	for _, key := range best(w.keys, last)[first:] {
		i := toolOf(key)
		r.Hits = append(r.Hits, Hit{Tool: i, Score: float64(w.score[i])})
	}
	return r
}

// Matches returns the set of tools that match a query, for callers that sort them
// differently: bit i%64 of word i/64 is set if tool i matches. The result has no hits.
func (x *Index) Matches(q Query) (set []uint64, r Result) {
	w := x.workspaces.Get().(*workspace)
	defer x.workspaces.Put(w)
	r = x.collectMeant(w, q)
	set = make([]uint64, (len(x.tools)+63)/64)
	for _, key := range w.keys {
		i := toolOf(key)
		set[i/64] |= 1 << (i % 64)
	}
	return set, r
}

// collectMeant sets the keys of the tools that match what is meant by a query: the suggestion, if
// there is one, so that whoever searches for that finds the same. There is none if another tool has
// a similar name: that one may be meant as well.
func (x *Index) collectMeant(w *workspace, q Query) Result {
	r := x.collect(w, q)
	meant := x.suggest(w, q.Text, best(w.keys, min(maxSpelling, r.Total)))
	if meant == "" {
		return r
	}
	named := x.similarlyNamed(w, best(w.keys, min(maxNamed, r.Total)))
	r = x.collect(w, Query{
		Text: meant, Verbatim: true, Constraints: q.Constraints, Near: q.Near, Keep: q.Keep, Known: q.Known,
	})
	isFound := func(tool int) bool {
		return slices.ContainsFunc(w.keys, func(key uint64) bool { return toolOf(key) == tool })
	}
	for _, tool := range named {
		if !isFound(tool) {
			return x.collect(w, q)
		}
	}
	r.Suggestion = meant
	return r
}

// collect sets the keys of all tools that match a query, in no order: those of the query without its
// filter that the filter keeps, so that filters narrow a search, or else what matches best among what
// it keeps.
func (x *Index) collect(w *workspace, q Query) Result {
	keep := q.Keep
	if keep == nil {
		return x.collectAll(w, q)
	}
	q.Keep = nil
	r := x.collectAll(w, q)
	w.keys = slices.DeleteFunc(w.keys, func(key uint64) bool { return !keep(toolOf(key)) })
	r.Total = len(w.keys)
	if r.Total == 0 {
		q.Keep = keep
		return x.collectAll(w, q)
	}
	return r
}

// collectAll sets the keys of all tools that match a query, which a filter may restrict from the
// start.
func (x *Index) collectAll(w *workspace, q Query) Result {
	w.query = q
	x.bar(w)
	m := x.match(w)
	w.keys = w.keys[:0]
	for _, tool := range w.candidates {
		if i := int(tool); m.has(w, i) {
			w.score[i] *= x.boost[i]
			w.keys = append(w.keys, sortKey(w.level[i], w.score[i], i))
		}
	}
	if !m.everything {
		x.weighCategories(w)
	}
	w.query = Query{} // workspaces outlive what Keep refers to
	return Result{Total: len(w.keys), Partial: m.partial && len(w.keys) > 0}
}

// A matching decides which tools match: those whose name does, those that have enough of
// the words, and those that rank as high although they have fewer. None matches that
// ranks far below the best, by a mention of a common word in passing.
type matching struct {
	enough     float32 // of w.weights; 0 if only names match
	rating     float32 // that makes up for missing words
	least      float32 // rating
	partial    bool
	everything bool // that the constraints allow
}

// has reports whether a candidate matches.
func (m *matching) has(w *workspace, i int) bool {
	if w.level[i] > 0 || m.everything {
		return true
	}
	rating := w.score[i]
	return m.enough > 0 && rating >= m.least && (rating >= m.rating || w.weights[w.found[i]] >= m.enough)
}

// match looks up all words. If no tool has them all, the tools with the most words match.
// « Un outil gratuit » means all free ones.
func (x *Index) match(w *workspace) matching {
	text := truncate(w.query.Text, maxQuery)
	w.preferFree = slices.ContainsFunc(w.query.Constraints, func(c Constraint) bool { return c.Pricing == "gratuit" })
	for _, tool := range w.named {
		w.level[tool] = 0
	}
	w.named = w.named[:0]
	x.namesWithin(text, func(tool uint32) { w.setLevel(tool, nameInQuery) })
	named := x.matchNames(w, text)
	x.parse(w, text)
	x.matchWords(w)
	most := x.dropExcluded(w)
	if len(w.query.Constraints) > 0 && !slices.ContainsFunc(w.words, func(q queryWord) bool { return !fillers[q.text] }) {
		x.rate(w, 0)
		isInstead := slices.ContainsFunc(w.query.Constraints, func(c Constraint) bool { return c.Instead != "" })
		for i := range x.tools {
			x.addCandidate(w, i)
			if isInstead && w.score[i] > 0 && x.tools[i].Score != nil { // as the page of alternatives
				w.score[i] += float32(*x.tools[i].Score) * 100
			}
		}
		return matching{everything: true}
	}
	if named {
		return x.matching(w, w.whole(), false)
	}
	return x.matching(w, most, most < w.whole())
}

// whole returns the weight of all words together.
func (w *workspace) whole() float32 { return w.weights[len(w.weights)-1] }

// allows reports whether the constraints and the filter of the query allow a tool.
func (x *Index) allows(w *workspace, i int) bool {
	return (len(w.barred) == 0 || w.barred[i/64]&(1<<(i%64)) == 0) &&
		x.meetsAll(i, w.query.Constraints) && (w.query.Keep == nil || w.query.Keep(i))
}

// dropExcluded drops the candidates that the query excludes, and returns how much of the
// query the best of the others has.
func (x *Index) dropExcluded(w *workspace) float32 {
	most := float32(0)
	kept := w.candidates[:0]
	for _, tool := range w.candidates {
		if x.allows(w, int(tool)) {
			kept = append(kept, tool)
			most = max(most, w.weights[w.found[tool]])
		} else {
			w.score[tool], w.found[tool] = 0, 0
		}
	}
	w.candidates = kept
	return most
}

// matching returns what matches if tools need that much of the query. One that has less
// matches if it ranks nearly as high as the best of those: a tagline that is about half
// of the query says more than a review that mentions all of it in passing.
func (x *Index) matching(w *workspace, enough float32, partial bool) matching {
	m := matching{enough: enough, rating: math.MaxFloat32, partial: partial}
	if best := x.rate(w, max(enough, 1e-6)); best > 0 {
		m.rating, m.least = best*makesUp, best*tooLow
		if w.query.Near {
			m.least = best * makesUp
		}
	}
	return m
}

// Parts of the best rating.
const (
	makesUp = 0.5  // for missing words
	tooLow  = 0.05 // to match at all
)

func (x *Index) matchWords(w *workspace) {
	for _, tool := range w.candidates {
		w.score[tool], w.found[tool] = 0, 0
	}
	w.candidates = w.candidates[:0]
	w.weights = append(w.weights[:0], 0)
	for i := range w.words {
		q := &w.words[i]
		weight := x.add(w, q, 1<<i)
		if q.filler {
			weight = 0
		}
		for _, others := range w.weights {
			w.weights = append(w.weights, others+weight)
		}
	}
}
