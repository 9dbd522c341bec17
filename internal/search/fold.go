package search

import (
	"hash/crc32"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A kind is the role of a character in a word.
type kind uint8

const (
	gap        kind = iota // ends a word
	letter                 // part of a word; digits too
	ignored                // skipped: combining accents, soft hyphens
	hyphen                 // ends a part of a word: vibe-coder is also vibecoder
	apostrophe             // like a hyphen, except after an elided word: l’image
)

type folded struct {
	as   string // without case and accents; may be several characters
	kind kind
}

// foldedLatin is a table of the Latin characters, faster than those of Unicode.
var foldedLatin = func() (table [0x250]folded) {
	for r := range table {
		table[r] = foldAny(rune(r))
	}
	return table
}()

func fold(r rune) folded {
	if int(r) < len(foldedLatin) {
		return foldedLatin[r]
	}
	return foldAny(r)
}

func foldAny(r rune) folded {
	switch r {
	case '\'', '’', '‘', 'ʼ', '′', '`', '´', '＇':
		return folded{kind: apostrophe}
	case '-', '‐', '‑', '–', '.', '_':
		return folded{kind: hyphen}
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff': // soft hyphen, zero width
		return folded{kind: ignored}
	}
	switch {
	case unicode.Is(unicode.Mn, r):
		return folded{kind: ignored}
	case !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return folded{kind: gap}
	}
	var as []rune
	for _, part := range norm.NFKD.String(string(unicode.ToLower(r))) {
		switch {
		case undecomposed[part] != "":
			as = append(as, []rune(undecomposed[part])...)
		case unicode.IsLetter(part) || unicode.IsDigit(part):
			as = append(as, unicode.ToLower(part))
		}
	}
	if len(as) == 0 {
		return folded{kind: gap}
	}
	return folded{as: string(as), kind: letter}
}

// undecomposed holds letters that Unicode does not decompose but readers do.
var undecomposed = map[rune]string{
	'œ': "oe", 'æ': "ae", 'ß': "ss", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'ħ': "h", 'ı': "i", 'þ': "th", 'ŧ': "t",
}

// maxWord is the length in bytes at which words are truncated, both in the index
// and in queries, to limit the cost of a word. The longest word of French
// dictionaries has 25 letters.
const maxWord = 40

// A splitter splits texts into folded words and calls emit for each, which must not
// retain it. It also emits the other ways to write a word, as extras: "GPT-4" is
// gpt, 4 and the extra gpt4; "gpt4" has the extras gpt and 4.
type splitter struct {
	emit   func(word []byte, extra bool)
	part   [maxWord]byte // the current word
	length int
	digits bool   // it may have some
	joined []byte // the previous parts of a hyphenated word
	parts  int
}

func (s *splitter) split(text string) {
	s.add(text)
	s.end()
}

// add reads a part of a text: a word may go on in the next part.
func (s *splitter) add(text string) {
	for _, r := range text {
		if r >= 'a' && r <= 'z' { // most of them
			if s.length < maxWord {
				s.part[s.length] = byte(r)
				s.length++
			}
			continue
		}
		switch f := fold(r); f.kind {
		case letter:
			if s.length+len(f.as) <= maxWord {
				s.length += copy(s.part[s.length:], f.as)
				s.digits = s.digits || len(f.as) > 1 || isDigit(f.as[0])
			}
		case gap:
			s.end()
		case apostrophe:
			if elisions[string(s.part[:s.length])] {
				s.length = 0
				continue
			}
			s.endPart()
		case hyphen:
			s.endPart()
		}
	}
}

func (s *splitter) endPart() {
	if s.length == 0 { // two hyphens in a row join nothing
		s.endJoined()
		return
	}
	part := s.part[:s.length]
	s.emitPart(part)
	s.joined = append(s.joined, part...)
	s.parts++
	s.length = 0
}

// emitPart emits a word, and its letters and digits apart.
func (s *splitter) emitPart(part []byte) {
	s.emit(part, false)
	if !s.digits {
		return
	}
	s.digits = false
	for start, i := 0, 1; i <= len(part); i++ {
		if i == len(part) && start > 0 || i < len(part) && isDigit(part[i]) != isDigit(part[i-1]) {
			s.emit(part[start:i], true)
			start = i
		}
	}
}

// endJoined emits the parts of a hyphenated word as one word, except numbers such
// as dates, and long chains, which nobody writes as one word.
func (s *splitter) endJoined() {
	isLetter := func(b byte) bool { return !isDigit(b) }
	if s.parts > 1 && s.parts <= 4 && len(s.joined) <= maxWord && slices.ContainsFunc(s.joined, isLetter) {
		s.emit(s.joined, true)
	}
	s.joined = s.joined[:0]
	s.parts = 0
}

func (s *splitter) end() {
	switch {
	case s.parts > 0:
		if s.length > 0 {
			s.endPart()
		}
		s.endJoined()
	case s.length > 0: // most words have no hyphen
		s.emitPart(s.part[:s.length])
		s.length = 0
	}
}

// nameKey returns the key of a name, or of a query compared with names: the text
// without case, accents, punctuation and spaces. Bit i of ends is set if a word
// ends after i bytes. A name without letters is its own key.
func nameKey(text string) (key string, ends uint64) {
	text = truncate(text, maxQuery)
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch f := fold(r); f.kind {
		case letter:
			b.WriteString(f.as)
		case ignored:
		default:
			ends |= 1 << min(b.Len(), 63)
		}
	}
	if b.Len() == 0 {
		return strings.ToLower(strings.TrimSpace(text)), 0
	}
	return b.String(), ends
}

// Key returns what names are compared by: a text without case, accents, punctuation and spaces.
func Key(name string) string {
	key, _ := nameKey(name)
	return key
}

// Names are keys of names, in which those that are one typo away are found.
type Names struct{ keys lexicon }

// NewNames returns the keys that are long enough to be recognized with a typo.
func NewNames(keys []string) Names {
	long := slices.DeleteFunc(keys, func(key string) bool { return maxTypos(len(key)) == 0 || len(key) > maxWord })
	slices.Sort(long)
	return Names{newLexicon(long)}
}

// Near returns the keys that are one typo away from another.
func (n *Names) Near(key string) (near []string) {
	if maxTypos(len(key)) == 0 || len(key) > maxWord {
		return nil
	}
	for _, found := range n.keys.near(key, 1, false, nil) {
		near = append(near, n.keys.at(found.word))
	}
	return near
}

// Roots returns the roots of the words of a text, as numbers, sorted: what Matcher looks for.
func Roots(text string) (roots []uint32) {
	stem := newStemmer()
	for _, word := range Words(text) {
		roots = append(roots, crc32.ChecksumIEEE([]byte(rootOf(stem.stem(word)))))
	}
	slices.Sort(roots)
	return slices.Clip(slices.Compact(roots))
}

// Matcher returns whether texts, such as a title, together have all words of a query that say something.
func Matcher(query string) func(texts ...[]uint32) bool {
	french, _, _ := translate(Words(truncate(query, maxQuery)))
	wanted := Roots(strings.Join(slices.DeleteFunc(french, func(word string) bool { return isStop(word) || fillers[word] }), " "))
	return func(texts ...[]uint32) bool {
		return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(root uint32) bool {
			return !slices.ContainsFunc(texts, func(roots []uint32) bool {
				_, found := slices.BinarySearch(roots, root)
				return found
			})
		})
	}
}

// NearNames returns the tools, most at most, whose names are written nearly like a text, the nearest
// first, and then those whose names begin like it.
func (x *Index) NearNames(text string, most int) (tools []int) {
	const begun = 3 // letters
	key, _ := nameKey(text)
	if len(key) < begun || len(key) > maxWord {
		return nil
	}
	add := func(tool int) {
		if len(tools) < most && !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	near := x.names.near(key, typoLimit, false, nil)
	slices.SortStableFunc(near, func(a, b neighbour) int { return int(a.distance) - int(b.distance) })
	for _, n := range near {
		add(int(x.nameOf[n.word]))
	}
	for length := len(key); length >= begun && len(tools) < most; length-- {
		first, end := x.names.prefixed(key[:length])
		for i := first; i < min(end, first+most); i++ {
			add(int(x.nameOf[i]))
		}
	}
	return tools
}

// Knows reports whether a word, as Words returns it, is in the index or an everyday word.
func (x *Index) Knows(word string) bool {
	stem := newStemmer()
	_, isIndexed := x.term(stem, word)
	return isIndexed || isOrdinary(stem, word)
}

// truncate shortens a text to at most n bytes, between characters.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Words returns the key of each word of a text: without case, accents and punctuation.
func Words(text string) (words []string) {
	for start, end := range wordsOf(text) {
		if key, _ := nameKey(text[start:end]); key != "" {
			words = append(words, key)
		}
	}
	return words
}
