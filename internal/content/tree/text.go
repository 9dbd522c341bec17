package tree

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// AppendText appends a text, in double quotes if anything in it could have a
// meaning in YAML.
func AppendText(b []byte, s string) []byte {
	if isBareText(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\ufeff' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// isBareText reports whether a text needs no quotes. It is narrow on purpose: only
// dates, prices, and what begins with a letter and is not a YAML keyword.
func isBareText(s string) bool {
	if catalog.IsDate(s) {
		return true
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	first, _ := utf8.DecodeRuneInString(s)
	if !unicode.IsLetter(first) && !catalog.IsPrice(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !strings.ContainsRune(" 0123456789-./:,;+_()?=%&#€’", r) {
			return false
		}
	}
	return !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":") &&
		!strings.HasSuffix(s, " ")
}
