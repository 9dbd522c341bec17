package markdown

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxProblems is how many problems of one text are reported: a text pasted from a
// web page can have thousands of tags.
const maxProblems = 100

// A Report says what is wrong with a text, and what it depends on.
type Report struct {
	Problems []Problem // by line
	Links    []Link    // into the catalogue; whether they lead anywhere, a Resolver knows
	Pictures []Picture
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
	if p, found := tooComplex([]byte(body)); found {
		return Report{Problems: []Problem{p}}
	}
	if plainlySound(body, sections) {
		return Report{}
	}
	return checkParsed(body, sections)
}

// checkParsed checks a text that is not too complex.
func checkParsed(body string, sections bool) Report {
	source := []byte(body)
	c := checker{document: parse(source), lines: newLines(source)}
	c.findConflicts()
	c.visit(c.root)
	for _, note := range c.notes {
		c.visit(note)
	}
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
			Problem{problems[maxProblems].Line, fmt.Sprintf("from here on, the text has %d more problems; fix the others first", rest)})
	}
	c.Problems = problems
	return c.Report
}

// A checker holds the state of one check.
type checker struct {
	*document
	Report
	lines lines

	markers     map[int]bool // lines of git conflicts
	tags        map[string]bool
	block       ast.Node // the innermost one with lines
	run         text.Segment
	definitions []*ast.LinkReferenceDefinition
	references  map[string]bool
	anchors     *anchorIndex // once needed
}

func (c *checker) report(offset int, format string, args ...any) {
	c.Problems = append(c.Problems, Problem{c.lines.at(max(offset, 0)), fmt.Sprintf(format, args...)})
}

func (c *checker) visit(n ast.Node) {
	walk(n, func(n ast.Node) {
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
			c.html(n.Pos(), c.rawText(n))
		case *ast.Link:
			c.refer(n.Reference)
			c.link(n.Pos(), n.Destination)
		case *ast.AutoLink:
			c.autoLink(n)
		case *ast.Image:
			c.refer(n.Reference)
			w := writer{source: c.source}
			w.inline(n)
			c.Pictures = append(c.Pictures, Picture{c.lines.at(n.Pos()), string(n.Destination), w.take(), caption(n) != "" && !isFigure(n)})
		case *ast.LinkReferenceDefinition:
			c.definitions = append(c.definitions, n)
		case *extast.FootnoteLink:
			c.noteLink(n)
		case *extast.TableRow:
			c.row(n)
		}
	})
}

func (c *checker) heading(h *ast.Heading) {
	if h.Level > 1 {
		c.attributes(h)
		return
	}
	if n := h.Lines().Len(); n > 0 && c.markers[c.lines.at(h.Lines().At(n-1).Start)+1] {
		return // underlined by a conflict marker
	}
	c.report(h.Pos(), "a heading of level 1 is not rendered, because the title of the page comes from name or title; write ## for a section")
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
	switch id, hasID := explicitID(h); {
	case !hasID || string(written) != "{#"+id+"}":
		if _, invalid := h.AttributeString("id"); !isSection || hasID || !invalid { // else reported with the sections
			c.report(h.Pos(), "%s is not rendered; remove it: a heading of level 2 may have an id, such as {#prix}, and nothing else", brief(string(written)))
		}
	case !isSection:
		c.report(h.Pos(), "%s is not rendered; remove it: only headings of level 2 outside lists and quotes have an anchor", brief(string(written)))
	}
}

// text checks what the parser left as text.
func (c *checker) text(n *ast.Text) {
	value := n.Segment.Value(c.source)
	if bytes.HasPrefix(value, []byte("##")) && c.startsLine(n.Segment.Start) {
		marks := len(value) - len(bytes.TrimLeft(value, "#"))
		switch {
		case marks > 6:
			c.report(n.Segment.Start, "this is not a heading, because headings have at most six #")
		case marks < len(value):
			c.report(n.Segment.Start, "this is not a heading, because a space is missing after %s; write %s %s",
				value[:marks], value[:marks], brief(string(value[marks:])))
		}
	}
	if n.Segment.Start != c.run.Stop {
		c.endRun()
		c.run = n.Segment
	}
	c.run.Stop = n.Segment.Stop
}

// startsLine reports whether a line of the current paragraph starts at an offset.
func (c *checker) startsLine(offset int) bool {
	if c.block.Kind() != ast.KindParagraph && c.block.Kind() != ast.KindTextBlock {
		return false
	}
	lines := c.block.Lines()
	i := sort.Search(lines.Len(), func(i int) bool { return lines.At(i).Stop > offset })
	if i == lines.Len() {
		return false
	}
	line := lines.At(i)
	return len(bytes.TrimLeft(c.source[line.Start:max(offset, line.Start)], " \t")) == 0
}

// endRun checks a run of adjacent text nodes for links and pictures that the parser
// left as text.
func (c *checker) endRun() {
	start, s := c.run.Start, c.source[c.run.Start:c.run.Stop]
	c.run = text.Segment{}
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		switch {
		case s[i] == '!' && s[i+1] == '[':
			i += c.unparsedPicture(start + i)
		case s[i] == ']' && s[i+1] == '(' && c.opened(start+i):
			if reason := c.unparsed(start + i + 2); reason != "" {
				c.report(start+i, `this link is not rendered, because %s (or \[ if it is text)`, reason)
			}
		case s[i] == '[' && s[i+1] == '^':
			if label, ok := label(s[i+2:]); ok && label != "" {
				c.report(start+i, "footnote [^%s] has no definition; add one at the start of a line, outside lists and quotes: [^%s]: …", brief(label), brief(label))
				i += len(label) + 1
			}
		case s[i] == ']' && s[i+1] == '[' && c.opened(start+i):
			if label, ok := label(s[i+2:]); ok && !strings.HasPrefix(label, "^") {
				c.report(start+i, "the link […][%s] has no definition; write […](address), add a line [%s]: address, or put code between backticks", brief(label), brief(label))
				i += len(label) + 1
			}
		}
	}
}

// maxLabel is how long the parser allows the brackets of a link to be, in bytes.
const maxLabel = 1000

// opened reports whether the closing bracket at an offset has an opening one in its
// block.
func (c *checker) opened(offset int) bool {
	before := c.source[max(0, offset-maxLabel):offset]
	depth := 1
	for i := len(before) - 1; i >= 0 && depth > 0; i-- {
		switch {
		case before[i] == '\n' && i > 0 && before[i-1] == '\n':
			return false
		case i > 0 && before[i-1] == '\\':
		case before[i] == ']':
			depth++
		case before[i] == '[':
			depth--
		}
	}
	return depth == 0
}

// unparsedPicture reports the picture at an offset, which the parser left as text, and
// returns how much of it need not be checked any more.
func (c *checker) unparsedPicture(offset int) int {
	rest := c.rest(offset + 2)
	end, depth := 0, 1
	for ; end < len(rest); end++ {
		switch rest[end] {
		case '\\':
			end++
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	after := rest[min(end+1, len(rest)):]
	reason := "the path is missing; write ![description](../images/ecran.png)"
	switch trimmed := bytes.TrimLeft(after, " \t\n"); {
	case hasLabel(rest, "^"), hasLabel(after, "["):
		return 0 // reported as a footnote or a reference
	case len(trimmed) == 0 || trimmed[0] != '(':
	case len(trimmed) < len(after):
		reason = "there is a space between ] and (; remove it"
	default:
		reason = cmp.Or(c.unparsed(offset+2+end+2), "the parentheses are not closed")
	}
	c.report(offset, `this picture is not rendered, because %s (or !\[ if it is text)`, reason)
	return 2 + end
}

// unparsed says why the parser did not accept the destination at an offset; "" if
// nothing looks like one.
func (c *checker) unparsed(offset int) string {
	inner, _, closed := strings.Cut(string(c.rest(offset)), ")")
	if !closed || strings.TrimSpace(inner) == "" {
		return ""
	}
	destination := strings.TrimSpace(inner)
	if title := beforeTitle.FindStringIndex(destination); title != nil {
		destination = destination[:title[0]]
	}
	switch {
	case strings.HasPrefix(destination, "<"):
		return "its address between < and > is not closed, or something else than a title follows it"
	case strings.ContainsAny(destination, " \t\n"):
		return fmt.Sprintf("its address has a space; write <%s>, or %%20 for each space", brief(destination))
	case len(destination) < len(strings.TrimSpace(inner)):
		return `its title is not closed, or has quotes inside; write \" for those`
	}
	return "its brackets or parentheses do not match, or it is around another link"
}

// beforeTitle is what separates a destination from its title.
var beforeTitle = regexp.MustCompile(`\s+["']`)

// rest returns what follows an offset in its block.
func (c *checker) rest(offset int) []byte {
	rest := c.source[offset:min(len(c.source), offset+2*maxLabel)]
	rest, _, _ = bytes.Cut(rest, []byte("\n\n"))
	return rest
}

// label returns what precedes the next bracket, if that is a closing one.
func label(s []byte) (string, bool) {
	end := bytes.IndexAny(s, "[]")
	if end < 0 || s[end] == '[' {
		return "", false
	}
	return string(s[:end]), true
}

// hasLabel reports whether an opener and a label that is not empty are at the start of s.
func hasLabel(s []byte, opener string) bool {
	rest, ok := bytes.CutPrefix(s, []byte(opener))
	name, closed := label(rest)
	return ok && closed && name != "" && name[0] != '^'
}

// html reports a tag, a comment or a block that is not rendered.
func (c *checker) html(offset int, html []byte) {
	if bytes.HasPrefix(html, []byte("<!--")) {
		c.report(offset, "an HTML comment is not rendered; remove it")
		return
	}
	name := strings.ToLower(string(tagName(html)))
	form, _ := tagOf(html)
	switch {
	case form == closing && name == "br":
		c.report(offset, "HTML: </br> does not exist; write <br>")
	case allowedTags[name] && form == closing:
		c.report(offset, "HTML: </%s> closes nothing; write <%s> before it, in the same block and outside the emphasis or link between them", name, name)
	case allowedTags[name] && form == opening:
		c.report(offset, "HTML: <%s> is not closed; write </%s> in the same block, inside the emphasis or link around <%s>", name, name, name)
	case allowedTags[name]:
		c.report(offset, "HTML: <%s> must be written without attributes", name)
	case form == closing && c.tags[name]: // reported where it was opened
	case name == "":
		c.report(offset, "HTML is not rendered; write Markdown, or put code between backticks")
	default:
		if c.tags == nil {
			c.tags = map[string]bool{}
		}
		c.tags[name] = true
		c.report(offset, "HTML is not rendered: <%s>; write Markdown, or put code between backticks (only <br>, <kbd>, <sub> and <sup> are allowed)", brief(name))
	}
}

// tagName returns the name in the tag at the start of s.
func tagName(s []byte) []byte {
	s = bytes.TrimLeft(s, " </")
	end := bytes.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

func (c *checker) link(offset int, destination []byte) {
	switch kind, fragment, reason := classify(destination); {
	case reason != "":
		c.report(offset, "%s", reason)
	case kind == inText:
		if c.anchors == nil {
			c.anchors = c.indexSections(c.split())
		}
		if _, found := c.anchors.find(fragment); !found {
			c.report(offset, "the link to #%s leads nowhere: %s", brief(fragment), c.anchors.hint("this text", fragment))
		}
	case kind == inCatalogue:
		c.Links = append(c.Links, Link{c.lines.at(offset), string(destination)})
	}
}

func (c *checker) autoLink(n *ast.AutoLink) {
	if n.AutoLinkType == ast.AutoLinkEmail {
		return
	}
	if _, _, reason := classify(n.URL(c.source)); reason != "" {
		c.report(n.Pos(), "%s", reason)
	}
}

func (c *checker) noteLink(n *extast.FootnoteLink) {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink || p.Kind() == ast.KindImage {
			c.report(n.Pos(), "a footnote cannot be inside a link or the description of a picture; put it behind")
			return
		}
	}
}

// row reports cells beyond the columns of the table, which are not rendered.
func (c *checker) row(row *extast.TableRow) {
	rest := c.source[row.Pos():]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	if cells, columns := countCells(string(rest)), len(row.Alignments); cells > columns {
		c.report(row.Pos(), `this row has %d cells, but the table has %d columns; write \| for a bar that is text`, cells, columns)
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
			c.report(d.Pos(), "footnote [%s] is defined inside a list or a quote; define it at the start of a line, outside of them", name)
		case defined[key]:
			c.report(d.Pos(), "[%s] is defined a second time; remove one of the definitions", name)
		case !c.references[key]:
			c.report(d.Pos(), "no link refers to [%s], so this line is not rendered; remove it, or write […][%s]", name, name)
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
			c.report(note.Pos(), "footnote [^%s] is defined a second time; give it another name", name)
		case !shown[note]:
			c.report(note.Pos(), "the text does not refer to footnote [^%s], so it is not rendered; write [^%s] where it belongs, or remove it", name, name)
		case !note.HasChildren():
			c.report(note.Pos(), "footnote [^%s] has no text; write it behind the colon", name)
		}
		defined[string(note.Ref)] = true
	}
}

// findConflicts reports the markers that git leaves in a file, except in code, where
// they may be an example.
func (c *checker) findConflicts() {
	if !hasConflict(c.source) {
		return
	}
	code := map[int]bool{}
	walk(c.root, func(n ast.Node) {
		if k := n.Kind(); k == ast.KindFencedCodeBlock || k == ast.KindCodeBlock {
			for i := range n.Lines().Len() {
				code[c.lines.at(n.Lines().At(i).Start)] = true
			}
		}
	})
	var problems []Problem
	problems, c.markers = conflicts(c.source, code)
	c.Problems = append(c.Problems, problems...)
}

// Conflicts reports the markers that git leaves in a text that is not Markdown.
func Conflicts(text string) []Problem {
	if !hasConflict([]byte(text)) {
		return nil
	}
	problems, _ := conflicts([]byte(text), nil)
	return problems
}

func hasConflict(source []byte) bool {
	return bytes.Contains(source, []byte("<<<<<<<")) || bytes.Contains(source, []byte(">>>>>>>"))
}

// conflicts returns the problems of the conflicts outside code, and the lines of their
// markers.
func conflicts(source []byte, code map[int]bool) (problems []Problem, markers map[int]bool) {
	markers = map[int]bool{}
	open, number := false, 0
	for line := range bytes.Lines(source) {
		number++
		marker := conflictMarker(line)
		switch {
		case code[number]:
		case marker == '<':
			problems = append(problems, Problem{number, "a git conflict was not resolved; keep one of the two versions and remove the lines <<<<<<<, ======= and >>>>>>>"})
			open, markers[number] = true, true
		case marker == '>' && !open:
			problems = append(problems, Problem{number, "this line is what remains of a git conflict; remove it"})
		case marker != 0 && open:
			open, markers[number] = marker != '>', true
		}
	}
	return problems, markers
}

// conflictMarker returns the character of which git made a marker: seven of them at
// the start of a line, then a space or nothing.
func conflictMarker(line []byte) byte {
	line = bytes.TrimRight(line, "\n")
	if len(line) < 7 || strings.IndexByte("<=>|", line[0]) < 0 || len(line) > 7 && line[7] != ' ' {
		return 0
	}
	for _, c := range line[:7] {
		if c != line[0] {
			return 0
		}
	}
	return line[0]
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
