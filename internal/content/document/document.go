// Package document edits the files of a content folder, field by field: it finds the lines of a field by the positions
// of the parser and replaces only those. Form says what a form has for each field.
package document

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// A Document is the file of one record, or catalogue.yaml, that a form edits. What is not changed
// keeps its bytes: a change rewrites the lines of its own field only.
type Document struct {
	path string
	kind *catalog.Kind

	mark       string   // the byte order mark, or ""
	lines      []string // with their ends
	newline    string   // of new lines
	first, end int      // lines[first:end] are the YAML
	text       int      // where the lines of the body begin; len(lines) if there is none
	body       string
	fields     []tree.Field
	spans      []span // of fields
	indent     int    // of fields
}

// A span is a range of lines, by index.
type span struct{ from, to int }

// A Value is what a form shows of a field: Text for one value, as people write it (19 €/mois, 7.5,
// true, 2026-11-01), Items for lists of texts, Rows for lists of objects, and one row for an object. A
// mapping such as criteria is rows with the columns name and value. What a form cannot show so is
// YAML, as Text.
type Value struct {
	Text  string
	Items []string
	Rows  []Row
}

// A Row is an object, by the names of its fields.
type Row map[string]Value

// An Error says why a form cannot open or change a file.
type Error struct {
	Line int // from 1; 0 for none
	problem.Text
}

// Open returns a file to edit, by its path in the folder. The error is an Error.
func Open(path string, data []byte) (*Document, error) {
	kind, _, err := kindOf(path)
	if err != nil {
		return nil, err
	}
	d := &Document{path: path, kind: kind}
	if err := d.parse(string(data)); err != nil {
		return nil, err
	}
	return d, nil
}

// New returns an empty record, with a line for each field that it must have.
func New(kind *catalog.Kind) *Document {
	var b strings.Builder
	for i := range kind.Fields {
		if f := &kind.Fields[i]; f.Use.Has(catalog.Required) && f.Form != catalog.OwnSlug {
			b.WriteString(f.Name + ":\n")
		}
	}
	d := &Document{kind: kind, path: catalog.SettingsFile}
	text := b.String()
	if kind != catalog.CatalogueKind {
		d.path, text = "", "---\n"+text+"---\n"
	}
	if err := d.parse(text); err != nil {
		panic(err)
	}
	return d
}

// kindOf returns the kind and the slug of the record that a file has.
func kindOf(path string) (*catalog.Kind, string, error) {
	if path == catalog.SettingsFile {
		return catalog.CatalogueKind, catalog.CatalogueKind.Name, nil
	}
	folder, name, _ := strings.Cut(path, "/")
	slug, _ := content.SlugOf(path)
	if k := catalog.KindIn(folder); k != nil && strings.HasSuffix(name, ".md") && catalog.IsSlug(slug) {
		return k, slug, nil
	}
	if catalog.KindIn(strings.TrimSuffix(path, ".jsonl")) != nil && strings.HasSuffix(path, ".jsonl") {
		return nil, "", &Error{Text: problem.New("bulk-not-edited")}
	}
	return nil, "", &Error{Text: problem.New("not-a-record-file")}
}

// parse makes the document that of a text, or returns an error and leaves it as it is.
func (d *Document) parse(text string) error {
	if len(text) > tree.MaxFile {
		return &Error{Text: problem.New("document-too-large")}
	}
	var problems []Error
	parse := tree.ParseMarkdown
	if d.kind == catalog.CatalogueKind {
		parse = tree.ParseSettings
	}
	file, _ := parse(text, func(line int, what problem.Text) { problems = append(problems, Error{line, what}) })
	if len(problems) > 0 {
		return &problems[0]
	}
	next := Document{path: d.path, kind: d.kind, body: file.Body, fields: file.Fields, newline: "\n"}
	rest, hasMark := strings.CutPrefix(text, tree.ByteOrderMark)
	if hasMark {
		next.mark = tree.ByteOrderMark
	}
	next.lines = slices.Collect(strings.Lines(rest))
	if strings.Count(text, "\r\n")*2 > len(next.lines) {
		next.newline = "\r\n"
	}
	next.end, next.text = len(next.lines), len(next.lines)
	if d.kind != catalog.CatalogueKind {
		next.first = 1
		next.end = 1 + slices.IndexFunc(next.lines[1:], func(line string) bool {
			return strings.TrimRight(tree.NormalizeNewlines(line), " \t\n") == "---"
		})
		next.text = next.end + 1
	}
	next.spans, next.indent = (&editor{lines: next.lines}).spans(span{next.first, next.end}, next.fields)
	if file.IsRecord || len(next.spans) != len(next.fields) {
		return &Error{Text: problem.New("fields-not-on-lines")}
	}
	*d = next
	return nil
}

// Bytes returns the file.
func (d *Document) Bytes() []byte { return []byte(d.mark + strings.Join(d.lines, "")) }

// Kind returns the kind of the record.
func (d *Document) Kind() *catalog.Kind { return d.kind }

// Slug returns the slug of the record; "" if it has none yet.
func (d *Document) Slug() string {
	_, slug, _ := kindOf(d.path)
	return slug
}

// FieldOf returns the name of the field that a problem of the file is about: the one that it says is
// missing, or the one at its line: "body" in the body, "" where there is none.
func (d *Document) FieldOf(p content.Problem) string {
	if name := strings.TrimSuffix(p.Text.English, " is missing"); p.Text.Code == "missing" && d.field(name) != nil {
		return name
	}
	if d.kind != catalog.CatalogueKind && p.Line > d.text {
		return "body"
	}
	for i, s := range d.spans {
		if p.Line > s.from && p.Line <= s.to {
			return d.fields[i].Name
		}
	}
	return ""
}

func (d *Document) field(name string) *catalog.Field {
	return fieldOf(d.kind.Fields, name)
}

// fieldOf returns the field of a table by its name; nil if there is none.
func fieldOf(table []catalog.Field, name string) *catalog.Field {
	i := slices.IndexFunc(table, func(f catalog.Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &table[i]
}

// index returns where a field is in the file, or -1.
func (d *Document) index(name string) int {
	return slices.IndexFunc(d.fields, func(f tree.Field) bool { return f.Name == name })
}

// Value returns the value of a field that is in effect; the zero Value if there is no such field.
func (d *Document) Value(name string) Value {
	f, i := d.field(name), d.index(name)
	switch {
	case f == nil:
		return Value{}
	case f.Form == catalog.OwnSlug:
		return Value{Text: d.Slug()}
	case f.Form == catalog.Body:
		return Value{Text: d.body}
	case i < 0 || d.fields[i].Value.IsEmpty():
		return Value{Text: defaultText(f)}
	}
	if v, ok := shown(f, &d.fields[i].Value); ok {
		return v
	}
	return Value{Text: d.raw(i)}
}

// Body returns the Markdown below the fields.
func (d *Document) Body() string { return d.body }

// SetBody replaces the Markdown below the fields. Blank lines around it stay.
func (d *Document) SetBody(text string) error {
	text, _ = tree.TrimBlankLines(cleanText(text))
	if text == d.body || d.kind == catalog.CatalogueKind {
		return nil
	}
	isBlank := func(line string) bool { return strings.TrimSpace(line) == "" }
	at := span{d.text, len(d.lines)}
	for at.from < at.to && isBlank(d.lines[at.from]) {
		at.from++
	}
	for at.from < at.to && isBlank(d.lines[at.to-1]) {
		at.to--
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(line, "\n")+d.newline)
	}
	return d.parse(d.mark + strings.Join(d.ended(slices.Concat(d.lines[:at.from], lines, d.lines[at.to:])), ""))
}

// ended returns lines that each have their end. A file keeps or lacks that of its last line.
func (d *Document) ended(all []string) []string {
	lacksEnd := len(d.lines) > 0 && !strings.HasSuffix(d.lines[len(d.lines)-1], "\n")
	for i := range all {
		if i == len(all)-1 && lacksEnd {
			all[i] = strings.TrimRight(all[i], "\r\n")
		} else if !strings.HasSuffix(all[i], "\n") {
			all[i] += d.newline
		}
	}
	return all
}
