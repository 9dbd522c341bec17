package content

import (
	"slices"
	"strings"
	"unicode"

	"palmares/internal/content/tree"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// A decoder decodes the fields of one record. Its methods return the value of a
// field, or report a problem and return the zero value. The fields that were asked
// for are the known ones; rejectOthers then reports the rest. Those of a record are read
// by its table, in read.go.
type decoder struct {
	file   string
	line   int          // of the record
	within problem.Text // appended to field names in messages, such as " in item 2 of sources"
	tree.File
	known []string
	basis
	problems *[]Problem
	warnings *[]Warning
	parsed   bool // fields is valid

	isMarkdown bool
	slug       string                       // from the file name
	isNext     bool                         // from the file name
	checkBody  func(string) markdown.Report // nil for markdown.Check

	isDraft         bool      // required fields may be missing
	links, pictures []mention // of the body
	fieldPictures   []fieldPicture
	former          []reference // aliases
	pages           []reference // of protocols
	tools           []reference // of an article
	ownCategories   categories  // of catalogue.yaml, as far as it was read
}

func (d *decoder) report(line int, code string, args ...any) {
	d.tell(line, problem.New(code, args...))
}

func (d *decoder) tell(line int, what problem.Text) { keep(d.problems, Problem{d.file, line, what}) }

func (d *decoder) warn(line int, code string, args ...any) {
	d.warnOf(line, problem.New(code, args...))
}

func (d *decoder) warnOf(line int, what problem.Text) {
	addWarning(d.warnings, d.ignored, Warning{d.file, line, what})
}

// A label is the name of a field, or of an item of a list, as messages show it.
type label struct {
	name   string
	within problem.Text
	item   int // from 1; 0 for the field itself
}

// In returns the label in a language.
func (l label) In(language problem.Language) string { return l.text().In(language) }

func (l label) text() problem.Text {
	if l.item > 0 {
		return problem.New("item", l.item, l.name, l.within)
	}
	return problem.Join("", problem.Words(l.name), l.within)
}

func (d *decoder) label(name string) label { return label{name: name, within: d.within} }

// field returns the value of a field, or nil if it is absent. A missing required
// field is reported once. An optional field without a value is absent: editors with
// forms write all fields.
func (d *decoder) field(name string, isRequired bool) *tree.Value {
	isRequired = isRequired && !d.isDraft
	f := d.find(name)
	if !slices.Contains(d.known, name) {
		d.known = append(d.known, name)
		if isRequired && f == nil {
			d.report(d.line, "missing", d.label(name))
		}
	}
	if f == nil || !isRequired && f.Value.IsEmpty() {
		return nil
	}
	return &f.Value
}

func (d *decoder) find(name string) *tree.Field { return tree.Named(d.Fields, name) }

// lineOf returns the line of a field's value, or that of the record if the field
// is absent.
func (d *decoder) lineOf(name string) int {
	if f := d.find(name); f != nil {
		return f.Value.Line
	}
	return d.line
}

// rejectOthers reports every unknown field.
func (d *decoder) rejectOthers() {
	for _, f := range d.Fields {
		if slices.Contains(d.known, f.Name) {
			continue
		}
		if was, ok := gone[f.Name]; ok && slices.Contains(d.known, was.beside) {
			d.report(f.Line, was.code)
			continue
		}
		var hint problem.Text
		switch near := nearest(strings.ToLower(f.Name), d.known); {
		case d.isMarkdown && d.within.English == "" && f.Name == "slug":
			hint = problem.New("hint-slug")
		case d.isMarkdown && d.within.English == "" && f.Name == "body":
			hint = problem.New("hint-body")
		case near != "":
			hint = problem.New("meant", tree.Quoted(near))
		}
		d.report(f.Line, "unknown-field", tree.Quoted(f.Name), d.within, hint)
	}
}

// gone are fields that there are no more, with one that there is where they were, and the code of a sentence about each.
var gone = map[string]struct{ beside, code string }{
	"analytics":         {"readership", "analytics-gone"},
	"price_source_hint": {"price_quote", "price-source-hint-gone"},
}

// textOf returns the text of a value that must be a non-blank string. want
// completes the message "must be …".
func (d *decoder) textOf(label label, v *tree.Value, want problem.Text) (string, bool) {
	switch {
	case v.IsEmpty():
		d.report(v.Line, "empty", label, want)
		return "", false
	case (v.Kind == tree.Number || v.Kind == tree.Bool) && want == someText:
		d.report(v.Line, "unquoted", label, v.Describe())
		return "", false
	case v.Kind != tree.Text:
		d.report(v.Line, "must-be-not", label, want, v.Describe())
		return "", false
	}
	return v.Text, true
}

// controlCharacter returns the first control character of s that is not allowed:
// JSON, XML and PostgreSQL each reject some.
func controlCharacter(s, allowed string) (rune, bool) {
	for _, r := range s {
		if unicode.IsControl(r) && !strings.ContainsRune(allowed, r) {
			return r, true
		}
	}
	return 0, false
}

// hidden are the characters that have no place in a short text, as nobody sees them: those that
// break lines, change the direction of the text around them, have no width or look like a space.
// They are Default_Ignorable_Code_Point of Unicode, and some that should be.
var hidden = [][2]rune{
	{0xad, 0xad},
	{0x34f, 0x34f},
	{0x61c, 0x61c},
	{0x115f, 0x1160},
	{0x17b4, 0x17b5},
	{0x180b, 0x180f},
	{0x200b, 0x200f},
	{0x2028, 0x202e},
	{0x2060, 0x206f},
	{0x2800, 0x2800},
	{0x3164, 0x3164},
	{0xfe00, 0xfe0f},
	{0xfeff, 0xfeff},
	{0xffa0, 0xffa0},
	{0xfff0, 0xfffb},
	{0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff},
}

func isHidden(r rune) bool {
	return slices.ContainsFunc(hidden, func(span [2]rune) bool { return span[0] <= r && r <= span[1] })
}

// hiddenCharacter returns the first hidden character of s. The one that makes an emoji of the symbol
// before it, or text of an emoji, is none.
func hiddenCharacter(s string) (rune, bool) {
	var before rune
	for _, r := range s {
		isSelector := r == '\ufe0e' || r == '\ufe0f'
		isSymbol := unicode.IsSymbol(before) || unicode.IsPunct(before) || '0' <= before && before <= '9'
		if isHidden(r) && !(isSelector && isSymbol) {
			return r, true
		}
		before = r
	}
	return 0, false
}

// inBody reports a problem on a line of the body.
func (d *decoder) inBody(line int, what problem.Text) {
	at := d.bodyPlace(line)
	d.tell(at.line, at.in(what))
}
