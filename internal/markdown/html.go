package markdown

import (
	"html"
	"strings"
)

// stripHTML returns the text of a block of raw HTML, without tags, comments,
// scripts and styles. It need not agree with a browser, because the result is
// always used as text, never as markup.
func stripHTML(block string) string {
	var b strings.Builder
	for block != "" {
		i := strings.IndexByte(block, '<')
		if i < 0 {
			b.WriteString(block)
			break
		}
		b.WriteString(block[:i])
		block = block[i:]
		rest, ok := skipTag(block)
		if !ok {
			b.WriteByte('<')
			block = block[1:]
			continue
		}
		block = rest
	}
	var lines []string
	for line := range strings.Lines(strings.Map(printable, html.UnescapeString(b.String()))) {
		line = strings.TrimSpace(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// skipTag returns s without the tag, comment, script or style at its start, and
// reports whether there is one. One that is not closed extends to the end.
func skipTag(s string) (rest string, ok bool) {
	for _, whole := range []struct{ open, end string }{
		{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<script", "</script>"}, {"<style", "</style>"},
	} {
		if len(s) >= len(whole.open) && strings.EqualFold(s[:len(whole.open)], whole.open) {
			return after(s, whole.end), true
		}
	}
	if len(s) < 2 || !(s[1] == '/' || s[1] == '!' || s[1] >= 'a' && s[1] <= 'z' || s[1] >= 'A' && s[1] <= 'Z') {
		return s, false
	}
	var quote byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return s[i+1:], true
		}
	}
	return "", true
}

// after returns what follows the first occurrence of end in s, ignoring case.
func after(s, end string) string {
	for i := 0; i+len(end) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(end)], end) {
			return s[i+len(end):]
		}
	}
	return ""
}
