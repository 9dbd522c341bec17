package search

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// phrases are words that mean something else together than apart: a « compte rendu » is
// neither an account nor a rendering. Stop words between them are left out. What follows
// an equals sign means the same, what follows a tilde is evoked by it. A word with a star may stand
// for the phrase; others do so only in a catalogue that never uses it. Phrases are indexed
// wherever they occur; any other two words of a query simply add up.
//
//go:embed phrases.txt
var phrases string

// phraseTable finds phrases by the stems of their words.
type phraseTable struct {
	first, second map[string]uint16 // number of a stem, from 1
	joined        map[[2]uint16]string
	meanings      map[string]meaning // by phrase
}

// A meaning is what a phrase stands for besides itself.
type meaning struct {
	same, evoked []string // phrases and words
	alone        []string // its words that have the meaning without the other
}

var phraseTables = sync.OnceValue(func() *phraseTable {
	t := &phraseTable{map[string]uint16{}, map[string]uint16{}, map[[2]uint16]string{}, map[string]meaning{}}
	s := newStemmer()
	for line := range strings.Lines(phrases) {
		parts := strings.Split(strings.TrimSpace(line), " ~ ")
		var same, evokes []string
		for _, part := range parts[1:] {
			evokes = append(evokes, t.add(s, part))
		}
		for part := range strings.SplitSeq(parts[0], " = ") {
			same = append(same, t.add(s, part))
		}
		for i, phrase := range same {
			m := t.meanings[phrase]
			m.same, m.evoked = slices.Concat(same[:i], same[i+1:]), evokes
			t.meanings[phrase] = m
		}
	}
	return t
})

// add adds a phrase as it is written in phrases, and returns it. A single word stays one.
func (t *phraseTable) add(s stemmer, text string) string {
	words := Words(text)
	phrase := strings.Join(words, " ")
	if len(words) != 2 {
		return phrase
	}
	number := func(of map[string]uint16, stem string) uint16 {
		if of[stem] == 0 {
			of[stem] = uint16(len(of) + 1)
		}
		return of[stem]
	}
	t.joined[[2]uint16{number(t.first, s.stem(words[0])), number(t.second, s.stem(words[1]))}] = phrase
	m := t.meanings[phrase]
	for i, word := range strings.Fields(text) {
		if strings.HasSuffix(word, "*") {
			m.alone = append(m.alone, words[i])
		}
	}
	t.meanings[phrase] = m
	return phrase
}

// find returns the phrase that two words form, or "".
func (t *phraseTable) find(s stemmer, first, second string) string {
	return t.joined[[2]uint16{t.first[s.stem(first)], t.second[s.stem(second)]}]
}

// readPhrase returns the phrase that begins with the first of the words of a query, and how
// many of them it has; one everyday word may be between: « sans savoir coder ».
func readPhrase(stem stemmer, words []string) (phrase string, length int) {
	for length = 2; length <= min(3, len(words)); length++ {
		phrase = phraseTables().find(stem, words[0], words[length-1])
		if phrase != "" {
			return phrase, length
		}
		if !fillers[words[length-1]] {
			break
		}
	}
	return "", 0
}

// phrase returns the word of a query that stands for a phrase: the phrase, what means the
// same, and at worst one of its words.
func (x *Index) phrase(stem stemmer, phrase string) queryWord {
	q := queryWord{text: phrase}
	add := func(word string, confidence float32) {
		if i, ok := x.stems.find(stem.stem(word)); ok {
			q.terms = append(q.terms, queryTerm{term: uint32(i), confidence: confidence, kin: confidence < exact})
		}
	}
	m := phraseTables().meanings[phrase]
	add(phrase, exact)
	for _, other := range m.same {
		add(other, related)
	}
	first, second, _ := strings.Cut(phrase, " ")
	q.terms = x.appendJoined(q.terms, first+second)
	if len(q.terms) == 0 {
		m.alone = []string{first, second}
	}
	for _, other := range m.evoked {
		add(other, evoked)
	}
	for _, word := range m.alone {
		add(word, partOfPhrase)
	}
	q.terms = compact(q.terms)
	return q
}
