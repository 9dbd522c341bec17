package content

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"palmares/internal/markdown"
)

// A decoder decodes the fields of one record. Its methods return the value of a
// field, or report a problem and return the zero value. The fields that were asked
// for are the known ones; rejectOthers then reports the rest. Those of a record are read
// by its table, in read.go.
type decoder struct {
	file   string
	line   int    // of the record
	within string // appended to field names in messages, such as " in item 2 of sources"
	fields []field
	known  []string
	basis
	problems *[]Problem
	warnings *[]Warning
	parsed   bool // fields is valid

	isMarkdown bool
	slug       string // from the file name
	isNext     bool   // from the file name
	body       string
	bodyLine   int
	checkBody  func(string) markdown.Report // nil for markdown.Check

	isRecord        bool        // catalogue.yaml is a record in canonical form
	isDraft         bool        // required fields may be missing
	links, pictures []mention   // of the body
	fieldPictures   []reference // of fields
	former          []reference // aliases
	pages           []reference // of protocols
	tools           []reference // of an article
	ownCategories   categories  // of catalogue.yaml, as far as it was read
}

func (d *decoder) report(line int, format string, args ...any) {
	keep(d.problems, Problem{d.file, line, fmt.Sprintf(format, args...)})
}

func (d *decoder) warn(line int, format string, args ...any) {
	addWarning(d.warnings, d.ignored, Warning{d.file, line, fmt.Sprintf(format, args...)})
}

// A label is the name of a field, or of an item of a list, as messages show it.
type label struct {
	name, within string
	item         int // from 1; 0 for the field itself
}

func (l label) String() string {
	if l.item > 0 {
		return fmt.Sprintf("item %d of %s%s", l.item, l.name, l.within)
	}
	return l.name + l.within
}

func (d *decoder) label(name string) label { return label{name: name, within: d.within} }

// field returns the value of a field, or nil if it is absent. A missing required
// field is reported once. An optional field without a value is absent: editors with
// forms write all fields.
func (d *decoder) field(name string, isRequired bool) *value {
	isRequired = isRequired && !d.isDraft
	f := d.find(name)
	if !slices.Contains(d.known, name) {
		d.known = append(d.known, name)
		if isRequired && f == nil {
			d.report(d.line, "%s is missing", d.label(name))
		}
	}
	if f == nil || !isRequired && f.value.isEmpty() {
		return nil
	}
	return &f.value
}

func (d *decoder) find(name string) *field { return named(d.fields, name) }

// lineOf returns the line of a field's value, or that of the record if the field
// is absent.
func (d *decoder) lineOf(name string) int {
	if f := d.find(name); f != nil {
		return f.value.line
	}
	return d.line
}

// rejectOthers reports every unknown field.
func (d *decoder) rejectOthers() {
	for _, f := range d.fields {
		if slices.Contains(d.known, f.name) {
			continue
		}
		if was, ok := gone[f.name]; ok && slices.Contains(d.known, was.beside) {
			d.report(f.line, "%s", was.text)
			continue
		}
		hint := ""
		switch near := nearest(strings.ToLower(f.name), d.known); {
		case d.isMarkdown && d.within == "" && f.name == "slug":
			hint = "; the slug is the name of the file"
		case d.isMarkdown && d.within == "" && f.name == "body":
			hint = "; the body is what follows the fields"
		case near != "":
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		d.report(f.line, "unknown field %s%s%s", quoted(f.name), d.within, hint)
	}
}

// gone are fields that there are no more, with one that there is where they were, and a sentence about each.
var gone = map[string]struct{ beside, text string }{
	"analytics": {"readership", "analytics is no longer a setting: a script from elsewhere could act as an editor of the desk, " +
		"and readership counts without one; remove it"},
	"price_source_hint": {"price_quote", "price_source_hint is no longer a field: quote the words of the page in price_quote, " +
		"from the name of the plan to the period; remove it"},
}

// textOf returns the text of a value that must be a non-blank string. want
// completes the message "must be …".
func (d *decoder) textOf(label label, v *value, want string) (string, bool) {
	switch {
	case v.isEmpty():
		d.report(v.line, "%s is empty; it must be %s", label, want)
		return "", false
	case (v.kind == isNumber || v.kind == isBool) && want == someText:
		d.report(v.line, "%s must be text, not %s; put it in quotes", label, v.describe())
		return "", false
	case v.kind != isText:
		d.report(v.line, "%s must be %s, not %s", label, want, v.describe())
		return "", false
	}
	return v.text, true
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
func (d *decoder) inBody(line int, format string, args ...any) {
	at := d.bodyPlace(line)
	d.report(at.line, "%s%s", at.prefix, fmt.Sprintf(format, args...))
}
