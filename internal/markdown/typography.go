package markdown

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// NoBreak replaces spaces by no-break spaces where French typography requires
// them: before high punctuation and signs, and inside quotation marks. Editors
// write plain spaces, and a line must not begin with a colon. Those before ; ! and ? are narrow.
func NoBreak(s string) string {
	if !strings.ContainsAny(s, " \u00a0") {
		return s
	}
	const space = "\u00a0"
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if s[i] != ' ' {
			continue
		}
		rest := s[i+1:]
		before := rest != "" &&
			(strings.IndexByte(":;!?%", rest[0]) >= 0 || strings.HasPrefix(rest, "»") || strings.HasPrefix(rest, "€"))
		if before || strings.HasSuffix(s[:i], "«") || isThousands(s[:i], rest) {
			b.WriteString(s[done:i])
			b.WriteString(space)
			done = i + 1
		}
	}
	b.WriteString(s[done:])
	return narrow.Replace(b.String())
}

// isThousands reports whether a space is inside a number, such as 12 345: up to three digits before it,
// three after it.
func isThousands(before, after string) bool {
	digits := func(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
	left := len(before) - len(strings.TrimRight(before, "0123456789"))
	return 0 < left && left <= 3 && digits(after) == 3
}

var narrow = strings.NewReplacer("\u00a0;", "\u202f;", "\u00a0!", "\u202f!", "\u00a0?", "\u202f?")

// longestCompound is the length, in characters, up to which a compound stays on one line. It fits the
// narrowest column of a phone; longer ones may break after a hyphen.
const longestCompound = 20

var compound = regexp.MustCompile(`[^\s\x{a0}\x{202f}]*[\p{L}\p{N}]-[\p{L}\p{N}][^\s\x{a0}\x{202f}]*`)

// keepCompounds gives words such as faut-il or SHA-256 no-break hyphens, since browsers break lines after any
// other. Addresses keep theirs, for readers who copy them.
func keepCompounds(s string) string {
	if !strings.Contains(s, "-") {
		return s
	}
	return compound.ReplaceAllStringFunc(s, func(word string) string {
		if utf8.RuneCountInString(word) > longestCompound || strings.ContainsAny(strings.TrimRight(word, ".:"), "./:@_") {
			return word
		}
		return strings.ReplaceAll(word, "-", "\u2011")
	})
}
