package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// dialect parses the Markdown of the package. It has no state and is safe for
// concurrent use. Footnotes are parsed by goldmark, but sorted and rendered here,
// section by section.
var dialect = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(blockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(taskParser{extension.NewTaskCheckBoxParser()}, 0),
			util.Prioritized(extension.NewFootnoteParser(), 101),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithHeadingAttribute(),
	)),
	goldmark.WithExtensions(
		extension.Table,
		extension.Strikethrough,
		extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"})),
	),
).Parser()

func blockParsers() []util.PrioritizedValue {
	list := []util.PrioritizedValue{util.Prioritized(footnoteParser{extension.NewFootnoteBlockParser()}, 999)}
	for _, p := range parser.DefaultBlockParsers() {
		if p.Value == parser.NewHTMLBlockParser() {
			p.Value = htmlParser{parser.NewHTMLBlockParser()}
		}
		list = append(list, p)
	}
	return list
}

// htmlParser leaves lines that begin with an allowed tag to the paragraph, also
// where the tag is alone on its line.
type htmlParser struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (p htmlParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	line = bytes.TrimLeft(line, " ")
	if end := bytes.IndexByte(line, '>'); end > 0 {
		if _, name := tagOf(line[:end+1]); allowedTags[name] {
			return nil, parser.NoChildren
		}
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// footnoteParser accepts footnotes at the top level only: in goldmark, the text of
// a footnote inside another one is lost.
type footnoteParser struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (p footnoteParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if parent.Kind() != ast.KindDocument {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// taskParser requires a space after [x], as GitHub does: [X](https://x.example) is
// a link.
type taskParser struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (p taskParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); len(line) > 3 && !util.IsSpace(line[3]) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// A document is a parsed text. The definitions of its footnotes are not in the
// tree; a reference is a FootnoteLink with the Index of its definition.
type document struct {
	source []byte
	root   ast.Node
	notes  []*extast.Footnote // in the order of their definitions

	byIndex map[int]*extast.Footnote
	within  map[*extast.Footnote][]int // indexes of the footnotes it refers to
}

// parse returns the tree of a text, or nil if it is too complex.
func parse(source []byte) *document {
	if _, found := tooComplex(string(source)); found {
		return nil
	}
	return parseSimple(source)
}

// parseSimple returns the tree of a text that is not too complex.
func parseSimple(source []byte) *document {
	d := &document{source: source, root: dialect.Parse(text.NewReader(source))}
	if bytes.Contains(source, []byte("[^")) {
		d.takeNotes()
	}
	if bytes.Contains(source, []byte("[!")) {
		d.markCallouts()
	}
	if bytes.IndexByte(source, '<') >= 0 {
		d.nestHTML()
	}
	return d
}

func (d *document) takeNotes() {
	for n := d.root.FirstChild(); n != nil; {
		next := n.NextSibling()
		if list, ok := n.(*extast.FootnoteList); ok {
			d.root.RemoveChild(d.root, list)
			for note := list.FirstChild(); note != nil; note = note.NextSibling() {
				d.notes = append(d.notes, note.(*extast.Footnote))
			}
		}
		n = next
	}
	d.byIndex, d.within = map[int]*extast.Footnote{}, map[*extast.Footnote][]int{}
	for _, note := range d.notes {
		if note.Index > 0 {
			d.byIndex[note.Index] = note
		}
		for _, link := range noteLinks(note) {
			d.within[note] = append(d.within[note], link.Index)
		}
	}
}

// referred returns the footnotes that nodes refer to, in the order of the
// references, then those that these footnotes refer to.
func (d *document) referred(nodes ...ast.Node) []*extast.Footnote {
	if len(d.notes) == 0 {
		return nil
	}
	var list []*extast.Footnote
	seen := map[int]bool{}
	add := func(index int) {
		if note := d.byIndex[index]; note != nil && !seen[index] {
			seen[index] = true
			list = append(list, note)
		}
	}
	for _, n := range nodes {
		for _, link := range noteLinks(n) {
			add(link.Index)
		}
	}
	for i := 0; i < len(list); i++ { // the list grows
		for _, index := range d.within[list[i]] {
			add(index)
		}
	}
	return list
}

// noteLinks returns the references to footnotes below n.
func noteLinks(n ast.Node) []*extast.FootnoteLink {
	var list []*extast.FootnoteLink
	walk(n, func(n ast.Node) {
		if link, ok := n.(*extast.FootnoteLink); ok {
			list = append(list, link)
		}
	})
	return list
}

// walk calls visit for every node of the document, those of its footnotes included.
func (d *document) walk(visit func(ast.Node)) {
	walk(d.root, visit)
	for _, note := range d.notes {
		walk(note, visit)
	}
}

// walk calls visit for n and every node below it, parents first.
func walk(n ast.Node, visit func(ast.Node)) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// An element is an allowed HTML element in a tree.
type element struct {
	ast.BaseInline
	tag string // br, kbd, sub or sup
}

var kindElement = ast.NewNodeKind("Element")

// Kind implements ast.Node.
func (*element) Kind() ast.NodeKind { return kindElement }

// Dump implements ast.Node.
func (e *element) Dump(source []byte, level int) {
	ast.DumpHelper(e, source, level, map[string]string{"Tag": e.tag}, nil)
}

var allowedTags = map[string]bool{"br": true, "kbd": true, "sub": true, "sup": true}

// maxElements bounds the nesting of HTML elements, which the parser does not.
const maxElements = 10

// nestHTML replaces the allowed tags of a document by elements. Tags that are not allowed
// or not paired within their parent stay RawHTML nodes, which are not rendered.
func (d *document) nestHTML() {
	var parents []ast.Node
	seen := map[ast.Node]bool{}
	d.walk(func(n ast.Node) {
		if n.Kind() == ast.KindRawHTML && !seen[n.Parent()] {
			seen[n.Parent()] = true
			parents = append(parents, n.Parent())
		}
	})
	for _, p := range parents {
		d.nestTags(p)
	}
}

func (d *document) nestTags(parent ast.Node) {
	var open []*ast.RawHTML
	count := map[string]int{}
	for n := parent.FirstChild(); n != nil; {
		next := n.NextSibling()
		raw, ok := n.(*ast.RawHTML)
		if !ok {
			n = next
			continue
		}
		switch form, tag := tagOf(raw.Segments.Value(d.source)); {
		case tag == "br" && form != closing:
			parent.ReplaceChild(parent, raw, newElement(tag, raw))
		case !allowedTags[tag]:
		case form == opening && len(open) < maxElements:
			open = append(open, raw)
			count[tag]++
		case form == closing && count[tag] > 0:
			for {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				_, name := tagOf(last.Segments.Value(d.source))
				count[name]--
				if name == tag {
					wrap(parent, last, raw, tag)
					break
				}
			}
		}
		n = next
	}
}

func newElement(tag string, at ast.Node) *element {
	e := &element{tag: tag}
	e.SetPos(at.Pos())
	return e
}

// wrap replaces the nodes from first to last, which are tags, by an element with
// the nodes between them.
func wrap(parent, first, last ast.Node, tag string) {
	e := newElement(tag, first)
	for n := first.NextSibling(); n != last; {
		next := n.NextSibling()
		e.AppendChild(e, n)
		n = next
	}
	parent.RemoveChild(parent, last)
	parent.ReplaceChild(parent, first, e)
}

type tagForm int

const (
	noTag tagForm = iota
	opening
	closing
	selfClosed
)

var bareTag = regexp.MustCompile(`^<(/?)([A-Za-z][A-Za-z0-9]*)[ \t\n]*(/?)>$`)

// tagOf returns the name, in lower case, of a tag that has no attributes.
func tagOf(html []byte) (tagForm, string) {
	found := bareTag.FindStringSubmatch(string(html))
	if found == nil || found[1]+found[3] == "//" {
		return noTag, ""
	}
	form := opening
	if found[1] != "" {
		form = closing
	} else if found[3] != "" {
		form = selfClosed
	}
	return form, strings.ToLower(found[2])
}
