package markdown

import (
	"bufio"
	"bytes"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	goldhtml "github.com/yuin/goldmark/renderer/html"
)

// A writer builds the plain text of a tree, block by block.
type writer struct {
	source    []byte
	b         strings.Builder
	broken    bool // a line was broken with <br>
	isExcerpt bool // with omitted in place of what an excerpt leaves out
}

var aroundBreaks = regexp.MustCompile(`[ \t]*\n[ \t]*`)

// take returns the text written so far and resets the writer.
func (w *writer) take() string {
	s := strings.TrimSpace(w.b.String())
	if w.broken {
		s = aroundBreaks.ReplaceAllString(s, "\n")
	}
	w.b.Reset()
	w.broken = false
	return s
}

// plain returns the plain text of the inline nodes below a node.
func plain(source []byte, n ast.Node) string {
	w := writer{source: source}
	w.inline(n)
	return w.take()
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
		w.add(separator, plain(w.source, n))
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.add(separator, strings.TrimRight(string(n.Lines().Value(w.source)), "\n"))
	case *ast.List:
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			inner.blocks(item, "\n")
		}
		w.add(separator, inner.b.String())
	case *extast.Table:
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			var cells []string
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cells = append(cells, strings.ReplaceAll(plain(w.source, cell), "\n", " ")) // of <br>
			}
			if strings.Join(cells, "") != "" {
				inner.add("\n", strings.TrimSpace(strings.Join(cells, " | ")))
			}
		}
		w.add(separator, inner.b.String())
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition, *ast.HTMLBlock:
	default: // a quote
		_, title := callout(n)
		w.add(separator, title)
		w.blocks(n, separator)
	}
}

func (w *writer) inline(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if w.isExcerpt {
			switch n.Kind() {
			case ast.KindImage, extast.KindStrikethrough, extast.KindFootnoteLink, extast.KindTaskCheckBox:
				w.b.WriteString(omitted)
				continue
			}
		}
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
			w.autoLink(n)
		case *ast.RawHTML, *extast.FootnoteLink:
		case *element:
			w.element(n)
		case *ast.Image:
			w.picture(n)
		case *extast.TaskCheckBox:
			if n.IsChecked {
				w.b.WriteString("[x] ")
			} else {
				w.b.WriteString("[ ] ")
			}
		default: // emphasis, strikethrough, links: their text
			w.inline(n)
		}
	}
}

// element writes the text of an allowed tag. Raised digits stay raised: 10⁶ is not 106.
func (w *writer) element(n *element) {
	switch n.tag {
	case "br":
		w.b.WriteByte('\n')
		w.broken = true
	case "sup":
		inner := writer{source: w.source}
		inner.inline(n)
		if power := inner.b.String(); strings.Trim(power, "0123456789+-−") == "" {
			w.b.WriteString(raised.Replace(power))
			return
		}
	}
	w.inline(n)
}

var raised = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7",
	"⁷", "8", "⁸", "9", "⁹",
	"+", "⁺", "-", "⁻", "−", "⁻")

// autoLink writes an address. In a bare one, as in text, entities are resolved.
func (w *writer) autoLink(n *ast.AutoLink) {
	if n.Pos() < 0 || n.Pos() >= len(w.source) || w.source[n.Pos()] != '<' { // a bare one
		w.unescape(n.Label(w.source))
	} else {
		w.b.Write(n.Label(w.source))
	}
}

// picture writes the description of a picture and its caption.
func (w *writer) picture(n *ast.Image) {
	start := w.b.Len()
	w.inline(n)
	title := caption(n)
	switch {
	case title == "":
	case w.b.Len() == start:
		w.b.WriteString(title)
	case isFigure(n):
		w.b.WriteString("\n" + title)
	default:
		w.b.WriteString(" (" + title + ")")
	}
}

// caption returns the title of a picture as plain text.
func caption(n *ast.Image) string {
	var w writer
	w.unescape(n.Title)
	return strings.Join(strings.Fields(w.take()), " ")
}

// isFigure reports whether a picture is alone in its block, be it in a link.
func isFigure(n *ast.Image) bool {
	block := n.Parent()
	if block.Kind() == ast.KindLink && n.PreviousSibling() == nil && n.NextSibling() == nil {
		block = block.Parent()
	}
	return (block.Kind() == ast.KindParagraph || block.Kind() == ast.KindTextBlock) && hasFigures(block)
}

// hasFigures reports whether a block consists of pictures.
func hasFigures(block ast.Node) bool {
	found := false
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Image:
			found = true
		case *ast.Link:
			if n.ChildCount() != 1 || n.FirstChild().Kind() != ast.KindImage {
				return false
			}
			found = true
		case *ast.Text:
			if !n.Segment.IsEmpty() {
				return false
			}
		default:
			return false
		}
	}
	return found
}

// unescape writes s with backslash escapes and entities resolved, as goldmark does on a page.
func (w *writer) unescape(s []byte) {
	if !bytes.ContainsAny(s, `\&`) {
		w.b.Write(s)
		return
	}
	var page bytes.Buffer
	out := bufio.NewWriter(&page)
	goldhtml.DefaultWriter.Write(out, s)
	_ = out.Flush() // memory cannot fail
	w.b.WriteString(strings.Map(printable, html.UnescapeString(page.String())))
}

// printable replaces control characters, which an entity can stand for, by spaces:
// they are not allowed in XML.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return ' '
	}
	return r
}
