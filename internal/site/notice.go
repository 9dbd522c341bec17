package site

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A notice tells visitors that the name they search for belongs to a tool that was
// retired or renamed.
type notice struct {
	Name    string // of the retired tool, or the current name
	Href    string
	Retired bool
}

// normalize returns the words of a text in the form of a slug: lower case, without
// accents and punctuation, joined by hyphens.
func normalize(text string) string {
	return strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}
