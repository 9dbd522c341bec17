package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of what a word may stand for. Thousands of words begin with the same
// two letters; the most frequent of them already match nearly all tools, and
// looking up only those stays fast.
const (
	maxNeighbours     = 64
	maxPrefixPostings = 400_000
	maxGuessed        = 4
	minPrefix         = 2
)

// isOpen reports whether a text ends within a word.
func isOpen(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	k := fold(last).kind
	return k == letter || k == ignored
}

// parse splits a text into words and looks up their terms.
func (x *Index) parse(w *workspace, text string) {
	var words []string
	split := splitter{emit: func(word []byte, extra bool) {
		if !extra && !slices.Contains(words, string(word)) {
			words = append(words, string(word))
		}
	}}
	split.split(question(text))
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	words, typed, isEnglish := translate(words)
	significant := slices.DeleteFunc(slices.Clone(words), isStop)
	open := isOpen(text) && len(words) > 0 && words[len(words)-1] == last
	if len(significant) == 0 {
		significant = words
	} else {
		open = open && significant[len(significant)-1] == words[len(words)-1]
	}
	stem := newStemmer()
	notFiller := func(word string) bool { return !fillers[word] }
	onlyFillers := !slices.ContainsFunc(significant, notFiller)
	if isThing := func(word string) bool { return things[word] }; onlyFillers &&
		slices.ContainsFunc(significant, isThing) {
		notFiller, onlyFillers = isThing, false
	}
	known := Words(strings.Join(w.query.Known, " "))
	w.words = w.words[:0]
	for i := 0; i < len(significant) && len(w.words) < maxWords; i++ {
		word, last := significant[i], i == len(significant)-1
		if phrase, length := readPhrase(stem, significant[i:]); phrase != "" {
			q := x.phrase(stem, phrase)
			q.terms = compact(x.appendJoined(q.terms, typed[word]))
			w.addWord(q)
			i += length - 1
			continue
		}
		q := queryWord{text: word, open: last && open && len(word) >= minPrefix, filler: !notFiller(word) && !onlyFillers}
		q.terms = x.appendJoined(q.terms, typed[word])
		if term, ok := x.term(stem, word); ok {
			q.terms = append(q.terms, queryTerm{term: term, confidence: exact})
		} else if letters, digits, ok := cutDigits(word); ok && len(w.words)+1 < maxWords {
			w.words = append(w.words, x.word(stem, letters))
			q = x.word(stem, digits)
		}
		if i > 0 {
			q.terms = x.appendJoined(q.terms, significant[i-1]+word)
		}
		if !last {
			q.terms = x.appendJoined(q.terms, word+significant[i+1])
		}
		if q.open {
			q.terms = x.appendPrefixed(q.terms, word)
		}
		q.terms = compact(x.appendKin(q.terms, stem, q.text))
		if len(q.terms) == 0 && !isEnglish && !isOrdinary(stem, q.text) && !slices.Contains(known, q.text) {
			before := ""
			if i > 0 {
				before = significant[i-1]
			}
			x.addSimilar(w, &q, before, stem)
		}
		w.addWord(q)
	}
}

// addWord adds a word to a query, unless an earlier one says the same: « local, sans
// internet » is one condition.
func (w *workspace) addWord(q queryWord) {
	for i := range w.words {
		if before := &w.words[i]; !q.filler && before.covers(&q) && q.covers(before) {
			before.terms = compact(append(before.terms, q.terms...))
			return
		}
	}
	w.words = append(w.words, q)
}

// covers reports whether a word stands for all that another one is, not only evokes it.
func (q *queryWord) covers(other *queryWord) bool {
	found := false
	for _, t := range other.terms {
		if t.confidence < related {
			continue
		}
		at, ok := slices.BinarySearchFunc(q.terms, t.term,
			func(a queryTerm, term uint32) int { return cmp.Compare(a.term, term) })
		if !ok || q.terms[at].confidence < synonymous {
			return false
		}
		found = true
	}
	return found
}

func (x *Index) word(stem stemmer, text string) queryWord {
	q := queryWord{text: text}
	if term, ok := x.term(stem, text); ok {
		q.terms = append(q.terms, queryTerm{term: term, confidence: exact})
	}
	return q
}

// term returns the term of a word, looked up by its form or, if that is unknown, by
// its stem.
func (x *Index) term(stem stemmer, word string) (uint32, bool) {
	if i, ok := x.forms.find(word); ok {
		return x.termOf[i], true
	}
	i, ok := x.stems.find(stem.stem(word))
	return uint32(i), ok
}

// cutDigits splits words such as gpt4, which are also written as two words.
func cutDigits(word string) (letters, digits string, ok bool) {
	i := len(word)
	for i > 0 && isDigit(word[i-1]) {
		i--
	}
	return word[:i], word[i:], i > 0 && i < len(word)
}

func (x *Index) appendJoined(terms []queryTerm, word string) []queryTerm {
	if i, ok := x.forms.find(word); ok {
		terms = append(terms, queryTerm{term: x.termOf[i], confidence: joined})
	}
	return terms
}

func (x *Index) appendPrefixed(terms []queryTerm, prefix string) []queryTerm {
	first, end := x.forms.prefixed(prefix)
	from := len(terms)
	for i := first; i < end; i++ {
		terms = append(terms, queryTerm{term: x.termOf[i], confidence: unfinished})
	}
	added := compact(terms[from:])
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
			total += x.frequency(t.term)
			if total > maxPrefixPostings {
				added = added[:i]
				break
			}
		}
	}
	return terms[:from+len(added)]
}

// addSimilar adds the terms of words that are similar to an unknown one, which comes after
// another word: the nearest ones and, among those, the most frequent. Unfinished words count only
// if no whole one does, so that what is searched for can be shown, and short ones only on their
// own. Without any, words count of which only the family occurs.
func (x *Index) addSimilar(w *workspace, q *queryWord, before string, stem stemmer) {
	allowed := maxTypos(len(q.text))
	guessed := 0
	for i := range w.words {
		if w.words[i].guessed {
			guessed++
		}
	}
	if w.query.Verbatim || guessed == maxGuessed {
		return
	}
	q.guessed = true
	w.neighbours = w.neighbours[:0]
	for _, word := range variants(q.text) {
		if form, ok := x.forms.find(word); ok {
			w.neighbours = append(w.neighbours, neighbour{word: form})
		} else if form, ok := x.forms.find(before + word); ok {
			q.similar = append(q.similar, word)
			q.terms = append(q.terms, queryTerm{term: x.termOf[form], confidence: mistyped})
		}
	}
	if allowed > 0 {
		w.neighbours = x.forms.near(q.text, allowed, q.open && (allowed > 1 || before == ""), w.neighbours)
	}
	isLonger := func(n neighbour) bool { return n.longer }
	if shorter := slices.DeleteFunc(slices.Clone(w.neighbours), isLonger); len(shorter) > 0 {
		w.neighbours = shorter
	}
	slices.SortFunc(w.neighbours, func(a, b neighbour) int {
		return cmp.Or(
			cmp.Compare(a.distance, b.distance),
			cmp.Compare(x.frequency(x.termOf[b.word]), x.frequency(x.termOf[a.word])),
			cmp.Compare(a.word, b.word),
		)
	})
	for i, n := range w.neighbours[:min(len(w.neighbours), maxNeighbours)] {
		if i < maxSimilar {
			q.similar = append(q.similar, x.forms.at(n.word))
		}
		q.terms = append(q.terms, queryTerm{term: x.termOf[n.word], confidence: confidence(n)})
	}
	if len(q.similar) == 0 {
		x.addSimilarKin(q, stem, allowed)
	}
	q.terms = compact(q.terms)
}

// addSimilarKin adds the families and synonyms of the words that are nearest to an unknown one.
func (x *Index) addSimilarKin(q *queryWord, stem stemmer, allowed int) {
	known := kinTables().words
	var near []neighbour
	for _, word := range variants(q.text) {
		if i, ok := known.find(word); ok {
			near = append(near, neighbour{word: i})
		}
	}
	for limit := 1; limit <= allowed && len(near) == 0; limit++ {
		near = known.near(q.text, limit, false, nil)
	}
	for _, n := range near {
		kin := x.appendKin(nil, stem, known.at(n.word))
		for i := range kin {
			kin[i].confidence *= mistyped
		}
		if len(kin) > 0 {
			q.similar, q.terms = append(q.similar, known.at(n.word)), append(q.terms, kin...)
		}
	}
}

func confidence(n neighbour) float32 {
	c := float32(mistyped)
	if n.distance > 1 {
		c /= 2
	}
	if n.longer {
		c /= 2
	}
	return c
}

// frequency returns the number of tools that have a term, those that have it in both
// lists twice.
func (x *Index) frequency(term uint32) int { return int(x.start[2*term+2] - x.start[2*term]) }
