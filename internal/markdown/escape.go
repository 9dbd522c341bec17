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

// Escape writes plain text as Markdown that says the same on one line: wherever
// it is put, at the beginning of a line, in a table or in a link, nothing in it
// is taken for markup. Signs that mean nothing where they stand are left alone,
// since most readers of the result read its source.
func Escape(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return r == ' ' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r)
	}), " ")
	var b strings.Builder
	for i := range len(s) {
		if opensMarkup(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// opensMarkup tells whether the byte at i could begin or end markup.
func opensMarkup(s string, i int) bool {
	switch s[i] {
	case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '{', '}':
		return true
	case '_': // inside a word it is a letter
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+1:])
		return !isWord(before) || !isWord(after)
	case '&':
		return i+1 < len(s) && (s[i+1] == '#' || isWord(rune(s[i+1])))
	case '#': // before a heading, or after one
		return i == 0 || s[i-1] == ' ' || s[i-1] == '#'
	case '+', '-', '=', ':':
		return i == 0
	case '.', ')': // of an ordered list
		return i > 0 && i < 10 && strings.Trim(s[:i], "0123456789") == ""
	}
	return false
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Inert gives a text with its raw HTML written so that it is shown and not obeyed.
// All else stays as its author wrote it.
func Inert(body string) string {
	// To make an HTML block text can join it with the lines after it, in which
	// then more is taken for HTML; no known text needs a third turn.
	for range 3 {
		spans, readable := rawHTML(body)
		if !readable {
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

// rawHTML finds where a text holds HTML, in order; not readable is a text that is
// too intricate to be parsed.
func rawHTML(body string) (spans []text.Segment, readable bool) {
	if !strings.Contains(body, "<") {
		return nil, true
	}
	doc := parse([]byte(body))
	if doc == nil {
		return nil, false
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			spans = append(spans, n.Segments.Sliced(0, n.Segments.Len())...)
		case *ast.HTMLBlock:
			spans = append(spans, n.Lines().Sliced(0, n.Lines().Len())...)
			if n.HasClosure() {
				spans = append(spans, n.ClosureLine)
			}
		}
		return ast.WalkContinue, nil
	})
	slices.SortFunc(spans, func(a, b text.Segment) int { return cmp.Compare(a.Start, b.Start) })
	return spans, true
}
