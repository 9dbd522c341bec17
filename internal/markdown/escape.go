package markdown

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Escape returns plain text as one line of Markdown. Wherever it is put (at the
// start of a line, in a table, in a link), nothing in it is interpreted as markup.
// Only characters that would be are escaped, because most readers of the result
// read its source.
func Escape(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return r == ' ' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r)
	}), " ")
	var b strings.Builder
	for i := range len(s) {
		if isMarkup(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// isMarkup reports whether the byte at i could begin or end markup.
func isMarkup(s string, i int) bool {
	switch s[i] {
	case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '{', '}':
		return true
	case '_': // an ordinary character inside a word
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+1:])
		return !isWord(before) || !isWord(after)
	case '&':
		return i+1 < len(s) && (s[i+1] == '#' || isWord(rune(s[i+1])))
	case '#': // before a heading, or after one
		return i == 0 || s[i-1] == ' ' || s[i-1] == '#'
	case '+', '-', '=', ':':
		return i == 0
	case '.', ')': // after the number of an ordered list
		return i > 0 && i < 10 && strings.Trim(s[:i], "0123456789") == ""
	}
	return false
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// EscapeHTML returns a Markdown text with its raw HTML escaped, so that it is
// displayed instead of interpreted. Everything else is unchanged, allowed elements
// included.
func EscapeHTML(body string) string {
	// Escaping an HTML block can merge it with the lines below, in which more HTML
	// is then found; no known text needs a third pass.
	for range 3 {
		spans, parsed := rawHTML(body)
		if !parsed {
			break
		}
		if len(spans) == 0 {
			return body
		}
		var b strings.Builder
		done := 0
		for _, s := range spans {
			b.WriteString(body[done:s.Start])
			b.WriteString(strings.ReplaceAll(body[s.Start:s.Stop], "<", "&lt;"))
			done = s.Stop
		}
		b.WriteString(body[done:])
		body = b.String()
	}
	return strings.ReplaceAll(body, "<", "&lt;")
}

// rawHTML returns the raw HTML of a text, in order. parsed is false if the text is
// too complex.
func rawHTML(body string) (spans []text.Segment, parsed bool) {
	if !strings.Contains(body, "<") {
		return nil, true
	}
	doc := parse([]byte(body))
	if doc == nil {
		return nil, false
	}
	collect := func(n ast.Node) {
		switch n := n.(type) {
		case *ast.RawHTML:
			spans = append(spans, n.Segments.Sliced(0, n.Segments.Len())...)
		case *ast.HTMLBlock:
			spans = append(spans, n.Lines().Sliced(0, n.Lines().Len())...)
			if n.HasClosure() {
				spans = append(spans, n.ClosureLine)
			}
		}
	}
	doc.walk(collect)
	slices.SortFunc(spans, func(a, b text.Segment) int { return cmp.Compare(a.Start, b.Start) })
	return spans, true
}
