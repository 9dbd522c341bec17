// Package markdown parses the Markdown of reviews, prose, notes and pages, and turns
// it into sections, plain text and safe HTML.
//
// The dialect is CommonMark with GitHub's tables, strikethrough, task lists, bare
// addresses and footnotes, and `{#id}` after a heading. Of HTML it has <br>, <kbd>,
// <sub> and <sup>, without attributes and closed within their block. Nothing that an
// author writes is lost silently: what is not rendered is a Problem of Check.
// Sections, Plain and HTML still accept every text, because a database may hold
// texts that were published before a check existed.
//
// The embeddings, the anchors of the website and the checks of a content folder
// all use this package, so that they agree on the sections of a text, their ids
// and its plain form.
//
// In plain text a picture is its description and its caption, a task begins with
// [x] or [ ], and a footnote is a block at the end of the section that refers to it.
// On a page, footnotes are likewise at the end of their section; one that two
// sections refer to is in both.
//
// A link is written as it works in an editor or as an address, and a page gets the
// address; see Addresses for the rules.
//
// goldmark takes minutes, or all memory, on some contrived texts of a megabyte
// (deep quotes, wide tables, endless brackets). Every function therefore estimates
// the cost of a text before parsing it; see tooComplex. No function fails or
// panics, whatever its input.
package markdown

import (
	"bytes"
	"regexp"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A Problem is something in a text that its author must fix.
type Problem struct {
	Line int // within the text, from 1
	Text problem.Text
}

// introduction is the id of the text before the first heading.
const introduction = "introduction"

// Sections splits a review at its level 2 headings. A text that is too complex is
// returned unchanged, as one section.
func Sections(body string) []catalog.Section {
	doc := parse([]byte(body))
	if doc == nil {
		return []catalog.Section{{ID: introduction, Text: body}}
	}
	var sections []catalog.Section
	for _, s := range doc.split() {
		if s.headed || s.text != "" {
			sections = append(sections, catalog.Section{ID: s.id, Text: s.text})
		}
	}
	return sections
}

// Plain returns the text without markup: blocks separated by a blank line, one
// line per list item and table row, footnotes last. A text that is too complex is
// returned unchanged.
func Plain(body string) string {
	doc := parse([]byte(body))
	if doc == nil {
		return body
	}
	w := writer{source: doc.source}
	w.blocks(doc.root, "\n\n")
	for _, note := range doc.referred(doc.root) {
		w.blocks(note, "\n\n")
	}
	return w.take()
}

// Excerpt returns the first paragraph of a text as plain text on one line, or "": not
// a heading, nor a paragraph in a list or a quote. What is struck through, pictures and
// references to footnotes are left out.
func Excerpt(body string) string {
	doc := parse([]byte(body))
	if doc == nil {
		return ""
	}
	return doc.firstParagraph(children(doc.root))
}

func children(parent ast.Node) []ast.Node {
	var list []ast.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		list = append(list, n)
	}
	return list
}

// firstParagraph returns the first paragraph among blocks that has something to excerpt, or "".
func (d *document) firstParagraph(blocks []ast.Node) string {
	for _, n := range blocks {
		if n.Kind() != ast.KindParagraph {
			continue
		}
		if text := d.excerpt(n); text != "" {
			return text
		}
	}
	return ""
}

// excerpt returns the text of a block on one line, without what an excerpt leaves out.
func (d *document) excerpt(block ast.Node) string {
	w := writer{source: d.source, isExcerpt: true}
	w.inline(block)
	text := aroundOmitted.ReplaceAllStringFunc(strings.Join(strings.Fields(w.take()), " "), func(gap string) string {
		switch last := gap[len(gap)-1]; {
		case strings.IndexByte(".,)", last) >= 0:
			return string(last)
		case strings.Contains(gap, " "):
			return " "
		}
		return ""
	})
	return strings.TrimSpace(text)
}

// omitted stands for what an excerpt leaves out, until it is removed with one of the
// spaces around it.
const omitted = "\x00"

var aroundOmitted = regexp.MustCompile(`[ \x00]*\x00 ?[.,)]?`)

// lines finds the line of an offset.
type lines []int // the offsets of line feeds

func newLines(source []byte) lines {
	l := make(lines, 0, bytes.Count(source, []byte("\n")))
	for i, c := range source {
		if c == '\n' {
			l = append(l, i)
		}
	}
	return l
}

// at returns the number, from 1, of the line at an offset.
func (l lines) at(offset int) int { return 1 + sort.SearchInts(l, offset) }
