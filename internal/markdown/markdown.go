// Package markdown reads the Markdown of reviews and notes: CommonMark with
// tables, parsed by goldmark.
//
// What the catalogue promises about a text (its sections, their ids, its plain
// form) is decided here and nowhere else, so that the embeddings, the anchors of
// the website and the checks of a content folder cannot disagree: all of them
// start from the same tree. A rendering to HTML belongs here too.
//
// goldmark takes minutes, or all memory, over a few contrived texts of a
// megabyte (deep quotes, wide tables, endless brackets). Every function
// therefore weighs a text before it parses it; see tooIntricate. No function
// fails or panics, whatever it is given.
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

// A Problem is something in a text that its author must mend.
type Problem struct {
	Line int // within the text, from 1
	Text string
}

// introduction is the id of the section before the first heading.
const introduction = "introduction"

// dialect is CommonMark with tables and `{#id}` after a heading. A goldmark
// parser holds no state between texts and is safe for concurrent use.
var dialect = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithHeadingAttribute()),
).Parser()

// parse gives the tree of a text, nil when the text is too intricate for one.
func parse(source []byte) ast.Node {
	if _, intricate := tooIntricate(source); intricate {
		return nil
	}
	return dialect.Parse(text.NewReader(source))
}

// Sections cuts a review at its headings of level 2. A text that Check refuses
// is one section, as it stands.
func Sections(body string) []catalog.Section {
	source := []byte(body)
	doc := parse(source)
	if doc == nil {
		return []catalog.Section{{ID: introduction, Text: body}}
	}
	var sections []catalog.Section
	w := writer{source: source}
	id, headed := introduction, false
	taken := anchors{}
	cut := func() {
		if plain := w.take(); headed || plain != "" {
			sections = append(sections, catalog.Section{ID: taken.take(id), Text: plain})
		}
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			cut()
			id, headed = headingID(h, source), true
		}
		w.block(n, "\n\n")
	}
	cut()
	return sections
}

// Plain is the text without its markup: blocks separated by a blank line, one
// line per list item and table row. A text that Check refuses stays as it is.
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

// lineAt is the number, from 1, of the line that holds an offset.
func lineAt(source []byte, offset int) int {
	return 1 + bytes.Count(source[:min(max(offset, 0), len(source))], []byte("\n"))
}
