package evidence

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"palmares/internal/catalog"
)

// A script is a text in the form in which quotations and pages are compared: white space is one space, and none
// beside punctuation; typographic quotes and dashes are plain; each number is one character, so that two texts
// are alike if only their numbers differ.
type script struct {
	source  string // the text itself, in NFKC
	text    string
	numbers []number // in the order of the text
}

// A number is digits with separators between them.
type number struct {
	at    int32  // in the text of the script
	from  int32  // in its source
	value string // as two numbers are compared: a comma before two decimals
}

// placeholder stands for a number. It is for private use: no page has it.
const placeholder = '\ue000'

var isNumber = regexp.MustCompile(`^\p{Nd}+(?:[\s.,'’]\s*\p{Nd}+)*`)

// newScript returns the script of a text.
func newScript(text string) *script {
	s := &script{source: norm.NFKC.String(text)}
	var b strings.Builder
	b.Grow(len(s.source))
	eachMark(s.source, func(mark rune, from, end int) bool {
		if mark == placeholder {
			s.numbers = append(s.numbers, number{int32(b.Len()), int32(from), numberValue(s.source[from:end])})
		}
		b.WriteRune(mark)
		return true
	})
	s.text = b.String()
	return s
}

// eachMark calls fn with each character of the script of a source and where it comes from, until fn returns false.
func eachMark(source string, fn func(mark rune, from, end int) bool) {
	last, gap := rune(0), false // gap: white space came, and nothing since
	for at := 0; at < len(source); {
		r, size := utf8.DecodeRuneInString(source[at:])
		if unicode.IsDigit(r) {
			r, size = placeholder, len(isNumber.FindString(source[at:]))
		} else {
			r = plain(r)
		}
		switch {
		case r == 0:
		case unicode.IsSpace(r):
			gap = true
		case gap && last != 0 && !isTight(last) && !isTight(r) && !fn(' ', at, at), !fn(r, at, at+size):
			return
		default:
			last, gap = r, false
		}
		at += size
	}
}

// plain returns the character that stands for another one in scripts; 0 for one that nobody sees.
func plain(r rune) rune {
	switch r {
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', placeholder:
		return 0
	case '‘', '’', '‚', '‛', '′', 'ʼ':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	}
	return r
}

// isTight reports whether white space beside a character does not count.
func isTight(r rune) bool { return unicode.IsPunct(r) || unicode.Is(unicode.Sc, r) }

// numberValue returns a number in the form in which two are compared.
func numberValue(written string) string {
	value := strings.Join(strings.Fields(strings.ReplaceAll(written, "’", "'")), " ")
	if n := len(value); n > 3 && value[n-3] == '.' {
		value = value[:n-3] + "," + value[n-2:]
	}
	return value
}

// A place is where a script has the words of a quotation: from its at-th byte to its end-th.
type place struct{ at, end int }

// places returns where a script has the words of a quotation, whatever numbers stand in the places of those of
// the quotation. A word at an end of the quotation must not go on in the text.
func (s *script) places(quote *script) (list []place) {
	begins, size := utf8.DecodeRuneInString(quote.text)
	ends, _ := utf8.DecodeLastRuneInString(quote.text)
	for from := 0; size > 0; {
		i := strings.Index(s.text[from:], quote.text)
		if i < 0 {
			break
		}
		at, end := from+i, from+i+len(quote.text)
		before, _ := utf8.DecodeLastRuneInString(s.text[:at])
		after, _ := utf8.DecodeRuneInString(s.text[end:])
		if !(isWord(begins) && isWord(before)) && !(isWord(ends) && isWord(after)) {
			list = append(list, place{at, end})
		}
		from = at + size
	}
	return list
}

// isWord reports whether a character is part of a word or a number.
func isWord(r rune) bool {
	return r == placeholder || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func isBetweenWords(r rune) bool { return !isWord(r) }

// values returns the numbers of a script in a place.
func (s *script) values(p place) (list []string) {
	first, _ := slices.BinarySearchFunc(s.numbers, p.at, func(n number, at int) int { return int(n.at) - at })
	for _, n := range s.numbers[first:] {
		if int(n.at) >= p.end {
			break
		}
		list = append(list, n.value)
	}
	return list
}

// words returns the words of the source in a place, as they stand there.
func (s *script) words(p place) string {
	from, to, n := -1, 0, 0
	eachMark(s.source, func(mark rune, begins, ends int) bool {
		if n >= p.at && from < 0 {
			from = begins
		}
		n += utf8.RuneLen(mark)
		to = ends
		return n < p.end
	})
	return s.source[max(from, 0):to]
}

// compare looks for a quotation in the text of a page. found are the words that stand there, if they say more than the
// quotation: its own ones in several blocks, those with other numbers, or the passage that is most like it.
func (p *page) compare(quotation string) (result, found string) {
	text, quote := newScript(p.text), newScript(quotation)
	own := quote.values(place{0, len(quote.text)})
	ways := map[string]place{}
	for _, place := range text.places(quote) {
		values := text.values(place)
		if !slices.Equal(values, own) {
			ways[strings.Join(values, "\n")] = place
			continue
		}
		found = text.words(place)
		if !strings.Contains(found, "\n") {
			found = ""
		}
		return catalog.Confirmed, found
	}
	if len(ways) == 1 {
		for _, place := range ways {
			return catalog.Changed, text.words(place)
		}
	}
	return catalog.Unreadable, nearest(p.text, quotation)
}

// nearest returns the lines of a text that share most words with a quotation, if they share half of them; "" if none
// do. As many lines are taken together as the quotation may be spread over.
func nearest(text, quotation string) (best string) {
	wanted := map[string]bool{}
	for _, word := range strings.FieldsFunc(quotation, isBetweenWords) {
		wanted[word] = true
	}
	lines, most := strings.Split(text, "\n"), len(wanted)/2
	for i := range lines {
		shared := map[string]bool{}
		for n := i; n < min(i+4, len(lines)); n++ {
			for _, word := range strings.FieldsFunc(lines[n], isBetweenWords) {
				if wanted[word] {
					shared[word] = true
				}
			}
			if passage := strings.Join(lines[i:n+1], "\n"); len(shared) > most && len(passage) <= 2*catalog.MaxQuote {
				best, most = passage, len(shared)
			}
		}
	}
	return best
}
