// Package french writes numbers, dates and prices the way French readers expect
// them: a decimal comma, a narrow no-break space between thousands, and a
// no-break space before units and high punctuation.
//
// All pages use it, whichever package makes them, so that a figure looks the same
// everywhere. It also has the sentences about content folders in French.
package french

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// The no-break spaces.
const (
	Space  = "\u00a0"
	Narrow = "\u202f"
)

var months = [...]string{
	"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",
	"octobre", "novembre", "décembre",
}

var shortMonths = [...]string{
	"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.",
	"nov.", "déc.",
}

// Date formats a day such as 2026-03-01: 1er mars 2026. Anything else is returned
// unchanged.
func Date(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	number := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		number = "1er"
	}
	return number + Space + months[t.Month()-1] + " " + strconv.Itoa(t.Year())
}

// ShortMonth formats the month of a time: sept. 2026.
func ShortMonth(t time.Time) string {
	return shortMonths[t.Month()-1] + Space + strconv.Itoa(t.Year())
}

// Month formats the month of a time: septembre 2026.
func Month(t time.Time) string { return months[t.Month()-1] + " " + strconv.Itoa(t.Year()) }

// Number formats any number: 1 200,5.
func Number(x float64) string {
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'f', -1, 64), ".")
	whole = grouped(whole)
	if decimals != "" {
		whole += "," + decimals
	}
	if x < 0 {
		whole = "−" + whole
	}
	return whole
}

// Count formats a whole number: 12 000.
func Count(n int) string { return grouped(strconv.Itoa(n)) }

// grouped returns digits in groups of three.
func grouped(s string) string {
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + Narrow + s[i:]
	}
	return s
}

// Figure formats a number with one or two decimals: 8,0 or 7,25.
func Figure(x float64) string {
	s := strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
	whole, decimals, _ := strings.Cut(s, ".")
	return whole + "," + cmp.Or(decimals, "0")
}

// Plural formats a number with its noun, which is singular below two.
func Plural(n int, one, many string) string {
	if n < 2 {
		return Count(n) + Space + one
	}
	return Count(n) + Space + many
}

var narrowSpaces = strings.NewReplacer(" ", Narrow, Space, Narrow)

// Price replaces the spaces of a catalogue price so that no line breaks inside it.
func Price(s string) string {
	amount, period, ok := strings.Cut(s, " €/")
	if !ok {
		return s
	}
	return narrowSpaces.Replace(amount) + Space + "€/" + period
}

// Euros formats an amount of money: 18 €, 7,50 €, 1 200 €.
func Euros(x float64) string {
	whole := math.Trunc(x)
	cents := int(math.Round((x - whole) * 100))
	if cents == 100 {
		whole, cents = whole+1, 0
	}
	s := Count(int(whole))
	if cents != 0 {
		s += "," + strconv.Itoa(cents/10) + strconv.Itoa(cents%10)
	}
	return s + Space + "€"
}

// ShortEuros formats a price where there is little room, such as on an axis: gratuit,
// 7,50 €, 3 M€.
func ShortEuros(x float64) string {
	switch {
	case x == 0:
		return "gratuit"
	case x < 0.01:
		return "<" + Space + "0,01" + Space + "€"
	case x >= 1e15:
		return strconv.FormatFloat(x, 'g', 3, 64) + Space + "€"
	case x >= 1e9:
		return Count(int(math.Round(x/1e9))) + Space + "Md€"
	case x >= 1e6:
		return Count(int(math.Round(x/1e6))) + Space + "M€"
	}
	return Euros(x)
}

// Bytes formats a size: 320 o, 12,3 ko, 4,5 Mo, 2 048,0 Mo.
func Bytes(n int64) string {
	if n < 1000 {
		return Count(int(n)) + Space + "o"
	}
	tenths, unit := (n+50)/100, "ko"
	if tenths >= 10_000 {
		tenths, unit = (n+50_000)/100_000, "Mo"
	}
	return Count(int(tenths/10)) + "," + strconv.FormatInt(tenths%10, 10) + Space + unit
}

// Capital returns a word with its first letter, which must be ASCII, in upper case.
func Capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Functions returns what templates may call: formatting only, no decisions.
func Functions() map[string]any {
	return map[string]any{"capital": Capital, "count": Count, "date": Date, "figure": Figure, "plural": Plural, "price": Price}
}
