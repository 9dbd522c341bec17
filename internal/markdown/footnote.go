package markdown

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// noteID returns the id of a footnote in a section. Ids of sections have no dots, and
// a footnote can be in several.
func (p *page) noteID(kind, section string, number int) string {
	return p.prefix + kind + "." + section + "." + strconv.Itoa(number)
}

// number sets the HTML of the references to footnotes in a section, and returns their
// ids by footnote.
func (p *page) number(s section) map[int][]string {
	if len(p.notes) == 0 {
		return nil
	}
	calls, here := map[int][]string{}, map[int]bool{}
	nodes := slices.Clone(s.blocks)
	for _, note := range s.notes {
		here[note.Index] = true
		if p.numbers[note.Index] == 0 {
			p.numbers[note.Index], p.homes[note.Index] = len(p.numbers)+1, s.id
		}
		nodes = append(nodes, note)
	}
	for _, n := range nodes {
		for _, link := range noteLinks(n) {
			number := p.numbers[link.Index]
			if isInside(link, ast.KindLink) || isInside(link, ast.KindImage) {
				link.SetAttributeString(markupAttribute, "<sup>"+strconv.Itoa(number)+"</sup>")
				continue
			}
			id, home := p.noteID("appel", s.id, number), s.id
			if !here[link.Index] {
				home = p.homes[link.Index]
			}
			if k := len(calls[link.Index]); k > 0 {
				id += "." + strconv.Itoa(k+1)
			}
			calls[link.Index] = append(calls[link.Index], id)
			link.SetAttributeString(markupAttribute,
				fmt.Sprintf(`<sup class="call"><a href="#%s" id="%s" role="doc-noteref" aria-label="Note %d">%d</a></sup>`,
					html.EscapeString(p.noteID("note", home, number)), html.EscapeString(id), number, number))
		}
	}
	return calls
}

// renderNote renders a footnote, with links back to where the section refers to it.
func (p *page) renderNote(s section, note *extast.Footnote, calls []string, levels *outline) {
	number := p.numbers[note.Index]
	var back strings.Builder
	for i, id := range calls {
		label := fmt.Sprintf("Retour à l’appel de la note %d", number)
		if len(calls) > 1 {
			label = fmt.Sprintf("Retour à l’appel %d de la note %d", i+1, number)
		}
		fmt.Fprintf(&back, "\u00a0<a href=\"#%s\" role=\"doc-backlink\" aria-label=\"%s\">↩</a>",
			html.EscapeString(id), label)
	}
	fmt.Fprintf(&p.b, "<li id=\"%s\" value=\"%d\">\n", html.EscapeString(p.noteID("note", s.id, number)), number)
	for n := note.FirstChild(); n != nil; n = n.NextSibling() {
		levels.adjust(n)
		p.nameTables(n)
		last := n.NextSibling() == nil && (n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock)
		start := p.b.Len()
		_ = pageRenderer.Render(&p.b, p.source, n) // writing to memory cannot fail
		if inner, ok := bytes.CutSuffix(p.b.Bytes()[start:], []byte("</p>\n")); ok && last {
			p.b.Truncate(start + len(inner))
			p.b.WriteString(back.String() + "</p>\n")
			back.Reset()
		}
	}
	if back.Len() > 0 {
		p.b.WriteString("<p>" + strings.TrimPrefix(back.String(), "\u00a0") + "</p>\n")
	}
	p.b.WriteString("</li>\n")
}

func isInside(n ast.Node, kind ast.NodeKind) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == kind {
			return true
		}
	}
	return false
}

func renderNoteLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if markup, ok := n.AttributeString(markupAttribute); ok && entering {
		_, _ = w.WriteString(markup.(string))
	}
	return ast.WalkContinue, nil
}
