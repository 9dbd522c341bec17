package evidence

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// A script is a text in the form in which quotations and pages are compared: white space is one space, and none
// beside punctuation and currencies; typographic quotes and dashes are plain; each number is one character, so that two
// texts are alike if only their numbers differ.
type script struct {
	source  string // the text itself, clean
	text    string
	at      []int32 // where each byte of text comes from in the source, and its end
	numbers []span  // in the source
}

// A span is a part of a text.
type span struct{ from, end int32 }

// placeholder stands for a number. It is for private use: clean texts do not have it.
const placeholder = '\ue000'

var (
	aNumber         = regexp.MustCompile(`^\p{Nd}+(?:(?:\s+|\s*[.,'‘’]\s*)\p{Nd}+)*`)
	besideSeparator = regexp.MustCompile(` ?([.,']) ?`)
	beforeDecimals  = regexp.MustCompile(`\.(\p{Nd}{2})$`)
)

// newScript returns the script of a clean text.
func newScript(source string) *script {
	s, text := &script{source: source}, make([]byte, 0, len(source))
	s.at = make([]int32, 0, len(source)+1)
	last, isGap := rune(0), false // white space came, and nothing since
	for from, size := 0, 0; from < len(source); from += size {
		var r rune
		r, size = utf8.DecodeRuneInString(source[from:])
		if unicode.IsDigit(r) {
			r, size = placeholder, len(aNumber.FindString(source[from:]))
			s.numbers = append(s.numbers, span{int32(from), int32(from + size)})
		}
		if r = plain(r); r == ' ' {
			isGap = true
			continue
		}
		if isGap && last != 0 && !isTight(last) && !isTight(r) {
			text = append(text, ' ')
		}
		text = utf8.AppendRune(text, r)
		for len(s.at) < len(text) {
			s.at = append(s.at, int32(from))
		}
		last, isGap = r, false
	}
	s.text, s.at = string(text), append(s.at, int32(len(source)))
	return s
}

// plain returns the character that stands for another one in scripts.
func plain(r rune) rune {
	switch {
	case r < utf8.RuneSelf && r != '\n':
		return r
	case unicode.IsSpace(r):
		return ' '
	case strings.ContainsRune("‘’‚‛‹›′ʼ", r):
		return '\''
	case unicode.In(r, unicode.Pi, unicode.Pf), r == '„':
		return '"'
	case unicode.Is(unicode.Pd, r), r == '−':
		return '-'
	}
	return r
}

// isTight reports whether white space beside a character does not count.
func isTight(r rune) bool { return unicode.IsPunct(r) || unicode.Is(unicode.Sc, r) }

// number returns the i-th number in the form in which two are compared: no spaces beside other separators, and a comma
// before two decimals.
func (s *script) number(i int) string {
	written := strings.Map(plain, s.source[s.numbers[i].from:s.numbers[i].end])
	written = besideSeparator.ReplaceAllString(oneLine(written), "$1")
	return beforeDecimals.ReplaceAllString(written, ",$1")
}

// all returns n numbers from the i-th one on.
func (s *script) all(i, n int) (list string) {
	for k := range n {
		list += s.number(i+k) + "\n"
	}
	return list
}

// isWord reports whether a character is part of a word or a number.
func isWord(r rune) bool {
	return r == placeholder || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// words returns the words of the source in a part of the text, as they stand there.
func (s *script) words(at, size int) string {
	return strings.TrimSpace(s.source[s.at[at]:s.at[at+size]])
}

// find looks for a quotation. found are the words that stand there, if they say more than the quotation: its own ones in
// several blocks, or those with other numbers. The result is "" if neither is there, or several other numbers. A word
// or a number at an end of the quotation must not go on in the text.
func (s *script) find(quotation string) (result, found string) {
	quote := newScript(clean(quotation))
	own, ways, other := quote.all(0, len(quote.numbers)), map[string]bool{}, 0
	begins, step := utf8.DecodeRuneInString(quote.text)
	ends, _ := utf8.DecodeLastRuneInString(quote.text)
	for at, number := 0, 0; step > 0; at += step {
		i := strings.Index(s.text[at:], quote.text)
		if i < 0 {
			break
		}
		number += strings.Count(s.text[at:at+i], string(placeholder))
		at += i
		before, _ := utf8.DecodeLastRuneInString(s.text[:at])
		after, _ := utf8.DecodeRuneInString(s.text[at+len(quote.text):])
		if goesOn := isWord(begins) && isWord(before) || isWord(ends) && isWord(after); !goesOn {
			numbers := s.all(number, len(quote.numbers))
			if numbers == own {
				if found = s.words(at, len(quote.text)); !strings.Contains(found, "\n") {
					found = ""
				}
				return catalog.Confirmed, found
			}
			if len(ways) < 2 {
				ways[numbers], other = true, at
			}
		}
		if begins == placeholder {
			number++
		}
	}
	if len(ways) == 1 {
		return catalog.Changed, s.words(other, len(quote.text))
	}
	return "", ""
}

// compare looks for a quotation in the text of a page. If it is not there, found is the passage that is most like it.
func (p *page) compare(quotation string) (result, found string) {
	if result, found = newScript(p.text).find(quotation); result == "" {
		result, found = catalog.Unreadable, nearest(p.text, quotation)
	}
	return result, strings.Clone(found) // without the page
}

// nearest returns the passage of a text that shares most words with a quotation, if it shares half of them.
func nearest(text, quotation string) string {
	const maxNear = 2 * catalog.MaxQuote // bytes from its first word of the quotation to the last one
	isBetween := func(r rune) bool { return !isWord(r) }
	wanted := slices.Compact(slices.Sorted(strings.FieldsFuncSeq(clean(quotation), isBetween)))
	last := slices.Repeat([]int{-2 * maxNear}, len(wanted)) // where each of them stood last
	best, needed, at := span{}, (len(wanted)+1)/2, 0
	for word := range strings.FieldsFuncSeq(text, isBetween) {
		at += strings.Index(text[at:], word) + len(word)
		i, ok := slices.BinarySearch(wanted, word)
		if !ok {
			continue
		}
		last[i] = at - len(word)
		first, shared := at, 0
		for _, from := range last {
			if at-from <= maxNear {
				first, shared = min(first, from), shared+1
			}
		}
		if shared >= needed {
			best, needed = span{int32(first), int32(at)}, shared+1
		}
	}
	from, to := blockAt(text, int(best.from), int(best.end))
	passage := text[max(from, int(best.from)-maxNear/4):min(to, int(best.end)+maxNear/4)]
	if best.end == 0 {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(passage, ""))
}

// blockAt returns the ends of the blocks around a part of a text.
func blockAt(text string, from, to int) (start, end int) {
	end = len(text)
	if i := strings.IndexByte(text[to:], '\n'); i >= 0 {
		end = to + i
	}
	return strings.LastIndexByte(text[:from], '\n') + 1, end
}
