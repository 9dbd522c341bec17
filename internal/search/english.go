package search

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// concepts are what people look for in a catalogue of tools: a line has French words, an equals
// sign, and how English says that, separated by commas.
//
//go:embed english.txt
var concepts string

// englishWords are function words and everyday words of requests in English. They match nothing, and
// tell that a request is in English.
var englishWords = set(`about after all also am an and any anything app apps are as at available be because been best better but by can could
	did do does doing each easy every for from get gets getting give go good great has have having help helps how i if in into is it
	its just know let like looking ll many me might more most much my myself need needs new not of one online onto or our out over own
	people please really recommend should so software solution solutions some something start step that the their them then there these
	they thing things this those through to tool tools top turn up use used useful using ve very want was way ways we were what when
	where which while who whole why will with within without would you your yours ai powered based`)

// determiners may be inside an expression: remove the background.
var determiners = set("the a an my our your his her their its some any this these those all")

// bothLanguages are words that French spells in the same way, with another meaning or none of its own.
// So are those of the French side of the concepts.
var bothLanguages = set(`on me or as but do plan plans table tables sort sale sales record sport post posts form sign mail mails chat coder
	script scripts label tag tags robot style production patient patients client clients message messages article articles possible
	image images question questions expert base son main fin pain car comment tire tour case or not top simple solution solutions
	lecture location sensible application applications source sources type types test tests format model tone note notes excel`)

// An englishTable translates words of requests.
type englishTable struct {
	french  map[string][]string // by the stems of English words
	longest int                 // words of an expression
	words   lexicon             // single English words
	both    map[string]bool     // words that French has as well
}

var englishTables = sync.OnceValue(func() *englishTable {
	t := &englishTable{french: map[string][]string{}, both: map[string]bool{}}
	s := newEnglishStemmer()
	var single []string
	for line := range strings.Lines(concepts) {
		french, expressions, _ := strings.Cut(line, " = ")
		meaning := Words(french)
		for _, word := range meaning {
			t.both[word] = true
		}
		for expression := range strings.SplitSeq(expressions, ",") {
			words := slices.DeleteFunc(Words(expression), func(word string) bool { return determiners[word] })
			if stems := s.stems(words); t.find(stems...) == nil {
				t.french[strings.Join(stems, " ")] = meaning
			}
			t.longest = max(t.longest, len(words))
			if len(words) == 1 {
				single = append(single, words[0])
			}
		}
	}
	slices.Sort(single)
	t.words = newLexicon(slices.Compact(single))
	return t
})

// An englishStemmer reduces English words to their stems.
type englishStemmer struct{ env *snowballstem.Env }

func newEnglishStemmer() englishStemmer { return englishStemmer{snowballstem.NewEnv("")} }

func (s englishStemmer) stems(words []string) []string {
	stems := make([]string, len(words))
	for i, word := range words {
		s.env.SetCurrent(word)
		english.Stem(s.env)
		stems[i] = s.env.Current()
	}
	return stems
}

// find returns what an expression means, by its stems; nil for nothing known.
func (t *englishTable) find(stems ...string) []string { return t.french[strings.Join(stems, " ")] }

// translate returns the words of a request in French, and by French word the English one that it
// stands for. Expressions are translated in any request, single words in one that is in English.
func translate(words []string) (french []string, typed map[string]string, isEnglish bool) {
	t, s := englishTables(), newEnglishStemmer()
	isEnglish = t.isEnglish(words, s.stems(words))
	if isEnglish {
		words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return determiners[word] })
	}
	stems := s.stems(words)
	typed = map[string]string{}
	for i := 0; i < len(words); {
		meaning, n := []string(nil), min(t.longest, len(words)-i)
		for ; n > 0 && meaning == nil; n-- {
			if n > 1 || isEnglish {
				meaning = t.find(stems[i : i+n]...)
			}
		}
		switch n++; {
		case meaning != nil && n == 1:
			typed[meaning[0]] = words[i]
		case meaning != nil:
		case isEnglish && (englishWords[words[i]] || len(words[i]) == 1):
			i++
			continue
		case isEnglish:
			meaning = t.nearest(s, words[i])
		default:
			meaning = words[i : i+1]
		}
		french = append(french, meaning...)
		i += n
	}
	return french, typed, isEnglish
}

// nearest returns the translation of a misspelt word, or the word.
func (t *englishTable) nearest(s englishStemmer, word string) []string {
	if len(word) > 5 && len(word) <= maxWord {
		if near := t.words.near(word, 1, false, nil); len(near) > 0 {
			return t.find(s.stems([]string{t.words.at(near[0].word)})...)
		}
	}
	return []string{word}
}

// isEnglish reports whether more words of a request are English than French.
func (t *englishTable) isEnglish(words, stems []string) bool {
	here, there := 0, 0
	stem := newStemmer()
	for i, word := range words {
		_, isConcept := t.words.find(word) // as it is written
		switch {
		case t.both[word] || bothLanguages[word] || len(word) == 1:
		case englishWords[word]:
			here++
		case stopWords[word] || fillers[word]:
			there++
		case t.find(stems[i]) != nil && (isConcept || !isOrdinary(stem, word)):
			here++
		}
	}
	return here > there
}
