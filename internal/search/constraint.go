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

func (x *Index) meetsAll(tool int, all []Constraint) bool {
	return !slices.ContainsFunc(all, func(c Constraint) bool { return !x.Meets(tool, c) })
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
	amount = `(\d{1,3}(?:(?:\s|[.,])\d{3})+(?:[.,]\d{1,2})?|\d{1,6}(?:[.,]\d{1,2})?|` + numberWords + `)`
	euros  = `(?:€|euros?\b|eur\b)`
	month  = `(?:\s*(?:/|par)\s*(?:utilisateur|personne|poste|si[èe]ge)s?(?:\s+et)?)?(?:\s*(?:/|par|le|au|chaque|pour\s+un)\s*(mois|ann[ée]e|an)\b|\s+(mensuels?|annuels?|mois)\b)?`
	most   = `(?:\s*(?:max(?:imum|i)?|ou\s+moins|au\s+plus|au\s+maximum)\b)?`
	atMost = `(?:moins\s+(?:de|que|cher\s+que)|pas\s+plus\s+(?:de|que|cher\s+que)|sans\s+d[ée]passer|max(?:imum|i|\.)?(?:\s+de)?|jusqu\s*['’]?\s*[àa]|inf[ée]rieure?s?\s+[àa]|en\s+dessous\s+de|sous(?:\s+les)?|au\s+plus|<=?|≤)`
	budget = `(?:(?:avec\s+)?(?:un\s+)?budget(?:\s+max(?:imum)?)?(?:\s+de|\s*:)?|(?:entre|de)\s+\d+\s*(?:` + euros +
		`)?\s*(?:et|[àa])|[àa]|pour|de)`
	over = `(?:plus(?:\s+(?:de|que|cher\s+que))?|[àa]\s+partir\s+de|d[èe]s|depuis|sup[ée]rieure?s?\s+[àa]|au(?:\s|-)+del[àa]\s+de|au(?:\s|-)+dessus\s+de|(?:pas|au)\s+moins(?:\s+de)?|minimum(?:\s+de)?|entre|>=?|≥)`
)

// numbers are amounts that people write in letters.
var numbers = map[string]float64{
	"cinq": 5, "dix": 10, "quinze": 15, "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
	"cent": 100, "mille": 1000,
}

const numberWords = `cinquante|cinq|dix|quinze|vingt|trente|quarante|soixante|cent|mille`

const wordStart = `(?i)(?:^|[^\pL\pN])`

var (
	prices = pattern(`(?i)(€\s*)?` + amount + `(\s*` + euros + `)?` + month + most)
	// What is before an amount. Several words, such as « à moins de », are one constraint.
	boundWords = pattern(wordStart + `(` + budget + `\s+)?(` + atMost + `\s*)?$`)
	underWords = pattern(wordStart + `(pas\s+)?` + atMost + `\s*$`)
	overWords  = pattern(wordStart + over + `\s*$`)
	// What is after an amount that is the lowest one, or not a price for a month.
	overAfter = pattern(`(?i)^\s*(?:(?:au\s+)?minimum|au\s+moins|(?:et|ou)\s+plus|(?:et|[àa]|-)\s*\d)`)
	unitAfter = pattern(`(?i)^\s*(?:/|par\s|(?:de\s+|[àa]\s+)?l['’]|(?:(?:[àa]\s+)?la|le|chaque|pour\s+une?)\s+(?:heure|jour|journ[ée]e|semaine|minute|seconde|requ[êe]te|appel|mot|page|image|document|million)` +
		`|(?:hebdomadaire|quotidien|journalier|horaire))`)

	pricingWords = pattern(`(?i)(?:(?:avec\s+)?(?:une?\s+)?(?:version|formule|offre|plan)\s+|100\s*%\s*|(?:totalement|enti[èe]rement|compl[èe]tement)\s+)?` +
		`(gratuit(?:ement|es|e|s)?|sans\s+payer|freemium|payant(?:es|e|s)?)`)
	// What comes before a model that is not wanted: « je ne veux pas d’un outil gratuit ».
	notWords = pattern(`(?i)(?:^|[^\pL\pN])(?:pas|non|ni|sans|jamais|aucune?)(?:\s|-)+(?:(?:[êe]tre|besoin|forc[ée]ment|totalement|enti[èe]rement|compl[èe]tement|vraiment|une?|des?|` +
		`outils?|logiciels?|applications?|applis?|services?|solutions?|versions?|formules?|offres?|plans?|abonnements?|options?)\s+|d['’]\s*)*(?:d['’]\s*)?$`)
)

// pattern compiles an expression in which every space may be a no-break one.
func pattern(expression string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(expression, `\s`, `[\s\p{Z}]`))
}

// ReadRequest finds the constraints that a query states: « gratuit », « moins de 20 € ».
// A query that is the name of a tool states none, nor does a question about tools that do
// not meet them: « X est-il gratuit ? ».
func (x *Index) ReadRequest(text string) Request {
	r := Request{Text: text, whole: text}
	key, _ := nameKey(text)
	if _, named := x.names.find(key); named {
		return r
	}
	r.readPrice()
	for _, m := range pricingWords.FindAllStringSubmatchIndex(text, -1) {
		if !isWord(text, m[0], m[1]) || r.overlaps(m[0], m[1]) || notWords.MatchString(text[:m[0]]) {
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
	if len(r.Constraints) == 0 {
		return r
	}
	r.Text = tidy(r.Text)
	isExcluded := false
	others := x.namesWithin(r.Text, func(tool uint32) {
		isExcluded = isExcluded || !x.meetsAll(int(tool), r.Constraints)
	})
	if isExcluded && !others {
		return Request{Text: text, whole: text}
	}
	return r
}

// readPrice finds the highest price that a query allows.
func (r *Request) readPrice() {
	const most = 16 // numbers that are looked at
	for _, m := range prices.FindAllStringSubmatchIndex(r.whole, most) {
		euros, ok := r.readAmount(m)
		if !ok {
			continue
		}
		start := m[0]
		if words := boundWords.FindStringSubmatchIndex(r.whole[:start]); words[2] >= 0 {
			start = words[2]
		} else if words[4] >= 0 {
			start = words[4]
		}
		r.Constraints = append(r.Constraints, Constraint{PriceMax: toCents(euros), start: start, end: m[1]})
		return
	}
}

// readAmount returns the euros a month of a match of prices, and whether they are the most
// that may be paid.
func (r *Request) readAmount(m []int) (euros float64, ok bool) {
	before, after := r.whole[:m[0]], r.whole[m[1]:]
	hasCurrency, hasPeriod := m[2] >= 0 || m[6] >= 0, m[8] >= 0 || m[10] >= 0
	under := underWords.FindStringSubmatchIndex(before)
	isUnder := under != nil && under[2] < 0 // « pas moins de » is none
	switch {
	case !isWord(r.whole, m[0], m[1]), overAfter.MatchString(after), !hasPeriod && unitAfter.MatchString(after):
		return 0, false
	case !isUnder && overWords.MatchString(before):
		return 0, false
	case !hasCurrency && (!isUnder || !hasPeriod): // the words have to say that a price is meant
		return 0, false
	}
	text := strings.ToLower(r.whole[m[4]:m[5]])
	euros, inLetters := numbers[text]
	if inLetters && !isUnder { // possibly the end of a longer number
		return 0, false
	}
	if !inLetters {
		euros = parseAmount(text)
	}
	for group := 8; group < len(m); group += 2 {
		if m[group] >= 0 && strings.HasPrefix(strings.ToLower(r.whole[m[group]:m[group+1]]), "an") {
			euros /= 12
		}
	}
	return euros, true
}

// parseAmount returns the value of an amount in digits, with or without thousands
// separators.
func parseAmount(text string) float64 {
	decimals := ""
	if i := strings.LastIndexAny(text, ".,"); i >= 0 && len(text)-i <= len(",00") {
		text, decimals = text[:i], text[i+1:]
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	value, _ := strconv.ParseFloat(digits+"."+decimals, 64) // digits only
	return value
}

func toCents(euros float64) float64 { return math.Round(euros*100) / 100 }

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
