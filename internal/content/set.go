package content

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	canonical "palmares/internal/record"
)

// Set changes a field: only its own lines, of which those that say what they said before stay. A field
// that was absent is added where the table of fields has it; the lines of an optional one without a
// value are removed. A value that is the present one, or stands for it, changes nothing. The error is
// an EditError, and nothing is changed then.
func (d *Document) Set(name string, v Value) error {
	f := d.field(name)
	switch {
	case f == nil || f.Form == catalog.OwnSlug && v.Text != d.Slug():
		return &EditError{Text: problem.New("field-fixed", name)}
	case f.Form == catalog.Body:
		return d.SetBody(v.Text)
	}
	v = v.tidy(f)
	if v.same(d.Value(name).tidy(f)) {
		return nil
	}
	if err := v.checkNames(f); err != nil {
		return err
	}
	if v.Text != "" && f.Form.IsList() {
		return d.setRaw(f, v.Text)
	}
	old := &value{}
	if i := d.index(name); i >= 0 {
		old = &d.fields[i].value
	}
	want := v.wanted(f, old)
	e, at := newEditor(d), d.place(f.Name)
	if at.from == at.to {
		return d.replace(f, &want, at, e.write(strings.Repeat(" ", d.indent)+f.Name+":", d.indent, &want))
	}
	if want.kind == isNull && !f.Use.Has(catalog.Required) {
		return d.replace(f, &want, at, nil)
	}
	head := keyEnd(d.lines[at.from], f.Name)
	err := d.replace(f, &want, at, e.entry(at, head, old, &want))
	if err != nil { // the lines are too odd to be edited
		return d.replace(f, &want, at, newEditor(d).rewrite(at, head, &want))
	}
	return nil
}

// place returns the lines of a field, or where those of one that is absent belong: after the last field
// that the table has before it, or else before the first one that it has after it.
func (d *Document) place(name string) span {
	if i := d.index(name); i >= 0 {
		return d.spans[i]
	}
	at, isPast := -1, false
	for i := range canonical.Tables[d.kind] {
		other := canonical.Tables[d.kind][i].Name
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

// replace replaces the lines of a field, if the file then says what is wanted, and of the rest
// what it said.
func (d *Document) replace(f *catalog.Field, want *value, old span, lines []string) error {
	next := Document{path: d.path, kind: d.kind}
	if err := next.parse(d.mark + strings.Join(d.splice(old, lines), "")); err != nil {
		return err
	}
	others := func(d *Document) *value {
		return &value{kind: isMapping, fields: filter(d.fields, func(o field) bool { return o.name != f.Name })}
	}
	own := value{}
	if i := next.index(f.Name); i >= 0 {
		own = next.fields[i].value
	}
	if next.body != d.body || !sameValue(others(d), others(&next)) || !sameValue(&own, want) {
		return &EditError{Text: problem.New("value-unwritten", f.Name)}
	}
	*d = next
	return nil
}

// raw returns the YAML of a field, without its name and its indentation. A comment behind the name is
// not part of it.
func (d *Document) raw(i int) string {
	at := d.spans[i]
	head := keyEnd(d.lines[at.from], d.fields[i].name)
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

// setRaw makes a text in YAML the value of a field. What can only stand behind the name stays there.
func (d *Document) setRaw(f *catalog.Field, text string) error {
	first := ""
	if strings.Contains("[{\"'|>", text[:1]) {
		first, text, _ = strings.Cut(" "+text, "\n")
	}
	text = first + "\n" + shift(slices.Collect(strings.Lines(text)), d.indent+2)
	var problems []EditError
	parsed, _ := parseYAML(f.Name+":"+text, 0, func(line int, what problem.Text) {
		if first == "" {
			line = max(line-1, 1)
		}
		problems = append(problems, EditError{line, what})
	})
	if len(problems) == 0 && len(parsed.fields) != 1 {
		problems = append(problems, EditError{1, problem.New("yaml-not-one-field")})
	}
	if len(problems) > 0 {
		return &problems[0]
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
	return d.replace(f, &parsed.fields[0].value, at, lines)
}
