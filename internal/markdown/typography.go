package markdown

import "strings"

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
		if before || strings.HasSuffix(s[:i], "«") {
			b.WriteString(s[done:i])
			b.WriteString(space)
			done = i + 1
		}
	}
	b.WriteString(s[done:])
	return narrow.Replace(b.String())
}

var narrow = strings.NewReplacer("\u00a0;", "\u202f;", "\u00a0!", "\u202f!", "\u00a0?", "\u202f?")
