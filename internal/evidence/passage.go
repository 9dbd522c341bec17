package evidence

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// A Passage is words of a page around an amount, proposed as a quotation.
type Passage struct {
	Quote  string // one line
	Amount string // the number, as the page writes it
	IsOwn  bool   // it is the recorded one
}

const (
	// maxPassages is how many passages are proposed: nobody reads more.
	maxPassages = 40
	// farHeading is how many bytes before an amount the heading may begin that names its plan.
	farHeading = 160
	// shortBlock is how many bytes the block behind an amount may have to be read with it, as a period is.
	shortBlock = 40
)

// passages returns the words around each amount of a page, nearest to the recorded price first.
func (p *page) passages(price string) (list []Passage) {
	s := newScript(p.text)
	own := catalog.PriceNumber(price)
	for _, n := range s.numbers {
		end := int(n.from) + len(isNumber.FindString(s.source[n.from:]))
		isOwn := own != "" && amount(n.value) == amount(own)
		if !isOwn && !hasCurrency(s.source, int(n.from), end) {
			continue
		}
		quote := p.around(s.source, int(n.from), end)
		isKnown := func(other Passage) bool { return other.Quote == quote }
		if utf8.RuneCountInString(quote) < catalog.MinQuote || slices.ContainsFunc(list, isKnown) {
			continue
		}
		list = append(list, Passage{quote, n.value, isOwn})
		if len(list) == 10*maxPassages {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b Passage) int {
		return cmp.Compare(math.Abs(amount(a.Amount)-amount(own)), math.Abs(amount(b.Amount)-amount(own)))
	})
	return list[:min(len(list), maxPassages)]
}

// around returns the words around an amount as one line: from the heading before it, or the start of its block, to
// the end of its block, or of the next one if the block ends with the amount and the next one is short.
func (p *page) around(text string, at, end int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	if i, _ := slices.BinarySearch(p.heads, at); i > 0 && at-p.heads[i-1] < farHeading {
		from = min(from, p.heads[i-1])
	}
	to := blockEndAt(text, end)
	next := blockEndAt(text, min(to+1, len(text)))
	if !strings.ContainsFunc(text[end:to], unicode.IsLetter) && next-to <= shortBlock {
		to = next
	}
	words := strings.Join(strings.Fields(text[from:to]), " ")
	if utf8.RuneCountInString(words) > catalog.MaxQuote {
		from, to = max(from, at-catalog.MaxQuote/4), min(to, at+catalog.MaxQuote/4)
		words = strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
	}
	return words
}

// blockEndAt returns the end of the block at an offset.
func blockEndAt(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

var isCode = regexp.MustCompile(`^[A-Z]{3}$`)

// hasCurrency reports whether a currency stands beside a number: a sign, or three capitals such as CHF.
func hasCurrency(text string, at, end int) bool {
	before := strings.TrimRightFunc(text[max(0, at-8):at], unicode.IsSpace)
	after := strings.TrimLeftFunc(text[end:min(len(text), end+8)], unicode.IsSpace)
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.Is(unicode.Sc, last) || unicode.Is(unicode.Sc, first) || isCode.MatchString(before[max(0, len(before)-3):]) ||
		isCode.MatchString(after[:min(3, len(after))])
}

// amount returns the value of a number: its last separator is that of decimals, unless three digits follow.
func amount(value string) float64 {
	value = strings.NewReplacer(" ", "", "'", "").Replace(value)
	if i := strings.LastIndexAny(value, ".,"); i >= 0 {
		whole := strings.NewReplacer(".", "", ",", "").Replace(value[:i])
		if len(value)-i == 4 {
			value = whole + value[i+1:]
		} else {
			value = whole + "." + value[i+1:]
		}
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0
	}
	return x
}

// euros returns an amount in French notation.
func euros(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	whole, cents, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + " " + whole[i:]
	}
	if cents == "00" {
		return whole
	}
	return whole + "," + cents
}
