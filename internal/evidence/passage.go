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
	Price  string // the recorded price with that number; "" if either is not in euros, or it is free
	IsOwn  bool   // it is the recorded one
}

const (
	maxPassages = 40  // that are proposed: nobody reads more
	farHeading  = 160 // bytes before an amount at which the heading may begin that names its plan
	shortBlock  = 40  // bytes of a block behind an amount that is read with it, as a period is
)

var (
	currencyBefore = regexp.MustCompile(`(?:\p{Sc}|\b[A-Z]{3})\s*$`)
	currencyBehind = regexp.MustCompile(`^\s*(?:\p{Sc}|[A-Z]{3}\b)`)
)

// passages returns the words around each amount of a page, nearest to the recorded price first. The page confirms each
// of them, taken as a quotation.
func (p *page) passages(price string) (list []Passage) {
	s, recorded := newScript(p.text), catalog.PriceNumber(price)
	own, known := amount(recorded), map[string]bool{}
	for i, n := range s.numbers {
		at, end, value := int(n.from), int(n.end), s.number(i)
		isOwn := recorded != "" && amount(value) == own
		before, behind := p.text[max(0, at-8):at], p.text[end:min(end+8, len(p.text))]
		signs, offered := oneLine(currencyBefore.FindString(before)+" "+currencyBehind.FindString(behind)), ""
		if !isOwn && signs == "" || len(known) > 10*maxPassages {
			continue
		}
		if (signs == "€" || signs == "€ €") && catalog.IsPrice(price) && !catalog.IsFree(price) {
			offered = priceWith(price, value)
		}
		for _, quote := range p.around(at, end) {
			if known[quote] {
				break
			}
			known[quote] = true
			if result, _ := s.find(quote); result == catalog.Confirmed {
				list = append(list, Passage{quote, value, offered, isOwn})
				break
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Passage) int {
		return cmp.Compare(math.Abs(amount(a.Amount)-own), math.Abs(amount(b.Amount)-own))
	})
	return list[:min(len(list), maxPassages)]
}

// around returns the words around an amount as one line: from the heading before it, or the start of its block, to
// the end of its block, or else to that of the next one, which comes first if it is short and the block has no words
// behind the amount. Of more words than a quotation may have, those are left that are nearest.
func (p *page) around(at, end int) (list []string) {
	from, to := blockAt(p.text, at, end)
	if i, _ := slices.BinarySearch(p.heads, at); i > 0 && at-p.heads[i-1] < farHeading {
		from = min(from, p.heads[i-1])
	}
	_, next := blockAt(p.text, at, min(to+1, len(p.text)))
	ends := []int{to, next}
	if !strings.ContainsFunc(p.text[end:to], unicode.IsLetter) && next-to <= shortBlock {
		slices.Reverse(ends)
	}
	for _, to := range ends {
		words := oneLine(p.text[from:to])
		if utf8.RuneCountInString(words) > catalog.MaxQuote {
			_, before, _ := strings.Cut(p.text[max(from, at-catalog.MaxQuote/4):at], " ")
			behind := p.text[at:min(to, end+catalog.MaxQuote/4)]
			words = oneLine(before + behind[:max(0, strings.LastIndexAny(behind, " \n"))])
		}
		if n := utf8.RuneCountInString(words); n >= catalog.MinQuote && n <= catalog.MaxQuote {
			list = append(list, words)
		}
	}
	return list
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// amount returns the value of a number: its last separator is that of decimals, unless three digits follow.
func amount(number string) float64 {
	last := strings.LastIndexAny(number, ".,")
	if len(number)-last == 4 {
		last = -1
	}
	var b strings.Builder
	for i, r := range number {
		if i == last {
			b.WriteByte('.')
		} else if unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	x, _ := strconv.ParseFloat(b.String(), 64) // 0 for digits of other scripts
	return x
}

// priceWith returns a recorded price with another number; "" if that is none.
func priceWith(price, number string) string {
	_, period, _ := strings.Cut(price, " €/")
	whole, cents, _ := strings.Cut(strconv.FormatFloat(amount(number), 'f', 2, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + " " + whole[i:]
	}
	price = strings.TrimSuffix(whole+","+cents, ",00") + " €/" + period
	if amount(number) == 0 || !catalog.IsPrice(price) {
		return ""
	}
	return price
}
