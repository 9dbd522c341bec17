package search

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/french"
)

// elisions are the words that lose their last letter before a vowel.
var elisions = set("l d j m t s n c qu jusqu lorsqu puisqu quoiqu presqu")

// stopWords are not looked for, unless a query has no other. The list is short on
// purpose: it leaves out what is also a word of the trade (son, été, plus, sans)
// and the English for IA.
var stopWords = set(`au aux avec car ce ces cet cette comme dans de des donc dont du elle elles en est et il
	ils je la le les leur leurs mais ne ni nos notre nous ou par pour qu que qui quoi sa se ses sont sur tu un
	une vos votre vous`)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

// isStop tells whether a word says too little to be looked for. Single letters
// are what elisions and abbreviations leave behind.
func isStop(word string) bool {
	return stopWords[word] || len(word) == 1 && !isDigit(word[0])
}

// restored are endings that lost an accent by which the stemmer knows them. Most
// exist with the accent only; the last is ambiguous, but taglines say « générez »
// more often than reviews say « vous gagnerez ».
var restored = []struct{ folded, accented string }{
	{"ees", "ées"},
	{"ee", "ée"},
	{"ieres", "ières"},
	{"iere", "ière"},
	{"erez", "érez"},
}

// A stemmer reduces words to what their forms have in common. It works on folded
// words, because a reader who types no accents must find the same as one who does;
// where the stemmer would need an accent it is put back first.
type stemmer struct{ env *snowballstem.Env }

func newStemmer() stemmer { return stemmer{snowballstem.NewEnv("")} }

func (s stemmer) stem(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word // version numbers and other alphabets have no French endings
		}
	}
	base := word
	// The stemmer keeps the s of vidéos, logos and menus, for the sake of words
	// such as avis that are the same in the singular and lose nothing by it.
	if n := len(base); n > 3 && base[n-1] == 's' && strings.IndexByte("aiou", base[n-2]) >= 0 {
		base = base[:n-1]
	}
	for _, ending := range restored {
		if before, ok := strings.CutSuffix(base, ending.folded); ok {
			base = before + ending.accented
			break
		}
	}
	s.env.SetCurrent(base)
	french.Stem(s.env)
	stem := s.env.Current()
	// Nor does it know the plurals in x, but for those in aux.
	for _, plural := range [...]string{"eux", "oux", "aux"} {
		if strings.HasSuffix(stem, plural) && len(stem) > len(plural) {
			stem = stem[:len(stem)-1]
		}
	}
	return unaccent.Replace(stem)
}

// unaccent undoes what restored did, where the stemmer left it.
var unaccent = strings.NewReplacer("é", "e", "è", "e")
