package markdown

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// A writer builds the plain text of a tree, block by block.
type writer struct {
	source []byte
	b      strings.Builder
}

// take returns the text written so far and resets the writer.
func (w *writer) take() string {
	s := strings.TrimSpace(w.b.String())
	w.b.Reset()
	return s
}

// add writes one block, after a separator unless it is the first.
func (w *writer) add(separator, block string) {
	if strings.TrimSpace(block) == "" {
		return
	}
	if w.b.Len() > 0 {
		w.b.WriteString(separator)
	}
	w.b.WriteString(block)
}

func (w *writer) blocks(parent ast.Node, separator string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n, separator)
	}
}

func (w *writer) block(n ast.Node, separator string) {
	inner := writer{source: w.source}
	switch n := n.(type) {
	case *ast.Heading, *ast.Paragraph, *ast.TextBlock:
		inner.inline(n)
		w.add(separator, inner.take())
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.add(separator, strings.TrimRight(w.lines(n), "\n"))
	case *ast.HTMLBlock:
		html := w.lines(n)
		if n.HasClosure() {
			html += string(n.ClosureLine.Value(w.source))
		}
		w.add(separator, stripHTML(html))
	case *ast.List:
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			inner.blocks(item, "\n")
		}
		w.add(separator, inner.b.String())
	case *tables.Table:
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			w.row(row, &inner)
		}
		w.add(separator, inner.b.String())
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition:
	default: // a quote
		w.blocks(n, separator)
	}
}

func (w *writer) row(row ast.Node, table *writer) {
	var cells []string
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		inner := writer{source: w.source}
		inner.inline(cell)
		cells = append(cells, inner.take())
	}
	if strings.Join(cells, "") != "" {
		table.add("\n", strings.TrimSpace(strings.Join(cells, " | ")))
	}
}

func (w *writer) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.source))
	}
	return b.String()
}

func (w *writer) inline(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			if n.IsRaw() {
				w.b.Write(n.Segment.Value(w.source))
			} else {
				w.unescape(n.Segment.Value(w.source))
			}
			switch {
			case n.HardLineBreak():
				w.b.WriteByte('\n')
			case n.SoftLineBreak():
				w.b.WriteByte(' ')
			}
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					w.b.WriteString(strings.ReplaceAll(string(t.Segment.Value(w.source)), "\n", " "))
				}
			}
		case *ast.String:
			w.b.Write(n.Value)
		case *ast.AutoLink:
			w.b.Write(n.Label(w.source))
		case *ast.RawHTML:
		default: // emphasis, links, images: their text
			w.inline(n)
		}
	}
}

// unescape writes s with backslash escapes and entities resolved.
func (w *writer) unescape(s []byte) {
	for len(s) > 0 {
		i := 0
		for i < len(s) && s[i] != '\\' && s[i] != '&' {
			i++
		}
		w.b.Write(s[:i])
		if s = s[i:]; len(s) == 0 {
			return
		}
		if s[0] == '\\' && len(s) > 1 && util.IsPunct(s[1]) {
			w.b.WriteByte(s[1])
			s = s[2:]
			continue
		}
		if s[0] == '&' {
			if decoded, n := entity(s); n > 0 {
				w.b.WriteString(decoded)
				s = s[n:]
				continue
			}
		}
		w.b.WriteByte(s[0])
		s = s[1:]
	}
}

// entity decodes the entity at the start of s and returns its length, or 0 if
// there is none.
func entity(s []byte) (string, int) {
	const maxLength = 40 // the longest name of HTML 5 has 31 letters
	end := 1
	for end < len(s) && end < maxLength && s[end] != ';' {
		end++
	}
	if end == len(s) || s[end] != ';' {
		return "", 0
	}
	name := string(s[1:end])
	digits, numeric := strings.CutPrefix(name, "#")
	if !numeric {
		if e, ok := util.LookUpHTML5EntityByName(name); ok {
			return string(e.Characters), end + 1
		}
		return "", 0
	}
	base, maxDigits := 10, 7
	if len(digits) > 0 && (digits[0] == 'x' || digits[0] == 'X') {
		base, maxDigits, digits = 16, 6, digits[1:]
	}
	v, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > maxDigits {
		return "", 0
	}
	return string(printable(util.ToValidRune(rune(v)))), end + 1
}

// printable replaces control characters, which an entity can stand for, by spaces:
// they are not allowed in XML.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return ' '
	}
	return r
}
