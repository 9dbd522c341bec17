package search

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// A queryWord is a word that was asked for, and the terms it may stand for.
type queryWord struct {
	text      string
	terms     []queryTerm // what it is believed to stand for, by term
	guesses   []queryTerm // and what besides, should that lead nowhere
	open      bool        // somebody may still be typing it
	suspected bool        // its neighbours have been looked up
}

// The limits of what a word may stand for. A beginning of two letters is that of
// thousands of words; the most frequent of them lead to nearly all tools, in a
// time that stays short.
const (
	maxNeighbours      = 64
	maxPrefixPostings  = 400_000
	maxSuspected       = 4
	rarePerTool        = 20_000 // see rare
	shortestUnfinished = 2
)

// isOpen tells whether a text stops within a word.
func isOpen(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	k := fold(last).kind
	return k == letter || k == ignored
}

// parse splits a text into the words to look for, and finds their terms.
func (x *Index) parse(w *workspace, text string) {
	var words []string
	split := splitter{emit: func(word []byte, extra bool) {
		if !extra && !slices.Contains(words, string(word)) {
			words = append(words, string(word))
		}
	}}
	split.split(text)
	telling := slices.DeleteFunc(slices.Clone(words), isStop)
	open := isOpen(text) && len(words) > 0
	if len(telling) == 0 {
		telling = words
	} else {
		open = open && telling[len(telling)-1] == words[len(words)-1]
	}
	stem := newStemmer()
	w.words = w.words[:0]
	for i, word := range telling {
		last := i == len(telling)-1
		if len(w.words) == maxWords {
			break
		}
		q := queryWord{text: word, open: last && open && len(word) >= shortestUnfinished}
		if term, ok := x.term(stem, word); ok {
			q.terms = append(q.terms, queryTerm{term, written})
		} else if letters, digits, ok := cutDigits(word); ok && len(w.words)+1 < maxWords {
			w.words = append(w.words, x.word(stem, letters))
			q = x.word(stem, digits)
		}
		if i > 0 {
			q.terms = x.appendTied(q.terms, telling[i-1]+word)
		}
		if !last {
			q.terms = x.appendTied(q.terms, word+telling[i+1])
		}
		if q.open {
			q.terms = x.appendUnfinished(q.terms, word)
		}
		q.terms = tidy(q.terms)
		if x.rare(q.terms) {
			q.terms = x.neighbours(w, &q)
		}
		w.words = append(w.words, q)
	}
}

func (x *Index) word(stem stemmer, text string) queryWord {
	q := queryWord{text: text}
	if term, ok := x.term(stem, text); ok {
		q.terms = append(q.terms, queryTerm{term, written})
	}
	return q
}

// term finds the term of a word by its form or, for a form that nobody wrote, by
// its stem.
func (x *Index) term(stem stemmer, word string) (uint32, bool) {
	if i, ok := x.surfaces.find(word); ok {
		return x.termOf[i], true
	}
	i, ok := x.stems.find(stem.stem(word))
	return uint32(i), ok
}

// cutDigits splits words such as gpt4, which others write in two.
func cutDigits(word string) (letters, digits string, ok bool) {
	i := len(word)
	for i > 0 && isDigit(word[i-1]) {
		i--
	}
	return word[:i], word[i:], i > 0 && i < len(word)
}

func (x *Index) appendTied(terms []queryTerm, word string) []queryTerm {
	if i, ok := x.surfaces.find(word); ok {
		terms = append(terms, queryTerm{x.termOf[i], tied})
	}
	return terms
}

func (x *Index) appendUnfinished(terms []queryTerm, word string) []queryTerm {
	first, last := x.surfaces.prefixed(word)
	from := len(terms)
	for i := first; i < last; i++ {
		terms = append(terms, queryTerm{x.termOf[i], unfinished})
	}
	added := tidy(terms[from:])
	total := 0
	for _, t := range added {
		total += x.frequency(t.term)
	}
	if total > maxPrefixPostings {
		slices.SortFunc(added, func(a, b queryTerm) int {
			return cmp.Or(cmp.Compare(x.frequency(b.term), x.frequency(a.term)), cmp.Compare(a.term, b.term))
		})
		total = 0
		for i, t := range added {
			if total += x.frequency(t.term); total > maxPrefixPostings {
				added = added[:i]
				break
			}
		}
	}
	return terms[:from+len(added)]
}

// suspect guesses at the words that had no reason to be doubted. It tells whether
// that may help: not when a word stands for nothing even so.
func (x *Index) suspect(w *workspace) bool {
	for i := range w.words {
		if len(w.words[i].terms) == 0 {
			return false
		}
	}
	for i := range w.words {
		if q := &w.words[i]; !q.suspected {
			q.guesses = x.neighbours(w, q)
		}
	}
	return true
}

// neighbours gives, with the terms of a word, those of words that it may be a
// slip of: the nearest first and, of those, the ones that most tools have.
func (x *Index) neighbours(w *workspace, q *queryWord) []queryTerm {
	most := typos(len(q.text))
	doubted := 0
	for i := range w.words {
		if w.words[i].suspected {
			doubted++
		}
	}
	if most == 0 || doubted == maxSuspected {
		return q.terms
	}
	q.suspected = true
	w.neighbours = x.surfaces.near(q.text, most, q.open, w.neighbours[:0])
	slices.SortFunc(w.neighbours, func(a, b neighbour) int {
		return cmp.Or(
			cmp.Compare(slip(b), slip(a)),
			cmp.Compare(x.frequency(x.termOf[b.word]), x.frequency(x.termOf[a.word])),
			cmp.Compare(a.word, b.word),
		)
	})
	terms := slices.Clone(q.terms)
	for _, n := range w.neighbours[:min(len(w.neighbours), maxNeighbours)] {
		terms = append(terms, queryTerm{x.termOf[n.word], slip(n)})
	}
	return tidy(terms)
}

func slip(n neighbour) float32 {
	belief := float32(slipped)
	if n.distance > 1 {
		belief /= 2
	}
	if n.longer {
		belief /= 2
	}
	return belief
}

// rare tells whether the terms are so seldom used that they may be slips
// themselves: in few texts of a large catalogue, and in no name.
func (x *Index) rare(terms []queryTerm) bool {
	total := 0
	for _, t := range terms {
		if x.inName[t.term] {
			return false
		}
		total += x.frequency(t.term)
	}
	return total <= len(x.tools)/rarePerTool
}

// frequency is how many tools have a term.
func (x *Index) frequency(term uint32) int { return int(x.start[term+1] - x.start[term]) }

// tidy keeps the strongest belief in each term.
func tidy(terms []queryTerm) []queryTerm {
	slices.SortFunc(terms, func(a, b queryTerm) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(b.belief, a.belief))
	})
	return slices.CompactFunc(terms, func(a, b queryTerm) bool { return a.term == b.term })
}
