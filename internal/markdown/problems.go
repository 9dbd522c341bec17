package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"palmares/internal/problem"
)

// maxProblems is how many problems of one text are reported: a text pasted from a
// web page can have thousands of tags.
const maxProblems = 100

// A Report says what is wrong with a text, and what it depends on.
type Report struct {
	Problems []Problem // by line
	Links    []Link    // into the catalogue; whether they lead anywhere, a Resolver knows
	Pictures []Picture

	written []Link // all of them, also those to other sites
}

// A Link is a link as its author wrote it, to a file of the folder or to a path of
// the site.
type Link struct {
	Line        int
	Destination string
}

// A Picture is the use of a picture, as its author wrote it.
type Picture struct {
	Line        int
	Destination string
	Alt         string
	HidesTitle  bool // it has a title, but no caption shows it
}

// Check reports what in a text would not be rendered, and what makes it too complex
// to be parsed.
func Check(body string) Report { return check(body, false) }

// CheckSections reports, besides, what keeps a text from being split into sections:
// headings without text, ids that are not valid anchors, and duplicate ids.
func CheckSections(body string) Report { return check(body, true) }

func check(body string, sections bool) Report {
	if p, found := tooComplex(body); found {
		return Report{Problems: []Problem{p}}
	}
	source := []byte(body)
	c := checker{document: parseSimple(source), lines: newLines(source)}
	c.findConflicts()
	c.walk(c.visit)
	c.endRun()
	c.checkNotes()
	c.checkDefinitions()
	if sections {
		c.checkSections()
	}
	problems := c.Problems
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	if len(problems) > maxProblems {
		rest := len(problems) - maxProblems
		problems = append(problems[:maxProblems:maxProblems],
			Problem{problems[maxProblems].Line, problem.New("more-problems", rest)})
	}
	c.Problems = problems
	return c.Report
}

// A checker holds the state of one check.
type checker struct {
	*document
	Report
	lines lines

	tags        map[string]bool
	block       ast.Node // the innermost one with lines
	run         text.Segment
	definitions []*ast.LinkReferenceDefinition
	references  map[string]bool
	anchors     *anchorIndex // once needed
}

func (c *checker) report(offset int, code string, args ...any) {
	c.tell(offset, problem.New(code, args...))
}

func (c *checker) tell(offset int, reason error) {
	c.Problems = append(c.Problems, Problem{c.lines.at(max(offset, 0)), problem.Of(reason)})
}

func (c *checker) visit(n ast.Node) {
	if n.Type() == ast.TypeBlock {
		c.block = n
	}
	switch n := n.(type) {
	case *ast.Heading:
		c.heading(n)
	case *ast.Text:
		if n.Parent().Kind() != ast.KindCodeSpan {
			c.text(n)
		}
	case *ast.HTMLBlock:
		c.html(n.Pos(), n.Lines().Value(c.source))
	case *ast.RawHTML:
		c.html(n.Pos(), n.Segments.Value(c.source))
	case *ast.Link:
		c.refer(n.Reference)
		c.link(n.Pos(), n.Destination)
	case *ast.AutoLink:
		c.autoLink(n)
	case *ast.Image:
		c.refer(n.Reference)
		c.Pictures = append(c.Pictures,
			Picture{c.lines.at(n.Pos()), string(n.Destination), plain(c.source, n), caption(n) != "" && !isFigure(n)})
	case *ast.LinkReferenceDefinition:
		c.definitions = append(c.definitions, n)
	case *extast.FootnoteLink:
		if isInside(n, ast.KindLink) || isInside(n, ast.KindImage) {
			c.report(n.Pos(), "footnote-in-link")
		}
	case *extast.TableRow:
		c.row(n)
	}
}

func (c *checker) heading(h *ast.Heading) {
	if h.Level > 1 {
		c.attributes(h)
		return
	}
	c.report(h.Pos(), "heading-level-1")
}

// attributes reports what stands between braces behind a heading, unless it is {#id}
// of a section.
func (c *checker) attributes(h *ast.Heading) {
	if h.Lines().Len() == 0 {
		return
	}
	written, _, _ := bytes.Cut(c.source[h.Lines().At(h.Lines().Len()-1).Stop:], []byte("\n"))
	written = bytes.TrimSpace(bytes.TrimLeft(written, " \t#"))
	if !bytes.HasPrefix(written, []byte("{")) {
		return
	}
	isSection := h.Level == 2 && h.Parent().Kind() == ast.KindDocument
	id, hasID := explicitID(h)
	_, isOdd := h.AttributeString("id") // if it is no valid one, which is reported with the sections
	if !isSection || hasID && string(written) != "{#"+id+"}" || !hasID && !isOdd {
		c.report(h.Pos(), "heading-attributes", brief(string(written)))
	}
}

// html reports a tag, a comment or a block that is not rendered.
func (c *checker) html(offset int, html []byte) {
	if bytes.HasPrefix(html, []byte("<!--")) {
		c.report(offset, "html-comment")
		return
	}
	name := strings.ToLower(string(tagName.FindSubmatch(html)[1]))
	form, _ := tagOf(html)
	switch {
	case allowedTags[name]:
		c.report(offset, "html-unpaired", name)
	case form == closing && c.tags[name]: // reported where it was opened
	case name == "":
		c.report(offset, "html-block")
	default:
		if c.tags == nil {
			c.tags = map[string]bool{}
		}
		c.tags[name] = true
		c.report(offset, "html-tag", brief(name))
	}
}

// tagName finds the name in a tag.
var tagName = regexp.MustCompile(`^[ </]*([a-zA-Z0-9-]*)`)

func (c *checker) link(offset int, destination []byte) {
	c.write(offset, destination)
	switch kind, fragment, reason := classify(destination); {
	case reason != nil:
		c.tell(offset, reason)
	case kind == inText:
		if c.anchors == nil {
			c.anchors = c.indexSections(c.split())
		}
		if _, found := c.anchors.find(fragment); !found {
			c.report(offset, "anchor-leads-nowhere", brief(fragment), c.anchors.hint(problem.New("this-text")))
		}
	case kind == inCatalogue:
		c.Links = append(c.Links, Link{c.lines.at(offset), string(destination)})
	}
}

func (c *checker) autoLink(n *ast.AutoLink) {
	if n.AutoLinkType == ast.AutoLinkEmail {
		return
	}
	destination := n.URL(c.source)
	c.write(n.Pos(), destination)
	if _, _, reason := classify(destination); reason != nil {
		c.tell(n.Pos(), reason)
	}
}

// write notes what an author wrote as the destination of a link.
func (c *checker) write(offset int, destination []byte) {
	if len(destination) > 0 {
		c.written = append(c.written, Link{c.lines.at(max(offset, 0)), string(destination)})
	}
}

// row reports cells beyond the columns of the table, which are not rendered.
func (c *checker) row(row *extast.TableRow) {
	rest := c.source[row.Pos():]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	if cells, columns := countCells(string(rest)), len(row.Alignments); cells > columns {
		c.report(row.Pos(), "too-wide-row", cells, columns)
	}
}

// countCells returns the number of cells of a line of a table. Empty ones at its
// end do not count.
func countCells(line string) int {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	line = strings.TrimRight(line, "| \t")
	cells := 1
	for i := range len(line) {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			cells++
		}
	}
	return cells
}

func (c *checker) refer(r *ast.ReferenceLink) {
	if r == nil {
		return
	}
	if c.references == nil {
		c.references = map[string]bool{}
	}
	c.references[util.ToLinkReference(r.Value)] = true
}

// checkDefinitions reports definitions of links that no link uses: their text would
// be lost.
func (c *checker) checkDefinitions() {
	defined := map[string]bool{}
	for _, d := range c.definitions {
		key := util.ToLinkReference(d.Label)
		name := brief(string(d.Label))
		switch {
		case strings.HasPrefix(name, "^"):
			c.report(d.Pos(), "footnote-inside", name)
		case defined[key]:
			c.report(d.Pos(), "definition-twice", name)
		case !c.references[key]:
			c.report(d.Pos(), "definition-unused", name, name)
		}
		defined[key] = true
	}
}

// checkNotes reports footnotes that are defined, but not shown.
func (c *checker) checkNotes() {
	shown, defined := map[*extast.Footnote]bool{}, map[string]bool{}
	for _, note := range c.referred(c.root) {
		shown[note] = true
	}
	for _, note := range c.notes {
		name := brief(string(note.Ref))
		switch {
		case defined[string(note.Ref)]:
			c.report(note.Pos(), "footnote-twice", name)
		case !shown[note]:
			c.report(note.Pos(), "footnote-unused", name, name)
		case !note.HasChildren():
			c.report(note.Pos(), "footnote-empty", name)
		}
		defined[string(note.Ref)] = true
	}
}

// brief shortens what an author wrote, for a sentence.
func brief(s string) string {
	const limit = 60
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}
