package search

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// A Constraint is a condition on the price of a tool. Exactly one of its fields is set,
// apart from the place.
type Constraint struct {
	Pricing  catalog.Pricing // "gratuit" also allows tools with a free plan
	PriceMax float64         // euros a month

	start, end int // in the query
}

// Numbers of models, for Index.pricing; 0 is none.
var free, freemium = pricingNumber("gratuit"), pricingNumber("freemium")

func pricingNumber(p catalog.Pricing) uint8 { return uint8(slices.Index(catalog.Pricings, p) + 1) }

// Meets reports whether a tool, by its index in the catalogue, meets a constraint.
func (x *Index) Meets(tool int, c Constraint) bool {
	switch c.Pricing {
	case "":
		return x.monthly[tool] <= float32(c.PriceMax)
	case "gratuit":
		return x.pricing[tool] == free || x.pricing[tool] == freemium
	}
	return x.pricing[tool] == pricingNumber(c.Pricing)
}

// indexPrices keeps what constraints compare, which would be slow to parse for every tool
// of a large catalogue.
func (x *Index) indexPrices() {
	x.pricing = make([]uint8, len(x.tools))
	x.monthly = make([]float32, len(x.tools))
	for i := range x.tools {
		x.pricing[i] = pricingNumber(x.tools[i].Pricing)
		euros, ok := catalog.Monthly(x.tools[i].Price)
		if x.monthly[i] = float32(euros); !ok {
			x.monthly[i] = float32(math.Inf(1))
		}
	}
}

// A Request is a query as a person types it, with the constraints that it states. Text is
// the rest.
type Request struct {
	Text        string
	Constraints []Constraint
	whole       string
}

// Without returns the query without its i-th constraint.
func (r *Request) Without(i int) string {
	c := r.Constraints[i]
	return tidy(r.whole[:c.start] + " " + r.whole[c.end:])
}

// Limits are what the constraints of a request allow; nil for anything.
type Limits struct {
	Pricing  *catalog.Pricing `json:"pricing"`
	PriceMax *float64         `json:"price_max"` // euros a month
}

// Limits returns what the request allows: it states at most one model and one price.
func (r *Request) Limits() (l Limits) {
	for i := range r.Constraints {
		if c := &r.Constraints[i]; c.Pricing != "" {
			l.Pricing = &c.Pricing
		} else {
			l.PriceMax = &c.PriceMax
		}
	}
	return l
}

func tidy(text string) string { return strings.Join(strings.Fields(text), " ") }

const (
	amount = `(\d{1,6}(?:[.,]\d{1,2})?)`
	euros  = `\s*(?:€|euros?|eur)`
	period = `(?:\s*(?:/|par|le|au|chaque|pour\s+un)\s*(mois|ann[ée]e|an)|\s+(mensuels?|annuels?|mois))?`
	atMost = `(?:moins\s+(?:de|que|cher\s+que)|max(?:imum|i|\.)?(?:\s+de)?|jusqu\s*['’]?\s*[àa]|inf[ée]rieure?s?\s+[àa]|en\s+dessous\s+de|sous(?:\s+les)?|au\s+plus|<=?|≤)`
	budget = `(?:(?:avec\s+)?(?:un\s+)?budget(?:\s+max(?:imum)?)?(?:\s+de|\s*:)?|entre\s+\d+(?:\s*(?:€|euros?))?\s+et|[àa]|pour|de)`
	most   = `(?:\s*(?:max(?:imum|i)?|ou\s+moins|au\s+plus|au\s+maximum))?`
)

var (
	// Several words before the amount, such as « à moins de », are one constraint.
	priceWords = pattern(`(?i)(?:` + budget + `\s+)?(?:` + atMost + `\s*)?` + amount + euros + period + most)
	// Without a currency, the words have to say that a price is meant.
	bareWords = pattern(`(?i)(?:` + budget + `\s+)?` + atMost + `\s*` + amount + `\s*(?:/|par)\s*(mois|an)`)
	overWords = pattern(`(?i)(?:plus(?:\s+de)?|au\s+moins|minimum|>=?|≥)\s*$`)

	pricingWords = pattern(`(?i)(?:(?:avec\s+)?(?:une?\s+)?(?:version|formule|offre|plan)\s+|100\s*%\s*|(?:totalement|enti[èe]rement|compl[èe]tement)\s+)?` +
		`(gratuit(?:ement|es|e|s)?|sans\s+payer|freemium|payant(?:es|e|s)?)`)
)

// pattern compiles an expression in which every space may be a no-break one.
func pattern(expression string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(expression, `\s`, `[\s\p{Z}]`))
}

// ReadRequest finds the constraints that a query states: « gratuit », « moins de 20 € ».
// A query that is the name of a tool states none.
func (x *Index) ReadRequest(text string) Request {
	r := Request{Text: text, whole: text}
	key, _ := nameKey(text)
	if _, named := x.names.find(key); named {
		return r
	}
	r.readPrice()
	for _, m := range pricingWords.FindAllStringSubmatchIndex(text, -1) {
		if !isWord(text, m[0], m[1]) || r.overlaps(m[0], m[1]) {
			continue
		}
		c := Constraint{Pricing: "gratuit", start: m[0], end: m[1]}
		switch word := strings.ToLower(text[m[2]:m[3]]); {
		case word == "freemium":
			c.Pricing = "freemium"
		case strings.HasPrefix(word, "payant"):
			c.Pricing = "payant"
		}
		if !slices.ContainsFunc(r.Constraints, func(o Constraint) bool { return o.Pricing != "" }) {
			r.Constraints = append(r.Constraints, c)
		}
	}
	slices.SortFunc(r.Constraints, func(a, b Constraint) int { return a.start - b.start })
	for i := len(r.Constraints) - 1; i >= 0; i-- {
		r.Text = r.Text[:r.Constraints[i].start] + " " + r.Text[r.Constraints[i].end:]
	}
	if len(r.Constraints) > 0 {
		r.Text = tidy(r.Text)
	}
	return r
}

// readPrice finds the highest price that a query allows.
func (r *Request) readPrice() {
	for _, words := range []*regexp.Regexp{priceWords, bareWords} {
		m := words.FindStringSubmatchIndex(r.whole)
		if m == nil || !isWord(r.whole, m[0], m[1]) || overWords.MatchString(r.whole[:m[0]]) {
			continue
		}
		most, err := strconv.ParseFloat(strings.Replace(r.whole[m[2]:m[3]], ",", ".", 1), 64)
		if err != nil {
			continue
		}
		for group := 4; group < len(m); group += 2 {
			if m[group] >= 0 && strings.HasPrefix(strings.ToLower(r.whole[m[group]:m[group+1]]), "an") {
				most /= 12
			}
		}
		r.Constraints = append(r.Constraints, Constraint{PriceMax: most, start: m[0], end: m[1]})
		return
	}
}

func (r *Request) overlaps(start, end int) bool {
	return slices.ContainsFunc(r.Constraints, func(c Constraint) bool { return start < c.end && c.start < end })
}

// isWord reports whether a part of a text neither begins nor ends within a word.
func isWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	first, _ := utf8.DecodeRuneInString(text[start:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end:])
	inWord := func(a, b rune) bool { return isAlphanumeric(a) && isAlphanumeric(b) }
	return !inWord(before, first) && !inWord(last, after)
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
