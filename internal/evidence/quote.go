package evidence

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// A scan goes through a clean text and makes a script of it, the form in which quotations and pages are compared: white
// space is one space, and none beside punctuation and currencies; typographic quotes and dashes are plain; each number
// is one character, so that two scripts are alike if only numbers differ.
type scan struct {
	text      string
	last      rune // the last character of the script
	from, end int  // its place in the text
}

// aNumber stands for a number in scripts: clean texts do not have it.
const aNumber = '\x01'

var (
	digits          = regexp.MustCompile(`^\p{Nd}+(?:(?:\s+|\s*[.,'‘’٫٬]\s*)\p{Nd}+)*`)
	besideSeparator = regexp.MustCompile(` ?([.,']) ?`)
	beforeDecimals  = regexp.MustCompile(`\.(\p{Nd}{2})$`)
)

// next goes to the next character, and reports whether there is one.
func (s *scan) next() bool {
	isGap := false // white space came, and nothing since
	for at, size := s.end, 0; at < len(s.text); at += size {
		var r rune
		if r, size = utf8.DecodeRuneInString(s.text[at:]); unicode.IsDigit(r) { // nobody quotes a longer one
			r, size = aNumber, len(digits.FindString(s.text[at:min(at+catalog.MaxQuote, len(s.text))]))
		}
		if r = plain(r); r == ' ' {
			isGap = true
			continue
		}
		if isGap && s.last != 0 && !isTight(s.last) && !isTight(r) {
			s.last, s.from, s.end = ' ', s.end, at
		} else {
			s.last, s.from, s.end = r, at, at+size
		}
		return true
	}
	return false
}

// newScript returns the script of a clean text.
func newScript(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for s := (scan{text: text}); s.next(); {
		b.WriteRune(s.last)
	}
	return b.String()
}

// numbers returns the numbers of a clean text.
func numbers(text string) (list []string) {
	for s := (scan{text: text}); s.next(); {
		if s.last == aNumber {
			list = append(list, s.number())
		}
	}
	return list
}

// number returns the last number in the form in which two are compared: no spaces beside other separators, and a comma
// before two decimals.
func (s *scan) number() string {
	written := oneLine(strings.Map(plain, s.text[s.from:s.end]))
	return beforeDecimals.ReplaceAllString(besideSeparator.ReplaceAllString(written, "$1"), ",$1")
}

// seek goes on by a number of bytes of the script.
func (s *scan) seek(size int) {
	for ; size > 0 && s.next(); size -= utf8.RuneLen(s.last) {
	}
}

// plain returns the character that stands for another one in scripts.
func plain(r rune) rune {
	switch {
	case r < utf8.RuneSelf && r != '\n':
		return r
	case unicode.IsSpace(r):
		return ' '
	case strings.ContainsRune("‘’‚‛‹›′ʼ٬", r):
		return '\''
	case r == '٫':
		return ','
	case unicode.In(r, unicode.Pi, unicode.Pf), r == '„':
		return '"'
	case unicode.Is(unicode.Pd, r), r == '−':
		return '-'
	}
	return r
}

// isTight reports whether white space beside a character does not count.
func isTight(r rune) bool { return unicode.IsPunct(r) || unicode.Is(unicode.Sc, r) }

// isWord reports whether a character is part of a word or a number.
func isWord(r rune) bool {
	return r == aNumber || r == '^' || unicode.In(r, unicode.L, unicode.M, unicode.Nd)
}

// compare looks for a quotation. found are the words that stand there, if they say more than the quotation: its own ones
// in several blocks or with other signs, or those with other numbers. If there are neither, or several other numbers, it
// is the passage that is most like it. A word or a number at an end of the quotation must not go on in the text.
func (p *page) compare(ctx context.Context, quotation string) (result, found string) {
	quotation = oneLine(clean(quotation))
	quote, own, ways := newScript(quotation), numbers(quotation), map[string]bool{}
	begins, step := utf8.DecodeRuneInString(quote)
	ends, _ := utf8.DecodeLastRuneInString(quote)
	script, s, done := newScript(p.text), scan{text: p.text}, 0
	for at := 0; step > 0 && ctx.Err() == nil; at += step {
		i := strings.Index(script[at:], quote)
		if i < 0 {
			break
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(script[:at])
		after, _ := utf8.DecodeRuneInString(script[at+len(quote):])
		if isWord(begins) && isWord(before) || isWord(ends) && isWord(after) {
			continue
		}
		s.seek(at - done)
		done = at
		end := s
		end.seek(len(quote))
		words := strings.TrimSpace(p.text[s.end:end.end])
		switch have := numbers(words); {
		case slices.Equal(have, own) && words == quotation:
			return catalog.Confirmed, ""
		case slices.Equal(have, own):
			return catalog.Confirmed, words
		case len(ways) < 2:
			ways[strings.Join(have, "\n")], found = true, words
		}
	}
	if len(ways) == 1 {
		return catalog.Changed, found
	}
	return catalog.Unreadable, nearest(p.text, quotation)
}

// nearest returns the passage of a text that shares most words with a quotation, if it shares half of them.
func nearest(text, quotation string) string {
	const maxNear = 2 * catalog.MaxQuote // bytes from its first word of the quotation to the last one
	isBetween := func(r rune) bool { return !isWord(r) }
	wanted := slices.Compact(slices.Sorted(strings.FieldsFuncSeq(clean(quotation), isBetween)))
	last := slices.Repeat([]int{-2 * maxNear}, len(wanted)) // where each of them stood last
	from, end, needed, at := 0, 0, (len(wanted)+1)/2, 0
	for word := range strings.FieldsFuncSeq(text, isBetween) {
		at += strings.Index(text[at:], word) + len(word)
		i, ok := slices.BinarySearch(wanted, word)
		if !ok {
			continue
		}
		last[i] = at - len(word)
		first, shared := at, 0
		for _, one := range last {
			if at-one <= maxNear {
				first, shared = min(first, one), shared+1
			}
		}
		if shared >= needed {
			from, end, needed = first, at, shared+1
		}
	}
	start, to := blockAt(text, from, end)
	passage := text[max(start, from-maxNear/4):min(to, end+maxNear/4)]
	if end == 0 || strings.Contains(passage, "^") {
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

// A Passage is words of a page around an amount, proposed as a quotation.
type Passage struct {
	Quote  string  // one line
	Amount string  // the number, as the page writes it
	Price  string  // the recorded price with that number; "" if it has no such form
	IsOwn  bool    // it is the recorded one
	far    float64 // from the recorded one
}

const (
	maxPassages = 40   // that are proposed: nobody reads more
	maxAmounts  = 4000 // of a page that are looked at
	farHeading  = 160  // bytes before an amount at which the heading may begin that names its plan
	shortBlock  = 40   // bytes of a block behind an amount that is read with it, as a period is
	currency    = `(?:\p{Sc}|EUR|` + catalog.CurrencyCodes + `)`
)

var (
	currencyBefore = regexp.MustCompile(currency + `\s*$`)
	currencyBehind = regexp.MustCompile(`^(?:€\p{Nd}{2}\b|\s*` + currency + `)`)
	betweenDigits  = regexp.MustCompile(`\p{Nd}\s*` + currency + `\p{Nd}`)
	otherAmount    = regexp.MustCompile(`\p{Nd}[\p{Nd}.,'\s]*(?:€\p{Nd}{2}\b|` + currency + `)|` + currency + `\s*\p{Nd}[\p{Nd}.,' ]*`)
	noDigits       = regexp.MustCompile(`\D`)
	isGrouped      = regexp.MustCompile(`^\d{1,3}(?: \d{3})*(?:[.,]\d+)?$`)
)

// passages returns the words around each amount of a page, nearest to the recorded price first. The page confirms each
// of them, taken as a quotation. An amount is the number beside a currency, or the recorded one.
func (p *page) passages(ctx context.Context, price string) (list []Passage) {
	known, own, count, last := map[string]bool{}, -1.0, 0, 0 // the end of the amount before
	if number := catalog.PriceNumber(price); number != "" {
		own = amount(number)
	}
	for s := (scan{text: p.text}); count < maxAmounts && s.next(); {
		if s.last != aNumber || s.from < last {
			continue
		}
		before := currencyBefore.FindString(p.text[max(last, s.from-8):s.from])
		behind := currencyBehind.FindString(p.text[s.end:min(s.end+8, len(p.text))])
		number := s.number()
		if _, cents, _ := strings.Cut(behind, "€"); cents != "" { // 12€90
			number += "," + cents
		}
		if after, _ := utf8.DecodeRuneInString(p.text[s.end+len(behind):]); behind != "" && unicode.IsDigit(after) {
			last = s.end + len(behind) // of 12 €90 nobody knows
			continue
		}
		group := number[strings.LastIndexByte(number, ' ')+1:]
		if before != "" {
			group, _, _ = strings.Cut(number, " ")
			behind = ""
		}
		// Other numbers may stand beside that of the amount: « Pack 2 49 € ».
		isParted := before+behind != "" && !isGrouped.MatchString(number) || own > 0 && amount(group) == own
		if isParted && amount(number) != own {
			number = group
		}
		if before+behind == "" && amount(number) != own {
			continue
		}
		count, last = count+1, s.end+len(behind)
		quote := p.around(s.from-len(before), last)
		if n := utf8.RuneCountInString(quote); n >= catalog.MinQuote && n <= catalog.MaxQuote && !known[quote] && !strings.Contains(quote, "^") {
			near := page{text: p.text[max(0, s.from-8*catalog.MaxQuote):min(len(p.text), s.end+8*catalog.MaxQuote)]}
			if result, _ := near.compare(ctx, quote); result == catalog.Confirmed {
				far := math.Abs(amount(number) - own)
				if before+behind != "" && catalog.Currency(before+behind) != catalog.Currency(price) {
					far++
				}
				list = append(list, Passage{quote, number, priceWith(price, number, before+behind), far == 0, far})
			}
		}
		known[quote] = true
	}
	slices.SortStableFunc(list, func(a, b Passage) int { return cmp.Compare(a.far, b.far) })
	return list[:min(len(list), maxPassages)]
}

// around returns the words around an amount as one line: from the heading before it, if its block has no words before
// it or is the next one, or from the start of its block, to its end, or to that of the next one if it is short and the
// block has no words behind the amount. Of too many words, those are left that are nearest. They have no other amount.
func (p *page) around(at, end int) string {
	left, right := max(0, at-4*catalog.MaxQuote), min(len(p.text), end+4*catalog.MaxQuote)
	if others := otherAmount.FindAllStringIndex(p.text[left:at], -1); others != nil {
		left += others[len(others)-1][1]
	}
	if other := otherAmount.FindStringIndex(p.text[end:right]); other != nil {
		right = end + other[0]
	}
	from, to := blockAt(p.text, at, end)
	from = max(from, left)
	if _, next := blockAt(p.text, at, min(to+1, len(p.text))); to > right {
		to = end + cmp.Or(max(0, strings.LastIndexAny(p.text[end:right], ",;.|(")), right-end)
	} else if !slices.Contains(p.heads, to+1) && next <= min(to+shortBlock, right) && !strings.ContainsFunc(p.text[end:to], unicode.IsLetter) {
		to = next
	}
	isNamed := strings.ContainsFunc(p.text[from:at], unicode.IsLetter)
	if i, _ := slices.BinarySearch(p.heads, end); i > 0 && p.heads[i-1] >= max(left, at-farHeading) &&
		(!isNamed || strings.Count(p.text[p.heads[i-1]:max(from, p.heads[i-1])], "\n") == 1) {
		from = min(from, p.heads[i-1])
	}
	words := oneLine(p.text[from:to])
	if utf8.RuneCountInString(words) > catalog.MaxQuote {
		_, before, _ := strings.Cut(p.text[max(from, at-catalog.MaxQuote/4):at], " ")
		behind := p.text[at:min(to, end+catalog.MaxQuote/4)]
		words = oneLine(before + behind[:max(0, strings.LastIndexAny(behind, " \n"))])
	}
	return words
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// amount returns the value of a number: its last separator is that of decimals, unless three digits follow.
func amount(number string) float64 {
	whole, decimals := number, ""
	if i := strings.LastIndexAny(number, ".,"); i >= 0 && len(number)-i != len(".000") {
		whole, decimals = number[:i], number[i:]
	}
	x, _ := strconv.ParseFloat(noDigits.ReplaceAllString(whole, "")+"."+noDigits.ReplaceAllString(decimals, ""), 64)
	return x // 0 for digits of other scripts
}

// priceWith returns a recorded price with another number, given its currency; "" if either is not in euros, or free.
func priceWith(price, number, currency string) string {
	_, period, _ := strings.Cut(price, " €/")
	whole, cents, _ := strings.Cut(strconv.FormatFloat(amount(number), 'f', 2, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + " " + whole[i:]
	}
	next := strings.TrimSuffix(whole+","+cents, ",00") + " €/" + period
	if currency == "" || catalog.Currency(currency) != "" || catalog.IsFree(price) || amount(number) == 0 || !catalog.IsPrice(next) {
		return ""
	}
	return next
}
