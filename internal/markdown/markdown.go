// Package markdown parses the Markdown of reviews and notes, which is CommonMark
// with tables, and turns it into sections, plain text and safe HTML.
//
// The embeddings, the anchors of the website and the checks of a content folder
// all use this package, so that they agree on the sections of a text, their ids
// and its plain form.
//
// goldmark takes minutes, or all memory, on some contrived texts of a megabyte
// (deep quotes, wide tables, endless brackets). Every function therefore estimates
// the cost of a text before parsing it; see tooComplex. No function fails or
// panics, whatever its input.
package markdown

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"palmares/internal/catalog"
)

// A Problem is something in a text that its author must fix.
type Problem struct {
	Line int // within the text, from 1
	Text string
}

// introduction is the id of the text before the first heading.
const introduction = "introduction"

// commonMark parses CommonMark with tables and `{#id}` after a heading. It has no
// state and is safe for concurrent use.
var commonMark = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithHeadingAttribute()),
).Parser()

// parse returns the tree of a text, or nil if it is too complex.
func parse(source []byte) ast.Node {
	if _, found := tooComplex(source); found {
		return nil
	}
	return commonMark.Parse(text.NewReader(source))
}

// Sections splits a review at its level 2 headings. A text that Check rejects is
// returned unchanged, as one section.
func Sections(body string) []catalog.Section {
	source := []byte(body)
	doc := parse(source)
	if doc == nil {
		return []catalog.Section{{ID: introduction, Text: body}}
	}
	var sections []catalog.Section
	w := writer{source: source}
	id, headed := introduction, false
	used := anchors{}
	flush := func() {
		if plain := w.take(); headed || plain != "" {
			sections = append(sections, catalog.Section{ID: used.unique(id), Text: plain})
		}
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			flush()
			id, headed = headingID(h, source), true
		}
		w.block(n, "\n\n")
	}
	flush()
	return sections
}

// Plain returns the text without markup: blocks separated by a blank line, one
// line per list item and table row. A text that Check rejects is returned
// unchanged.
func Plain(body string) string {
	source := []byte(body)
	doc := parse(source)
	if doc == nil {
		return body
	}
	w := writer{source: source}
	w.blocks(doc, "\n\n")
	return w.take()
}

// lineAt returns the number, from 1, of the line at an offset.
func lineAt(source []byte, offset int) int {
	return 1 + bytes.Count(source[:min(max(offset, 0), len(source))], []byte("\n"))
}
