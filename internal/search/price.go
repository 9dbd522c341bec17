package search

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	amount = `(\d{1,3}(?:(?:\s|[.,])\d{3})+(?:[.,]\d{1,2})?|\d{1,6}(?:[.,]\d{1,2})?|` + numberWords + `)`
	euros  = `(?:€|\$|euros?\b|eur\b|dollars?\b|usd\b)`
	month  = `(?:\s*(?:/|par|per)\s*(?:utilisateur|personne|poste|si[èe]ge|user|seat)s?(?:\s+et)?)?(?:\s*(?:/|par|le|au|chaque|pour\s+un|per|each)\s*(mois|ann[ée]e|an|month|mo|year|yr)\b|\s+a\s+(month|year)\b|\s+(mensuels?|annuels?|mois|monthly|yearly)\b)?`
	most   = `(?:\s*(?:max(?:imum|i)?|ou\s+moins|au\s+plus|au\s+maximum|or\s+less|at\s+most)\b)?`
	atMost = `(?:moins\s+(?:de|que|cher\s+que)|pas\s+plus\s+(?:de|que|cher\s+que)|sans\s+d[ée]passer|max(?:imum|i|\.)?(?:\s+de)?|jusqu\s*['’]?\s*[àa]|inf[ée]rieure?s?\s+[àa]|en\s+dessous\s+de|sous(?:\s+les)?|au\s+plus|<=?|≤|` +
		`under|below|(?:less|cheaper|no\s+more|not\s+more)\s+than|at\s+most|up\s+to|within)`
	budget = `(?:(?:avec\s+|with\s+)?(?:une?\s+|a\s+)?budget(?:\s+max(?:imum)?)?(?:\s+de|\s+of|\s*:)?|(?:entre|de|between|from)\s+[€$]?(\d{1,6})\s*(?:` + euros +
		`)?\s*(?:et|[àa]|and|to)|[àa]|pour|de|for|at)`
	over = `(?:plus\s+(?:de|que|ch[eè]re?s?\s+que)|[àa]\s+partir\s+de|d[èe]s|sup[ée]rieure?s?\s+[àa]|au(?:\s|-)+del[àa]\s+de|au(?:\s|-)+dessus\s+de|(?:pas|au)\s+moins(?:\s+de)?|minimum(?:\s+de)?|>=?|≥|` +
		`over|above|more\s+than|at\s+least|starting\s+at)`
)

// numbers are amounts that people write in letters.
var numbers = map[string]float64{
	"cinq": 5, "dix": 10, "quinze": 15, "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
	"cent": 100, "mille": 1000,
}

const numberWords = `cinquante|cinq|dix|quinze|vingt|trente|quarante|soixante|cent|mille`

const wordStart = `(?i)(?:^|[^\pL\pN])`

var (
	prices = pattern(`(?i)([€$]\s*)?` + amount + `(\s*` + euros + `)?` + month + most)
	// What is before an amount. Several words, such as « à moins de », are one constraint.
	boundWords = pattern(wordStart + `(` + budget + `\s+)?(` + atMost + `\s*|` + over + `\s*)?$`)
	underWords = pattern(wordStart + `(pas\s+)?` + atMost + `\s*$`)
	overWords  = pattern(wordStart + over + `\s*$`)
	otherWords = pattern(wordStart + `(?:plus|depuis|entre|between|vs|from)\s*$`)
	// What is after an amount that is the lowest one, the first of two, or not a price for a month.
	overAfter  = pattern(`(?i)^\s*(?:(?:au\s+)?minimum|au\s+moins|(?:et|ou)\s+plus|(?:or|and)\s+(?:more|up)|\+)`)
	rangeAfter = pattern(`(?i)^\s*(?:et|[àa]|-|and|to)\s*[€$]?\d`)
	unitAfter  = pattern(`(?i)^\s*(?:/|par\s|per\s|an?\s+hour|(?:de\s+|[àa]\s+)?l['’]|(?:(?:[àa]\s+)?la|le|chaque|pour\s+une?)\s+(?:heure|jour|journ[ée]e|semaine|minute|seconde|requ[êe]te|appel|mot|page|image|document|million)` +
		`|(?:hebdomadaire|quotidien|journalier|horaire))`)

	pricingWords = pattern(`(?i)(?:(?:avec\s+)?(?:une?\s+)?(?:version|formule|offre|plan)\s+|100\s*%\s*|(?:totalement|enti[èe]rement|compl[èe]tement|completely|totally)\s+|for\s+)?` +
		`(gratuit(?:ement|es|e|s)?|sans\s+payer|without\s+paying|freemium|payant(?:es|e|s)?|free(?:\s+(?:version|plan|tier|of\s+charge))?|paid)`)
	// What comes before a model that is not wanted: « je ne veux pas d’un outil gratuit ».
	notWords = pattern(`(?i)(?:^|[^\pL\pN])(?:pas|non|ni|sans|jamais|aucune?|not|without|no)(?:\s|-)+(?:(?:[êe]tre|besoin|forc[ée]ment|totalement|enti[èe]rement|compl[èe]tement|vraiment|une?|des?|an?|` +
		`outils?|logiciels?|applications?|applis?|services?|solutions?|versions?|formules?|offres?|plans?|abonnements?|options?)\s+|d['’]\s*)*(?:d['’]\s*)?$`)
	freeOf     = pattern(`(?i)(?:\pL-|royalty\s|copyright\s|hands\s|ads?\s)$`) // royalty-free
	freeForDay = pattern(`(?i)^(?:\s+trial|-)`)
)

// pattern compiles an expression in which every space may be a no-break one.
func pattern(expression string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(expression, `\s`, `[\s\p{Z}]`))
}

// readPricing finds the model that a query wants.
func (r *Request) readPricing() {
	for _, m := range pricingWords.FindAllStringSubmatchIndex(r.whole, -1) {
		before, after := r.whole[:m[0]], r.whole[m[1]:]
		c := Constraint{Pricing: "gratuit", start: m[0], end: m[1]}
		switch word := strings.ToLower(r.whole[m[2]:m[3]]); {
		case !isWord(r.whole, m[0], m[1]), notWords.MatchString(before):
			continue
		case strings.HasPrefix(word, "free") && word != "freemium" && (freeOf.MatchString(before) || freeForDay.MatchString(after)):
			continue
		case word == "freemium":
			c.Pricing = "freemium"
		case strings.HasPrefix(word, "payant"), word == "paid":
			c.Pricing = "payant"
		}
		if !slices.ContainsFunc(r.Constraints, func(o Constraint) bool { return o.Pricing != "" }) {
			r.add(c)
		}
	}
}

// readPrices finds the highest and the lowest price that a query allows.
func (r *Request) readPrices() {
	const looked = 16 // numbers that are looked at
	var hasMost, hasLeast bool
	for _, m := range prices.FindAllStringSubmatchIndex(r.whole, looked) {
		euros, isLeast, ok := r.readAmount(m)
		if !ok || isLeast && (hasLeast || euros == 0) || !isLeast && hasMost {
			continue
		}
		c := Constraint{PriceMax: toCents(euros), start: m[0], end: m[1]}
		words := boundWords.FindStringSubmatchIndex(r.whole[:m[0]])
		if words[2] >= 0 {
			c.start = words[2]
		} else if words[6] >= 0 {
			c.start = words[6]
		}
		if isLeast {
			c.PriceMin, c.PriceMax, hasLeast = c.PriceMax, 0, true
			c.end += len(overAfter.FindString(r.whole[m[1]:]))
		} else {
			hasMost = true
			if words[4] >= 0 && !hasLeast {
				c.PriceMin, hasLeast = parseAmount(r.whole[words[4]:words[5]]), true
			}
		}
		r.add(c)
	}
}

// readAmount returns the euros a month of a match of prices, and whether they are the least
// that may be paid rather than the most.
func (r *Request) readAmount(m []int) (euros float64, isLeast, ok bool) {
	before, after := r.whole[:m[0]], r.whole[m[1]:]
	hasCurrency := m[2] >= 0 || m[6] >= 0
	period := ""
	for group := 8; group < len(m); group += 2 {
		if m[group] >= 0 {
			period = strings.ToLower(r.whole[m[group]:m[group+1]])
		}
	}
	under := underWords.FindStringSubmatchIndex(before)
	isUnder := under != nil && under[2] < 0 // « pas moins de » is none
	isLeast = !isUnder && overWords.MatchString(before) || overAfter.MatchString(after)
	switch {
	case !isWord(r.whole, m[0], m[1]), rangeAfter.MatchString(after), period == "" && unitAfter.MatchString(after):
		return 0, false, false
	case !isUnder && !isLeast && otherWords.MatchString(before):
		return 0, false, false
	case !hasCurrency && (!isUnder && !isLeast || period == ""): // the words have to say that a price is meant
		return 0, false, false
	}
	text := strings.ToLower(r.whole[m[4]:m[5]])
	euros, inLetters := numbers[text]
	if inLetters && !isUnder && !isLeast { // possibly the end of a longer number
		return 0, false, false
	}
	if !inLetters {
		euros = parseAmount(text)
	}
	if strings.HasPrefix(period, "an") || strings.HasPrefix(period, "y") {
		euros /= 12
	}
	return euros, isLeast, true
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
