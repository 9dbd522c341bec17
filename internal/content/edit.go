package content

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// sameValue reports whether two values say the same, wherever they are. Empty items and fields count
// as absent.
func sameValue(a, b *value) bool {
	if a.isEmpty() || b.isEmpty() {
		return a.isEmpty() && b.isEmpty()
	}
	given := func(v value) bool { return !v.isEmpty() }
	isThere := func(f field) bool { return !f.value.isEmpty() }
	switch {
	case a.kind != b.kind || a.text != b.text:
		return false
	case a.kind == isList:
		return slices.EqualFunc(filter(a.items, given), filter(b.items, given), func(a, b value) bool { return sameValue(&a, &b) })
	}
	own, others := filter(a.fields, isThere), filter(b.fields, isThere)
	return len(own) == len(others) && !slices.ContainsFunc(own, func(f field) bool {
		return !slices.ContainsFunc(others, func(o field) bool { return o.name == f.name && sameValue(&f.value, &o.value) })
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
	yaml := normalizeNewlines(strings.Join(d.lines[d.first:d.end], ""))
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
func (e *editor) spans(within span, entries []field) (all []span, indent int) {
	before := within.from - 1
	for i, entry := range entries {
		at := entry.line - 1
		if at <= before || at >= within.to || keyEnd(e.lines[at], entry.name) < 0 {
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

// entry returns the lines of a field or an item with another value, which begins at head in its first line.
func (e *editor) entry(at span, head int, old, want *value) []string {
	if sameValue(old, want) {
		return e.lines[at.from:at.to]
	}
	if old.kind == isMapping && want.kind == isMapping {
		want = &value{kind: isMapping, fields: inOrder(old.fields, want.fields)}
	}
	given, _ := e.inFirstLine(at.from, head)
	isFlow := given != "" && strings.Contains("[{", given[:1])
	switch {
	case at.to == at.from+1 && (want.kind < isList && !strings.Contains(want.text, "\n") || want.kind >= isList && isFlow):
		return []string{e.inline(at.from, head, want, isFlow)}
	case old.kind != want.kind || isFlow || want.kind < isList:
	case given == "":
		if lines := e.entries(span{at.from + 1, at.to}, old, want); lines != nil {
			return append([]string{e.lines[at.from]}, lines...)
		}
	case want.kind == isMapping: // of a list, on the line of its dash
		dash := head - 1
		first := e.lines[at.from]
		e.lines[at.from] = first[:dash] + " " + first[head:]
		lines := slices.Clone(e.entries(at, old, want))
		e.lines[at.from] = first
		i := slices.IndexFunc(lines, func(line string) bool { return !isBetween(line, len(line)) })
		if i >= 0 {
			lines[i] = lines[i][:dash] + "-" + lines[i][dash+1:]
			return lines
		}
	}
	return e.rewrite(at, head, want)
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

func (e *editor) inline(line, head int, want *value, isFlow bool) string {
	given, after := e.inFirstLine(line, head)
	if _, hasComment := e.comments[line]; !hasComment {
		after = after[len(strings.TrimRight(after, "\r\n")):]
	}
	before, _, _ := strings.Cut(e.lines[line][head:], given)
	if before == "" {
		before = " "
	}
	text := plainText(want)
	switch {
	case isFlow && want.kind >= isList:
		text = flow(want)
	case want.kind == isNull:
		before = ""
	}
	return e.lines[line][:head] + before + text + after
}

// rewrite returns the lines of an entry, written anew. Comments that were in it are above it.
func (e *editor) rewrite(at span, head int, want *value) (lines []string) {
	indent := indentOf(e.lines[at.from])
	for i := at.from; i < at.to; i++ {
		if c, ok := e.comments[i]; ok {
			lines = append(lines, strings.Repeat(" ", indent)+strings.TrimRight(c, " \t\r\n")+e.newline)
		}
	}
	return append(lines, e.write(e.lines[at.from][:head], indent, want)...)
}

// maxPairs bounds the comparisons of old and wanted entries.
const maxPairs = 1 << 20

// entries returns the lines of a block list or mapping with other entries, or nil if the old ones do not
// have lines of their own. Entries that are in both keep their lines, with the comments above them.
func (e *editor) entries(within span, old, want *value) (lines []string) {
	olds, wants := entriesOf(old), entriesOf(want)
	at, indent := e.spans(within, olds)
	if at == nil || len(olds)*len(wants) > maxPairs {
		return nil
	}
	from := matches(olds, wants)
	for i, w := range wants {
		j := from[i]
		if j < 0 {
			name := w.name
			if old.kind == isMapping {
				name = string(appendYAMLText(nil, name)) + ":"
			}
			lines = append(lines, e.write(strings.Repeat(" ", indent)+name, indent, &w.value)...)
			continue
		}
		above := within.from
		if j > 0 {
			above = at[j-1].to
		}
		lines = append(lines, e.lines[above:at[j].from]...)
		lines = append(lines, e.entry(at[j], keyEnd(e.lines[at[j].from], olds[j].name), &olds[j].value, &w.value)...)
	}
	return append(lines, e.lines[at[len(at)-1].to:within.to]...)
}

// entriesOf returns the fields of a mapping, or the items of a list as fields.
func entriesOf(v *value) []field {
	if v.kind == isMapping {
		return v.fields
	}
	var all []field
	for _, item := range v.items {
		all = append(all, field{"-", item.line, item})
	}
	return all
}

// inOrder returns wanted fields in the order of the old ones. A new one is behind the one that it is behind.
func inOrder(olds, wants []field) []field {
	at := func(list []field, name string) int {
		return slices.IndexFunc(list, func(f field) bool { return f.name == name })
	}
	ordered := filter(wants, func(f field) bool { return at(olds, f.name) >= 0 })
	slices.SortStableFunc(ordered, func(a, b field) int { return at(olds, a.name) - at(olds, b.name) })
	behind := 0
	for _, w := range wants {
		if at(olds, w.name) < 0 {
			ordered = slices.Insert(ordered, behind, w)
		}
		behind = at(ordered, w.name) + 1
	}
	return ordered
}

// matches returns, for each entry that is wanted, the index of the old one that it keeps or changes, or
// -1: the field of the same name, an equal item, or the item in the same place.
func matches(olds, wants []field) []int {
	taken := make([]bool, len(olds))
	found := make([]int, len(wants))
	match := func(isMatch func(i, j int) bool) {
		for i := range wants {
			for j := 0; j < len(olds) && found[i] < 0; j++ {
				if !taken[j] && isMatch(i, j) {
					found[i], taken[j] = j, true
				}
			}
		}
	}
	for i := range found {
		found[i] = -1
	}
	match(func(i, j int) bool {
		return wants[i].name == olds[j].name && (wants[i].name != "-" || sameValue(&wants[i].value, &olds[j].value))
	})
	match(func(i, j int) bool { return i == j && wants[i].name == olds[j].name })
	return found
}

// write returns the lines of a value after a prefix: a key or a dash, which is indented.
func (e *editor) write(prefix string, indent int, v *value) (lines []string) {
	within := strings.Repeat(" ", indent+2)
	switch {
	case v.kind == isNull:
		return []string{prefix + e.newline}
	case v.kind == isList:
		lines = append(lines, prefix+e.newline)
		for i := range v.items {
			lines = append(lines, e.write(within+"-", indent+2, &v.items[i])...)
		}
	case v.kind == isMapping:
		lines = append(lines, prefix+e.newline)
		for i := range v.fields {
			lines = append(lines, e.write(within+string(appendYAMLText(nil, v.fields[i].name))+":", indent+2, &v.fields[i].value)...)
		}
		if strings.HasSuffix(prefix, "-") {
			lines = lines[1:]
			lines[0] = prefix + " " + lines[0][len(within):]
		}
	case isLiteral(v.text):
		lines = append(lines, prefix+" |-"+e.newline)
		for line := range strings.Lines(v.text) {
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
	_, hasControl := controlCharacter(s, "\n")
	return isLong && first == strings.TrimSpace(first) && first != "" && !hasControl && !strings.ContainsAny(s, "\u0085\u2028\u2029\ufeff")
}

func plainText(v *value) string {
	switch v.kind {
	case isNull:
		return ""
	case isText:
		return string(appendYAMLText(nil, v.text))
	default:
		return v.text
	}
}

// flow returns a value on one line.
func flow(v *value) string {
	var parts []string
	switch v.kind {
	case isList:
		for i := range v.items {
			parts = append(parts, flow(&v.items[i]))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case isMapping:
		for i := range v.fields {
			name := value{kind: isText, text: v.fields[i].name}
			parts = append(parts, flow(&name)+": "+flow(&v.fields[i].value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	text := plainText(v)
	if v.kind == isText && text == v.text && strings.ContainsAny(text, ",[]{}") {
		return `"` + text + `"`
	}
	return text
}
