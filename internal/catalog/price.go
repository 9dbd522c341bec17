package catalog

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// priceForm is `<amount> €/<period>`: an amount in French notation (decimal comma; space, no-break space or
// narrow no-break space between groups of three digits), one U+0020, the euro sign, a slash, and a
// period made of words separated by single slashes (`utilisateur/mois`).
var priceForm = regexp.MustCompile(`^(?:[0-9]+|[0-9]{1,3}(?:[ \x{a0}\x{202f}][0-9]{3})+)(?:,[0-9]+)? €/\pL+(?:/\pL+)*$`)

// IsPrice reports whether s has the form of a price.
func IsPrice(s string) bool { return priceForm.MatchString(s) }

// IsFree reports whether the amount of a price is 0.
func IsFree(price string) bool {
	amount, _, _ := strings.Cut(price, " €/")
	return !strings.ContainsAny(amount, "123456789")
}

func isGroupSpace(r rune) bool { return r == ' ' || r == '\u00a0' || r == '\u202f' }

// periods are how much of a price falls to a month: a numerator and a denominator.
var periods = map[string][2]float64{
	"mois": {1, 1}, "trimestre": {1, 3}, "semestre": {1, 6}, "an": {1, 12}, "semaine": {52, 12},
}

// NoPrice is the price of a tool whose price is not public, with the model Paid: what the API has
// instead.
const NoPrice = "0 €/mois"

// OnRequest is what editors write instead of a price that is not public. Records have null.
const OnRequest = "sur devis"

// IsPublic reports whether a price is known: 0 with the model payant says that it is not public.
func IsPublic(pricing Pricing, price string) bool { return pricing != Paid || !IsFree(price) }

// WrittenPrice returns a price as editors write it.
func WrittenPrice(pricing Pricing, price string) string {
	if !IsPublic(pricing, price) {
		return OnRequest
	}
	return price
}

// PublicPrice returns a price; nil if it is not public.
func PublicPrice(pricing Pricing, price string) *string {
	if !IsPublic(pricing, price) {
		return nil
	}
	return &price
}

// Monthly returns what a price amounts to per month, in euros, and whether it can be
// said: a price per minute or per image depends on the use, and some are not public. A price
// per user counts for one user.
func Monthly(pricing Pricing, price string) (euros float64, ok bool) {
	euros, period, ok := Amount(price)
	if !ok || !IsPublic(pricing, price) {
		return 0, false
	}
	share, _, ok := splitPeriod(period)
	if !ok {
		return 0, euros == 0
	}
	return euros * share[0] / share[1], true
}

// EurosPerMonth returns what a tool costs per month as data has it, see cents; nil if that cannot be said.
func (t *Tool) EurosPerMonth() *float64 {
	euros, ok := Monthly(t.Pricing, t.Price)
	if !ok {
		return nil
	}
	euros = cents(euros)
	return &euros
}

// CurrencyCodes match the codes of the currencies besides euros that are known.
const CurrencyCodes = `(?:USD|GBP|CHF|CAD|AUD|JPY|CNY|INR|SEK|NOK|DKK|PLN|BRL)`

// IsForeign reports whether the site shows the price of a tool in another currency than euros.
func (t *Tool) IsForeign() bool { return isForeign(t.PriceDisplay) }

// IsConverted reports whether the price of a tool is one of another currency, be it shown in euros as well.
func (t *Tool) IsConverted() bool { return isConverted(t.PriceDisplay) }

func isForeign(display string) bool {
	return display != "" && foreign.MatchString(display) && !inEuros.MatchString(display)
}

func isConverted(display string) bool { return isForeign(display) || currency.MatchString(display) }

// Asked returns what a tool costs in the currency that it is sold in, by its code, and reports whether
// that can be read.
func (t *Tool) Asked() (amount float64, period, code string, ok bool) {
	price, code := t.Price, "EUR"
	if t.IsConverted() && !IsFree(t.Price) {
		price, _, _ = strings.Cut(t.PriceDisplay, ", ") // what follows is the amount in euros, or a remark
		code = Currency(price)
		price = plainDisplay(strings.Replace(price, currency.FindString(price), "", 1))
	}
	amount, period, _ = Amount(price)
	return amount, period, code, code != "" && code[0] <= 'Z' && IsPrice(price)
}

// Currency returns the first currency of a text besides euros, by its code or a rare sign; "" for none.
func Currency(text string) string {
	sign := currency.FindString(text)
	return cmp.Or(map[string]string{"$": "USD", "£": "GBP"}[sign], sign)
}

// plainDisplay returns a price without its currency, however it is written, as one of the catalogue: 10.50 par mois as
// 10,50 €/mois. What is no such price is returned as it is.
func plainDisplay(price string) string {
	m := displayForm.FindStringSubmatch(displaySpaces.Replace(price))
	if m == nil {
		return price
	}
	cents := m[2] + m[3]
	if cents != "" {
		cents = "," + cents
	}
	return m[1] + cents + " €/" + m[4]
}

var (
	displaySpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ", " par ", "/", " per ", "/", "month", "mois", "year", "an")
	displayForm   = regexp.MustCompile(`^ *([0-9]+(?: [0-9]{3})*)(?:,([0-9]+)|\.([0-9]{1,2}))? */ *(.+)$`)
)

// Asked returns what was asked before and after a change, and reports whether both are known, in one currency and
// for the same.
func (e *PriceChange) Asked() (before, after float64, ok bool) {
	old, now := Tool{Price: e.OldPrice, PriceDisplay: e.OldDisplay}, Tool{Price: e.NewPrice, PriceDisplay: e.NewDisplay}
	before, oldPeriod, oldCode, wasKnown := old.Asked()
	after, newPeriod, newCode, isKnown := now.Asked()
	return before, after, wasKnown && isKnown && oldPeriod == newPeriod && oldCode == newCode
}

var (
	currency = regexp.MustCompile(`[^\P{Sc}€]|\b` + CurrencyCodes + `\b`)
	foreign  = regexp.MustCompile(`\p{Sc}|\b` + CurrencyCodes + `\b|(?i:\bdollars?\b|\blivres?\b|\bfrancs?\b|\byens?\b)`)
	inEuros  = regexp.MustCompile(`€|\bEUR\b|(?i:\beuros?\b)`)
)

// cents rounds an amount to the cent, or to two digits if it is less than that: what costs
// something is not free.
func cents(euros float64) float64 {
	if euros <= 0 || euros >= 0.01 {
		return math.Round(euros*100) / 100
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(euros, 'e', 1, 64), 64)
	if err != nil {
		panic(err) // it was formatted by us
	}
	return rounded
}

// Amount splits a price of the catalogue, such as 1 200,50 €/mois, and reports whether it is
// one.
func Amount(price string) (euros float64, period string, ok bool) {
	amount, period, _ := strings.Cut(price, " €/")
	amount = strings.Map(func(r rune) rune {
		switch {
		case isGroupSpace(r):
			return -1
		case r == ',':
			return '.'
		}
		return r
	}, amount)
	euros, err := strconv.ParseFloat(amount, 64)
	return euros, period, err == nil
}

// Each returns what a price is for besides its time: utilisateur for 10 €/utilisateur/mois,
// "" for 10 €/mois and for a price that cannot be told per month.
func Each(price string) string {
	_, period, _ := strings.Cut(price, " €/")
	_, each, _ := splitPeriod(period)
	return each
}

// splitPeriod finds the one word of a period that is a time, and returns the others.
func splitPeriod(period string) (share [2]float64, each string, ok bool) {
	var rest []string
	for word := range strings.SplitSeq(period, "/") {
		if found, isTime := periods[strings.ToLower(word)]; !isTime {
			rest = append(rest, word)
		} else if ok {
			return share, "", false
		} else {
			share, ok = found, true
		}
	}
	if !ok {
		return share, "", false
	}
	return share, strings.Join(rest, "/"), true
}

// PriceNumber returns the first number of a price or of a price_display: 19 of "19 €/mois" and of "Dès 19 $". "" for none.
func PriceNumber(price string) string { return priceNumber.FindString(joinCents(price)) }

var (
	priceNumber = regexp.MustCompile(`[0-9]+(?:[ .,'’\x{a0}\x{202f}][0-9]+)*`)
	centsBehind = regexp.MustCompile(`([0-9])€([0-9]{2})\b`)
)

// joinCents returns a text with the cents that stand behind the euro sign before it: 12,90 € of 12€90.
func joinCents(text string) string { return centsBehind.ReplaceAllString(text, "$1,$2 €") }

// Quotes reports whether a quotation has the number of a price, whatever separates its digits. One behind another
// number counts: "Pack 10 199 €" has 199.
func Quotes(quote, price string) bool {
	own := PriceNumber(price)
	return own != "" && slices.ContainsFunc(priceNumber.FindAllString(joinCents(quote), -1), func(n string) bool {
		for n != "" && plainNumber(n) != plainNumber(own) {
			n = n[strings.IndexFunc(n+" ", isGroupSpace):]
			n = strings.TrimLeftFunc(n, isGroupSpace)
		}
		return n != ""
	})
}

// plainNumber returns the digits of a number, without zeros behind its comma: 1200,5 of 1.200,50.
func plainNumber(n string) string {
	whole, cents := n, ""
	if i := strings.LastIndexAny(n, ".,"); i >= 0 && len(n)-i <= len(",99") {
		whole, cents = n[:i], strings.TrimRight(n[i:], "0")[1:]
	}
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, whole) + "," + cents
}

// IsQuoted reports whether a quotation has the number of a price or of what is shown instead. Of what is free, or not
// public, it need not have any.
func IsQuoted(quote string, pricing Pricing, price, display string) bool {
	return pricing == "gratuit" || IsFree(price) || Quotes(quote, price) || Quotes(quote, display)
}
