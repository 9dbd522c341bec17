package site

import (
	"math"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// French typography: a decimal comma, a narrow no-break space between thousands,
// a no-break space before signs and high punctuation.
const (
	space  = "\u00a0"
	narrow = "\u202f"
)

var months = [...]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"}

var shortMonths = [...]string{"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."}

// date writes a day of the catalogue as people do: 1er mars 2026. What is no day
// stays as it is.
func date(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	number := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		number = "1er"
	}
	return number + space + months[t.Month()-1] + " " + strconv.Itoa(t.Year())
}

// count writes a whole number.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + narrow + s[i:]
	}
	return s
}

// figure writes a number with at least one decimal and at most two: 8,0; 7,25.
func figure(x float64) string {
	s := strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
	whole, decimals, _ := strings.Cut(s, ".")
	if decimals == "" {
		decimals = "0"
	}
	return whole + "," + decimals
}

// tenth gives the part of ten that a figure is, in hundredths, for bars.
func tenth(x float64) int { return int(math.Round(min(max(x, 0), 10) * 10)) }

// rank sorts scores into the three looks of their badge.
func rank(score float64) string {
	switch {
	case score >= 8:
		return "note-high"
	case score < 5:
		return "note-low"
	}
	return "note-fair"
}

// plural is a number with its noun, in the singular below two as French has it.
func plural(n int, one, many string) string {
	if n < 2 {
		return count(n) + space + one
	}
	return count(n) + space + many
}

var (
	narrowSpaces = strings.NewReplacer(" ", narrow, space, narrow)
	plainNumber  = strings.NewReplacer(" ", "", space, "", narrow, "", ",", ".")
)

// price sets the spaces of a price so that no line ends inside it.
func price(s string) string {
	amount, period, ok := strings.Cut(s, " €/")
	if !ok {
		return s
	}
	return narrowSpaces.Replace(amount) + space + "€/" + period
}

func nobreak(s string) string { return markdown.NoBreak(s) }

// An amount is a price that can be compared and drawn.
type amount struct {
	euros  float64
	period string
}

// parsePrice reads a price of the catalogue, which was checked when it was
// published.
func parsePrice(s string) (amount, bool) {
	if !catalog.IsPrice(s) {
		return amount{}, false
	}
	number, period, _ := strings.Cut(s, " €/")
	number = plainNumber.Replace(number)
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(x, 0) {
		return amount{}, false
	}
	return amount{x, period}, true
}

// euros writes an amount of money: 18 €, 7,50 €, 1 200 €.
func euros(x float64) string {
	whole := math.Trunc(x)
	cents := int(math.Round((x - whole) * 100))
	if cents == 100 {
		whole, cents = whole+1, 0
	}
	s := count(int(whole))
	if cents != 0 {
		s += "," + strconv.Itoa(cents/10) + strconv.Itoa(cents%10)
	}
	return s + space + "€"
}

// The words for the enumerated values of the interface.
var (
	readerWords = map[catalog.ICP]string{"vibe-coder": "vibe coders", "agentic-engineer": "agentic engineers"}
	readerNames = map[catalog.ICP]string{
		"vibe-coder":       "Vibe coders",
		"agentic-engineer": "Agentic engineers",
		"mixte":            "Vibe coders et agentic engineers",
	}
)

// capital writes a word with a capital.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
