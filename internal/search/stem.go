package search

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/french"
)

// elisions holds the words that lose their last letter before a vowel.
var elisions = set("l d j m t s n c qu jusqu lorsqu puisqu quoiqu presqu")

// stopWords are ignored, unless a query has no other words. The list is short on
// purpose: it omits words with another meaning in reviews (son, été, plus, sans),
// and "ai", which is English for IA.
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

// isStop reports whether a word is too common to be looked up. Single letters are
// remainders of elisions and abbreviations.
func isStop(word string) bool {
	return stopWords[word] || len(word) == 1 && !isDigit(word[0])
}

// restored holds endings whose accents the stemmer needs. Most exist only with the
// accent; the last is ambiguous, but « générez » is more common in taglines than
// « vous gagnerez » in reviews.
var restored = []struct{ folded, accented string }{
	{"ees", "ées"},
	{"ee", "ée"},
	{"ieres", "ières"},
	{"iere", "ière"},
	{"erez", "érez"},
}

// irregular holds the stems of words that the stemmer takes for another: « compta » is
// short for comptabilité, not a form of compter, and « conversion » no « conversation ».
var irregular = map[string]string{
	"compta": "comptabilit", "math": "math", "maths": "math", "conversion": "conversion", "conversions": "conversion",
}

// A stemmer reduces words to their stems. It works on folded words, because queries
// must find the same with and without accents; accents that the Snowball stemmer
// needs are restored first.
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
	if stem, ok := irregular[word]; ok {
		return stem
	}
	base := word
	// The Snowball stemmer keeps the s of vidéos, logos and menus, because of words
	// such as avis, whose singular ends in s. Those may lose it here.
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
	// It does not handle most plurals in x.
	for _, plural := range [...]string{"eux", "oux", "aux"} {
		if strings.HasSuffix(stem, plural) && len(stem) > len(plural) {
			stem = stem[:len(stem)-1]
		}
	}
	return unaccent.Replace(stem)
}

// unaccent removes the accents of restored endings that are still in the stem.
var unaccent = strings.NewReplacer("é", "e", "è", "e")
