package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A kind says what a character does to the word it stands in.
type kind uint8

const (
	gap        kind = iota // ends a word
	letter                 // belongs to it, digits too
	ignored                // is as if it were not there: combining accents, soft hyphens
	hyphen                 // ends a word that goes on: vibe-coder is also vibecoder
	apostrophe             // as a hyphen, and what it follows may be elided: l’image
)

type folded struct {
	as   string // without case and accents; one character may become several
	kind kind
}

// foldedLatin spares the tables of Unicode to all that French and its neighbours
// are written with.
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

// undecomposed are letters that Unicode does not take apart but readers do.
var undecomposed = map[rune]string{
	'œ': "oe", 'æ': "ae", 'ß': "ss", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'ħ': "h", 'ı': "i", 'þ': "th", 'ŧ': "t",
}

// maxWord is the length in bytes at which words are cut, in the index and in
// queries alike, so that no text can make a word expensive. The longest word of
// French dictionaries has 25 letters.
const maxWord = 40

// A splitter cuts texts into folded words and hands each to emit, which must not
// keep it. Besides the words as they stand it finds the other ways to write them,
// as extras: "GPT-4" holds gpt, 4 and the extra gpt4; "gpt4" the extras gpt and 4.
type splitter struct {
	emit   func(word []byte, extra bool)
	part   []byte // the word being read
	joined []byte // the parts before it that hyphens tie to it
	parts  int
}

func (s *splitter) split(text string) {
	for _, r := range text {
		switch f := fold(r); f.kind {
		case letter:
			if len(s.part)+len(f.as) <= maxWord {
				s.part = append(s.part, f.as...)
			}
		case gap:
			s.end()
		case apostrophe:
			if elisions[string(s.part)] {
				s.part = s.part[:0]
				continue
			}
			s.endPart()
		case hyphen:
			s.endPart()
		}
	}
	s.end()
}

func (s *splitter) endPart() {
	if len(s.part) == 0 { // two signs in a row tie nothing
		s.endJoined()
		return
	}
	s.emit(s.part, false)
	for start, i := 0, 1; i <= len(s.part); i++ {
		if i == len(s.part) && start > 0 || i < len(s.part) && isDigit(s.part[i]) != isDigit(s.part[i-1]) {
			s.emit(s.part[start:i], true)
			start = i
		}
	}
	s.joined = append(s.joined, s.part...)
	s.parts++
	s.part = s.part[:0]
}

// endJoined gives what hyphens tied as one word. Dates and other figures are no
// words, and long chains are none that anybody writes in one.
func (s *splitter) endJoined() {
	if s.parts > 1 && s.parts <= 4 && len(s.joined) <= maxWord && !allDigits(s.joined) {
		s.emit(s.joined, true)
	}
	s.joined = s.joined[:0]
	s.parts = 0
}

func (s *splitter) end() {
	if len(s.part) > 0 {
		s.endPart()
	}
	if s.parts > 0 {
		s.endJoined()
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func allDigits(word []byte) bool {
	for _, b := range word {
		if !isDigit(b) {
			return false
		}
	}
	return true
}

// nameKey is a name, or a query taken as one, without anything that readers may
// write otherwise: case, accents, signs and the spaces between words. Bit i of
// ends is set when a word ends after i bytes. A name that is all signs stands
// for itself.
func nameKey(text string) (key string, ends uint64) {
	text = cut(text, maxQuery)
	var b strings.Builder
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

// keyWords are the words that the key of a text is made of.
func keyWords(text string) []string {
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		k := fold(r).kind
		return k != letter && k != ignored
	}) {
		if key, _ := nameKey(word); key != "" {
			words = append(words, key)
		}
	}
	return words
}

// cut shortens a text to at most n bytes, between characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
