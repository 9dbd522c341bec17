package document

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// Set is SetAll for one field.
func (d *Document) Set(name string, v Value) error { return d.SetAll(map[string]Value{name: v}) }

// SetAll changes fields, by their names: only their own lines, which are written anew. A field that was absent is
// added where the table of fields has it; the lines of an optional one without a value are removed. A value that is
// the present one, or stands for it, changes nothing. The error is an Error, and nothing is changed then.
func (d *Document) SetAll(values map[string]Value) error {
	body, hasBody := values["body"]
	for name, v := range values {
		if f := d.field(name); f == nil || f.Form == catalog.OwnSlug && v.Text != d.Slug() {
			return &Error{Text: problem.New("field-fixed", name)}
		}
	}
	next := *d
	var edits []edit
	for i := range d.kind.Fields {
		f := &d.kind.Fields[i]
		v, isGiven := values[f.Name]
		if !isGiven || f.Form == catalog.Body || f.Form == catalog.OwnSlug {
			continue
		}
		e, err := d.edit(f, v.tidy(f))
		if err != nil {
			return err
		}
		if e.of != nil {
			edits = append(edits, e)
		}
	}
	err := next.apply(edits)
	if hasBody && err == nil {
		err = next.SetBody(body.Text)
	}
	if err == nil {
		*d = next
	}
	return err
}

// An edit is other lines for a field; of is nil if it stays.
type edit struct {
	of    *catalog.Field
	want  tree.Value
	at    span
	lines []string
}

// edit returns the lines of a field with a tidied value.
func (d *Document) edit(f *catalog.Field, v Value) (edit, error) {
	if v.same(d.Value(f.Name).tidy(f)) {
		return edit{}, nil
	}
	if err := v.checkNames(f); err != nil {
		return edit{}, err
	}
	if v.Text != "" && f.Form.IsList() {
		return d.editRaw(f, v.Text)
	}
	old := &tree.Value{}
	if i := d.index(f.Name); i >= 0 {
		old = &d.fields[i].Value
	}
	e, writer := edit{of: f, want: v.wanted(f, old), at: d.place(f.Name)}, newEditor(d)
	switch {
	case e.at.from == e.at.to:
		e.lines = writer.write(strings.Repeat(" ", d.indent)+f.Name+":", d.indent, &e.want)
	case e.want.Kind == tree.Null && !f.Use.Has(catalog.Required):
	default:
		e.lines = writer.rewrite(e.at, keyEnd(d.lines[e.at.from], f.Name), &e.want)
	}
	return e, nil
}

// place returns the lines of a field, or where those of one that is absent belong: after the last field
// that the table has before it, or else before the first one that it has after it.
func (d *Document) place(name string) span {
	if i := d.index(name); i >= 0 {
		return d.spans[i]
	}
	at, isPast := -1, false
	for i := range d.kind.Fields {
		other := d.kind.Fields[i].Name
		j := d.index(other)
		isPast = isPast || other == name
		switch {
		case j >= 0 && !isPast:
			at = d.spans[j].to
		case j >= 0 && at < 0:
			at = d.spans[j].from
		}
	}
	if at < 0 {
		at = d.end
	}
	return span{at, at}
}

// apply replaces the lines of fields, if the file then says what is wanted, and of the rest what it said.
func (d *Document) apply(edits []edit) error {
	if len(edits) == 0 {
		return nil
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.at.from-b.at.from, a.at.to-b.at.to) })
	next, lines, isEdited := Document{path: d.path, kind: d.kind}, d.lines, map[string]bool{}
	for _, e := range slices.Backward(edits) {
		lines, isEdited[e.of.Name] = slices.Concat(lines[:e.at.from], e.lines, lines[e.at.to:]), true
	}
	if err := next.parse(d.mark + strings.Join(d.ended(lines), "")); err != nil {
		return err
	}
	for i := range edits {
		own := tree.Value{}
		if at := next.index(edits[i].of.Name); at >= 0 {
			own = next.fields[at].Value
		}
		if !sameValue(&own, &edits[i].want) {
			return unwritten(edits[i].of)
		}
	}
	others := func(d *Document) *tree.Value {
		return &tree.Value{Kind: tree.Mapping, Fields: filter(d.fields, func(o tree.Field) bool { return !isEdited[o.Name] })}
	}
	if next.body != d.body || !sameValue(others(d), others(&next)) {
		return unwritten(edits[0].of)
	}
	*d = next
	return nil
}

func unwritten(f *catalog.Field) error {
	return &Error{Text: problem.New("value-unwritten", f.Name)}
}

// raw returns the YAML of a field, without its name and its indentation. A comment behind the name is
// not part of it.
func (d *Document) raw(i int) string {
	at := d.spans[i]
	head := keyEnd(d.lines[at.from], d.fields[i].Name)
	first := d.lines[at.from][head:]
	if given, _ := newEditor(d).inFirstLine(at.from, head); given == "" {
		first = ""
	}
	return strings.TrimSpace(strings.TrimRight(first, "\r\n") + "\n" + shift(d.lines[at.from+1:at.to], 0))
}

func shift(lines []string, indent int) string {
	least := -1
	for _, line := range lines {
		if strings.TrimSpace(line) != "" && (least < 0 || indentOf(line) < least) {
			least = indentOf(line)
		}
	}
	var b strings.Builder
	for _, line := range lines {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", indent) + line[least:])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// editRaw returns the lines of a field whose value is a text in YAML. What can only stand behind the name stays there.
func (d *Document) editRaw(f *catalog.Field, text string) (edit, error) {
	first := ""
	if strings.Contains("[{\"'|>", text[:1]) {
		first, text, _ = strings.Cut(" "+text, "\n")
	}
	text = first + "\n" + shift(slices.Collect(strings.Lines(text)), d.indent+2)
	var problems []Error
	parsed, _ := tree.ParseYAML(f.Name+":"+text, 0, func(line int, what problem.Text) {
		if first == "" {
			line = max(line-1, 1)
		}
		problems = append(problems, Error{line, what})
	})
	if len(problems) == 0 && len(parsed.Fields) != 1 {
		problems = append(problems, Error{1, problem.New("yaml-not-one-field")})
	}
	if len(problems) > 0 {
		return edit{}, &problems[0]
	}
	head, at := strings.Repeat(" ", d.indent)+f.Name+":", d.place(f.Name)
	if at.from < at.to {
		end := keyEnd(d.lines[at.from], f.Name)
		head = d.lines[at.from][:end]
		if given, comment := newEditor(d).inFirstLine(at.from, end); given+first == "" {
			head += strings.TrimRight(comment, " \t\r\n")
		}
	}
	var lines []string
	for line := range strings.Lines(head + text) {
		lines = append(lines, strings.TrimSuffix(line, "\n")+d.newline)
	}
	return edit{f, parsed.Fields[0].Value, at, lines}, nil
}
