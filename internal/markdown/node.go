package markdown

import (
	"fmt"
	"html"
	"strconv"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// pageRenderer is goldmark's HTML renderer, except for the nodes that need care on
// a public page with a strict content security policy. It has no state.
var pageRenderer = renderer.NewRenderer(renderer.WithNodeRenderers(
	util.Prioritized(goldhtml.NewRenderer(), 1000),
	util.Prioritized(extension.NewTableHTMLRenderer(), 500),
	util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
	util.Prioritized(safeNodes{}, 100),
))

// safeNodes renders the nodes that goldmark would render unsafely, or in a way that
// does not suit a page.
type safeNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (safeNodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindText, renderText)
	reg.Register(extast.KindTableCell, renderTableCell)
	reg.Register(ast.KindHeading, renderHeading)
	reg.Register(ast.KindParagraph, renderParagraph)
	reg.Register(ast.KindTextBlock, renderTextBlock)
	reg.Register(ast.KindBlockquote, renderQuote)
	reg.Register(ast.KindRawHTML, renderNothing)
	reg.Register(kindElement, renderElement)
	reg.Register(ast.KindHTMLBlock, renderNothing)
	reg.Register(ast.KindLink, renderLink)
	reg.Register(ast.KindAutoLink, renderAutoLink)
	reg.Register(ast.KindImage, renderImage)
	reg.Register(ast.KindCodeBlock, renderCode)
	reg.Register(ast.KindFencedCodeBlock, renderCode)
	reg.Register(extast.KindTable, renderTable)
	reg.Register(extast.KindTaskCheckBox, renderTask)
	reg.Register(extast.KindFootnoteLink, renderNoteLink)
}

// The functions that render nodes write to memory, so their write errors are ignored.

// renderTableCell gives cells a class for their alignment: the policy forbids style attributes.
func renderTableCell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	cell, tag := n.(*extast.TableCell), "td"
	if n.Parent().Kind() == extast.KindTableHeader {
		tag = "th"
	}
	switch {
	case !entering:
		_, _ = w.WriteString("</" + tag + ">\n")
	case cell.Alignment == extast.AlignNone:
		_, _ = w.WriteString("<" + tag + ">")
	default:
		_, _ = w.WriteString("<" + tag + ` class="align-` + cell.Alignment.String() + `">`)
	}
	return ast.WalkContinue, nil
}

func renderText(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	t := n.(*ast.Text)
	value := []byte(keepCompounds(NoBreak(string(t.Segment.Value(source)))))
	if t.IsRaw() {
		goldhtml.DefaultWriter.RawWrite(w, value)
	} else {
		goldhtml.DefaultWriter.Write(w, value)
	}
	switch {
	case t.HardLineBreak():
		_, _ = w.WriteString("<br>\n")
	case t.SoftLineBreak():
		_ = w.WriteByte('\n')
	}
	return ast.WalkContinue, nil
}

func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	level := strconv.Itoa(h.Level)
	if !entering {
		_, _ = w.WriteString("</h" + level + ">\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<h" + level)
	if id, ok := explicitID(h); ok && h.Parent().Kind() == ast.KindDocument {
		_, _ = w.WriteString(` id="` + html.EscapeString(id) + `"`)
	}
	_ = w.WriteByte('>')
	return ast.WalkContinue, nil
}

func renderNothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func renderParagraph(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	card, _ := n.AttributeString(cardAttribute)
	html, _ := card.(string)
	if says, _ := n.AttributeString(wordsAttribute); says == false {
		if entering {
			_, _ = w.WriteString(html)
		}
		return ast.WalkSkipChildren, nil
	}
	if isShown(n) {
		return ast.WalkContinue, nil // figures are not allowed in a paragraph
	}
	if entering {
		_, _ = w.WriteString("<p>")
	} else {
		_, _ = w.WriteString("</p>\n" + html)
	}
	return ast.WalkContinue, nil
}

func renderTextBlock(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering && n.NextSibling() != nil && n.FirstChild() != nil && !isShown(n) {
		_ = w.WriteByte('\n')
	}
	return ast.WalkContinue, nil
}

func renderElement(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch tag := n.(*element).tag; {
	case entering:
		_, _ = w.WriteString("<" + tag + ">")
	case tag != "br":
		_, _ = w.WriteString("</" + tag + ">")
	}
	return ast.WalkContinue, nil
}

// renderTask renders the box of a task. Readers cannot change it, and hear its state.
func renderTask(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		if n.(*extast.TaskCheckBox).IsChecked {
			_, _ = w.WriteString(`<input type="checkbox" disabled checked aria-label="Fait"> `)
		} else {
			_, _ = w.WriteString(`<input type="checkbox" disabled aria-label="À faire"> `)
		}
	}
	return ast.WalkContinue, nil
}

// renderCode renders a block that can be scrolled with the keyboard.
func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		code := html.EscapeString(string(n.Lines().Value(source)))
		_, _ = w.WriteString("<pre tabindex=\"0\"><code>" + code + "</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

// renderTable wraps a table in a region that scrolls on narrow screens.
func renderTable(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		name, _ := n.AttributeString(nameAttribute)
		_, _ = w.WriteString(`<div class="wide" role="region" aria-label="` + html.EscapeString(fmt.Sprint(name)) +
			"\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}
