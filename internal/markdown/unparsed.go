package markdown

import (
	"bytes"
	"cmp"
	"regexp"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"palmares/internal/problem"
)

// text checks what the parser left as text.
func (c *checker) text(n *ast.Text) {
	value := n.Segment.Value(c.source)
	if bytes.HasPrefix(value, []byte("##")) && c.startsLine(n.Segment.Start) {
		marks := len(value) - len(bytes.TrimLeft(value, "#"))
		switch {
		case marks > 6:
			c.report(n.Segment.Start, "heading-too-deep")
		case marks < len(value):
			c.report(n.Segment.Start, "heading-without-space",
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

// endRun checks a run of adjacent text nodes for links, pictures and foreign things that the
// parser left as text.
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
			if reason := c.unparsed(start + i + 2); reason != nil {
				c.report(start+i, "link-unparsed", reason)
			}
		case s[i] == '[' && s[i+1] == '^':
			if label, ok := label(s[i+2:]); ok && label != "" {
				c.report(start+i, "footnote-undefined", brief(label), brief(label))
				i += len(label) + 1
			}
		case s[i] == ']' && s[i+1] == '[' && c.opened(start+i):
			if label, ok := label(s[i+2:]); ok && !strings.HasPrefix(label, "^") {
				c.report(start+i, "link-undefined", brief(label), brief(label))
				i += len(label) + 1
			}
		case strings.IndexByte("{[:", s[i]) >= 0 || s[i] == s[i+1] && strings.IndexByte("=+!?", s[i]) >= 0:
			i += max(c.foreign(start+i)-1, 0)
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
	reason := error(problem.New("unparsed-no-path"))
	switch trimmed := bytes.TrimLeft(after, " \t\n"); {
	case hasLabel(rest, "^"), hasLabel(after, "["):
		return 0 // reported as a footnote or a reference
	case len(trimmed) == 0 || trimmed[0] != '(':
	case len(trimmed) < len(after):
		reason = problem.New("unparsed-space-before")
	default:
		reason = cmp.Or[error](c.unparsed(offset+2+end+2), problem.New("unparsed-open"))
	}
	c.report(offset, "picture-unparsed", reason)
	return 2 + end
}

// unparsed says why the parser did not accept the destination at an offset; nil if
// nothing looks like one.
func (c *checker) unparsed(offset int) error {
	inner, _, closed := strings.Cut(string(c.rest(offset)), ")")
	if !closed || strings.TrimSpace(inner) == "" {
		return nil
	}
	destination := strings.TrimSpace(inner)
	if title := beforeTitle.FindStringIndex(destination); title != nil {
		destination = destination[:title[0]]
	}
	switch {
	case strings.HasPrefix(destination, "<"):
		return problem.New("unparsed-angle")
	case strings.ContainsAny(destination, " \t\n"):
		return problem.New("unparsed-space", brief(destination))
	case len(destination) < len(strings.TrimSpace(inner)):
		return problem.New("unparsed-title")
	}
	return problem.New("unparsed-brackets")
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
