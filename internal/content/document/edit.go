package document

import (
	"slices"
	"strings"
	"unicode"

	"palmares/internal/content/tree"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// sameValue reports whether two values say the same, wherever they are. Empty items and fields count
// as absent.
func sameValue(a, b *tree.Value) bool {
	if a.IsEmpty() || b.IsEmpty() {
		return a.IsEmpty() && b.IsEmpty()
	}
	given := func(v tree.Value) bool { return !v.IsEmpty() }
	isThere := func(f tree.Field) bool { return !f.Value.IsEmpty() }
	switch {
	case a.Kind != b.Kind || a.Text != b.Text:
		return false
	case a.Kind == tree.List:
		return slices.EqualFunc(filter(a.Items, given), filter(b.Items, given), func(a, b tree.Value) bool { return sameValue(&a, &b) })
	}
	own, others := filter(a.Fields, isThere), filter(b.Fields, isThere)
	return len(own) == len(others) && !slices.ContainsFunc(own, func(f tree.Field) bool {
		return !slices.ContainsFunc(others, func(o tree.Field) bool { return o.Name == f.Name && sameValue(&f.Value, &o.Value) })
	})
}

func filter[E any](list []E, isKept func(E) bool) []E {
	return slices.DeleteFunc(slices.Clone(list), func(e E) bool { return !isKept(e) })
}

type editor struct {
	lines    []string
	newline  string
	comments map[int]string // by index of the line
}

func newEditor(d *Document) *editor {
	e := &editor{lines: slices.Clone(d.lines), newline: d.newline, comments: map[int]string{}}
	yaml := tree.NormalizeNewlines(strings.Join(d.lines[d.first:d.end], ""))
	for _, t := range lexer.Tokenize(yaml) {
		if t.Type == token.CommentType {
			e.comments[d.first+t.Position.Line-1] = "#" + t.Value
		}
	}
	return e
}

// keyEnd returns where the value begins on a line that begins with a key, or with the dash of an item
// if name is "-"; -1 if the line does not begin so.
func keyEnd(line, name string) int {
	rest := strings.TrimLeft(line, " ")
	at := len(line) - len(rest)
	if name == "-" {
		if after, isItem := strings.CutPrefix(rest, "-"); isItem && strings.TrimLeft(after, " \r\n") != after {
			return at + 1
		}
		return -1
	}
	for _, key := range []string{name, `"` + name + `"`, `'` + name + `'`} {
		after, isKey := strings.CutPrefix(rest, key)
		spaces := len(after) - len(strings.TrimLeft(after, " "))
		if isKey && strings.HasPrefix(after[spaces:], ":") {
			return at + len(key) + spaces + 1
		}
	}
	return -1
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// isBetween reports whether a line is blank, or a comment that is not indented more than something.
func isBetween(line string, indent int) bool {
	text := strings.TrimSpace(line)
	return text == "" || text[0] == '#' && indentOf(line) <= indent
}

// spans returns the lines of entries in a range and their common indentation; nil if they do not have
// lines of their own. Comments and blank lines before an entry are between the spans.
func (e *editor) spans(within span, entries []tree.Field) (all []span, indent int) {
	before := within.from - 1
	for i, entry := range entries {
		at := entry.Line - 1
		if at <= before || at >= within.to || keyEnd(e.lines[at], entry.Name) < 0 {
			return nil, 0
		}
		if i == 0 {
			indent = indentOf(e.lines[at])
		} else {
			all[i-1].to = at
		}
		if indentOf(e.lines[at]) != indent {
			return nil, 0
		}
		all = append(all, span{at, within.to})
		before = at
	}
	for i := range all {
		for isBetween(e.lines[all[i].to-1], indent) {
			all[i].to--
		}
	}
	return all, indent
}

// inFirstLine returns what the first line of an entry has of the value, and its comment with the space
// before it.
func (e *editor) inFirstLine(line, head int) (given, comment string) {
	rest := strings.TrimRight(e.lines[line][head:], " \t\r\n")
	if c, ok := e.comments[line]; ok {
		rest = strings.TrimSuffix(rest, strings.TrimRight(c, " \t\r\n"))
	}
	given = strings.TrimRight(rest, " \t")
	return strings.TrimLeft(given, " \t"), e.lines[line][head+len(given):]
}

// rewrite returns the lines of a field, whose value begins at head in its first line, written anew. A comment behind
// a value of one line stays there; others that were in it are above it.
func (e *editor) rewrite(at span, head int, want *tree.Value) (lines []string) {
	indent, prefix := indentOf(e.lines[at.from]), e.lines[at.from][:head]
	if _, hasComment := e.comments[at.from]; hasComment && at.to == at.from+1 && want.Kind < tree.List && !isLiteral(want.Text) {
		_, comment := e.inFirstLine(at.from, head)
		return []string{strings.TrimRight(prefix+" "+plainText(want), " ") + comment}
	}
	for i := at.from; i < at.to; i++ {
		if c, ok := e.comments[i]; ok {
			lines = append(lines, strings.Repeat(" ", indent)+strings.TrimRight(c, " \t\r\n")+e.newline)
		}
	}
	return append(lines, e.write(prefix, indent, want)...)
}

// write returns the lines of a value after a prefix: a key or a dash, which is indented.
func (e *editor) write(prefix string, indent int, v *tree.Value) (lines []string) {
	within := strings.Repeat(" ", indent+2)
	switch {
	case v.Kind == tree.Null:
		return []string{prefix + e.newline}
	case v.Kind == tree.List:
		lines = append(lines, prefix+e.newline)
		for i := range v.Items {
			lines = append(lines, e.write(within+"-", indent+2, &v.Items[i])...)
		}
	case v.Kind == tree.Mapping:
		lines = append(lines, prefix+e.newline)
		for i := range v.Fields {
			lines = append(lines, e.write(within+string(tree.AppendText(nil, v.Fields[i].Name))+":", indent+2, &v.Fields[i].Value)...)
		}
		if strings.HasSuffix(prefix, "-") {
			lines = lines[1:]
			lines[0] = prefix + " " + lines[0][len(within):]
		}
	case isLiteral(v.Text):
		lines = append(lines, prefix+" |-"+e.newline)
		for line := range strings.Lines(v.Text) {
			line = strings.TrimSuffix(line, "\n")
			if line != "" {
				line = within + line
			}
			lines = append(lines, line+e.newline)
		}
	default:
		lines = append(lines, prefix+" "+plainText(v)+e.newline)
	}
	return lines
}

// isLiteral reports whether a text of several lines can be written as a block.
func isLiteral(s string) bool {
	first, _, isLong := strings.Cut(s, "\n")
	isOdd := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' || strings.ContainsRune("\u0085\u2028\u2029\ufeff", r)
	}
	return isLong && first == strings.TrimSpace(first) && first != "" && !strings.ContainsFunc(s, isOdd)
}

func plainText(v *tree.Value) string {
	switch v.Kind {
	case tree.Null:
		return ""
	case tree.Text:
		return string(tree.AppendText(nil, v.Text))
	default:
		return v.Text
	}
}
