package markdown

import (
	"bytes"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
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
			if inner, _, closed := bytes.Cut(c.rest(start+i+2), []byte(")")); closed && len(bytes.TrimSpace(inner)) > 0 {
				c.report(start+i, "link-unparsed")
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
		case strings.IndexByte("{[:", s[i]) >= 0 || s[i] == s[i+1] && strings.IndexByte("=!?", s[i]) >= 0:
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
	if hasLabel(rest, "^") || hasLabel(rest[min(end+1, len(rest)):], "[") {
		return 0 // reported as a footnote or a reference
	}
	c.report(offset, "picture-unparsed")
	return 2 + end
}

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
