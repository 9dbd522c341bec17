package content

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A decoder decodes the fields of one record. Its methods return the value of a
// field, or report a problem and return the zero value. The fields that were asked
// for are the known ones; rejectOthers then reports the rest.
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
	body       string
	bodyLine   int

	schema *schemaNode // records what is asked for; nil while a record is decoded

	isRecord        bool        // catalogue.yaml is a record in canonical form
	isDraft         bool        // required fields may be missing
	links, pictures []mention   // of the body
	fieldPictures   []reference // of fields
}

const (
	required = true
	optional = false
)

const slugRule = "such as mon-outil-2 (a to z, 0 to 9, single dashes between, at most 100 characters)"

func (d *decoder) report(line int, format string, args ...any) {
	*d.problems = append(*d.problems, Problem{d.file, line, fmt.Sprintf(format, args...)})
}

func (d *decoder) warn(line int, format string, args ...any) {
	*d.warnings = append(*d.warnings, Warning{d.file, line, fmt.Sprintf(format, args...)})
}

// label returns the name of a field as messages show it.
func (d *decoder) label(name string) string { return name + d.within }

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

func (d *decoder) find(name string) *field {
	for i := range d.fields {
		if d.fields[i].name == name {
			return &d.fields[i]
		}
	}
	return nil
}

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

// textOf returns the text of a value that must be a non-blank string. want
// completes the message "must be …".
func (d *decoder) textOf(label string, v *value, want string) (string, bool) {
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

const someText = "text"

// oneLine returns a text of one line.
func (d *decoder) oneLine(name string, isRequired bool) string {
	d.expect(name, isRequired, lineForm)
	v := d.field(name, isRequired)
	if v == nil {
		return ""
	}
	s, ok := d.textOf(d.label(name), v, someText)
	if !ok {
		return ""
	}
	if r, bad := controlCharacter(s, ""); bad {
		d.report(v.line, "%s must be one line of text without control characters, but contains %U", d.label(name), r)
		return ""
	}
	return s
}

// prose returns a text that may have several lines.
func (d *decoder) prose(name string, isRequired bool) string {
	d.expect(name, isRequired, proseForm)
	v := d.field(name, isRequired)
	if v == nil {
		return ""
	}
	s, ok := d.textOf(d.label(name), v, someText)
	if !ok {
		return ""
	}
	s = normalizeNewlines(s)
	if r, bad := controlCharacter(s, "\n\t"); bad {
		d.report(v.line, "%s must be text without control characters, but contains %U", d.label(name), r)
		return ""
	}
	return s
}

// maxShort is the maximum length of a text that stands where a price does.
const maxShort = 80

// short returns a text of one line of at most maxShort characters.
func (d *decoder) short(name string, isRequired bool) string {
	d.expect(name, isRequired, shortForm)
	s := d.oneLine(name, isRequired)
	if n := utf8.RuneCountInString(s); n > maxShort {
		d.report(d.lineOf(name), "%s must have at most %d characters, and has %d", d.label(name), maxShort, n)
		return ""
	}
	return s
}

// names returns the names of a field that is one name or a list of names.
func (d *decoder) names(name string) []string {
	d.expect(name, optional, namesForm)
	v := d.field(name, optional)
	if v == nil {
		return nil
	}
	if v.kind != isList {
		if s := d.oneLine(name, optional); s != "" {
			return []string{s}
		}
		return nil
	}
	var all []string
	for _, item := range d.list(name, lineForm) {
		s, ok := item.textOf(item.label(), item.value, someText)
		if !ok {
			continue
		}
		if r, bad := controlCharacter(s, ""); bad {
			item.report(item.value.line, "%s must be one line of text without control characters, but contains %U", item.label(), r)
			continue
		}
		all = append(all, s)
	}
	return all
}

// controlCharacter returns the first control character of s that is not allowed:
// JSON, XML and PostgreSQL each reject some. U+2028 and U+2029 also break lines.
func controlCharacter(s, allowed string) (rune, bool) {
	for _, r := range s {
		if (unicode.IsControl(r) || allowed == "" && (r == '\u2028' || r == '\u2029')) && !strings.ContainsRune(allowed, r) {
			return r, true
		}
	}
	return 0, false
}

// checked returns a text for which valid holds, and which has the form. want completes
// the message "must be …".
func (d *decoder) checked(name string, isRequired bool, form formFunc, valid func(string) bool, want string) string {
	d.expect(name, isRequired, form)
	if v := d.field(name, isRequired); v != nil {
		return d.checkedOf(d.label(name), v, valid, want)
	}
	return ""
}

func (d *decoder) checkedOf(label string, v *value, valid func(string) bool, want string) string {
	s, ok := d.textOf(label, v, want)
	if !ok {
		return ""
	}
	if !valid(s) {
		d.report(v.line, "%s must be %s, not %s", label, want, quoted(s))
		return ""
	}
	return s
}

func (d *decoder) date(name string, isRequired bool) string {
	return d.checked(name, isRequired, dateForm, catalog.IsDate, "an existing date, written YYYY-MM-DD")
}

func (d *decoder) slugField(name string, isRequired bool) string {
	d.expect(name, isRequired, slugForm)
	if v := d.field(name, isRequired); v != nil {
		return d.slugOf(d.label(name), v)
	}
	return ""
}

func (d *decoder) slugOf(label string, v *value) string {
	return d.checkedOf(label, v, catalog.IsSlug, "a slug "+slugRule)
}

// ownSlug returns the slug of the record: the file name, which was checked when
// the folder was listed, or the field slug of a JSON line.
func (d *decoder) ownSlug() string {
	if !d.isMarkdown {
		return d.slugField("slug", required)
	}
	if !catalog.IsSlug(d.slug) {
		return ""
	}
	return d.slug
}

func (d *decoder) price(name string) string {
	d.expect(name, required, priceForm)
	v := d.field(name, required)
	if v == nil {
		return ""
	}
	if v.kind == isText && catalog.IsPrice(v.text) {
		return v.text
	}
	want := "an amount in euros for a period, such as 0 €/mois, 19,99 €/mois or 1 200 €/an"
	if plain := strings.NewReplacer("\u00a0€", " €", "\u202f€", " €").Replace(v.text); plain != v.text && catalog.IsPrice(plain) {
		want = "written with a plain space (U+0020) before €"
	}
	return d.checkedOf(d.label(name), v, catalog.IsPrice, want)
}

func (d *decoder) category() string {
	d.expect("category", required, slugForm)
	v := d.field("category", required)
	if v == nil {
		return ""
	}
	s := d.slugOf(d.label("category"), v)
	if s == "" || d.declared == nil || d.declared[s] {
		return s
	}
	d.report(v.line, "category %q is not declared in %s (declared: %s)", s, catalogueFile,
		strings.Join(slices.Sorted(maps.Keys(d.declared)), ", "))
	return ""
}

func enum[T ~string](d *decoder, name string, isRequired bool, values []T) T {
	d.expect(name, isRequired, func() *schemaNode { return oneOf(values...) })
	v := d.field(name, isRequired)
	if v == nil {
		return ""
	}
	if v.kind == isText {
		if i := slices.Index(values, T(v.text)); i >= 0 {
			return values[i]
		}
	}
	want := ""
	for i, x := range values {
		switch i {
		case 0:
		case len(values) - 1:
			want += " or "
		default:
			want += ", "
		}
		want += string(x)
	}
	return T(d.checkedOf(d.label(name), v, func(string) bool { return false }, want))
}

// tenths are the usual figures, which records share.
var tenths = func() (list [101]float64) {
	for i := range list {
		list[i] = float64(i) / 10
	}
	return list
}()

// figure returns a number from 0 to 10, or nil.
func (d *decoder) figure(name string) *float64 {
	d.expect(name, optional, figureForm)
	v := d.field(name, optional)
	if v == nil {
		return nil
	}
	if v.kind == isNumber && isPlainNumber(v.text) {
		x, err := strconv.ParseFloat(v.text, 64)
		if err == nil && x >= 0 && x <= 10 {
			x += 0 // -0 is 0
			if tenth := int(x*10 + 0.5); tenths[tenth] == x {
				return &tenths[tenth]
			}
			return &x
		}
	}
	hint := ""
	if point := strings.Replace(v.text, ",", ".", 1); v.kind == isText && isPlainNumber(point) {
		hint = "; write " + point
	}
	d.report(v.line, "%s must be a number from 0 to 10, not %s%s", d.label(name), strings.TrimPrefix(v.describe(), "the number "), hint)
	return nil
}

func (d *decoder) tier() int {
	const lowest = 3
	d.expect("tier", optional, func() *schemaNode { return oneOf(1, 2, lowest) })
	v := d.field("tier", optional)
	if v == nil {
		return lowest
	}
	if v.kind == isNumber && (v.text == "1" || v.text == "2" || v.text == "3") {
		return int(v.text[0] - '0')
	}
	d.report(v.line, "tier must be 1, 2 or 3, not %s", strings.TrimPrefix(v.describe(), "the number "))
	return lowest
}

func (d *decoder) boolean(name string, fallback bool) bool {
	d.expect(name, optional, func() *schemaNode { return &schemaNode{Type: "boolean"} })
	v := d.field(name, optional)
	if v == nil {
		return fallback
	}
	if v.kind != isBool {
		d.report(v.line, "%s must be true or false, not %s", d.label(name), v.describe())
		return fallback
	}
	return v.text == "true"
}

// ownBody returns the Markdown of the record and reports what check finds in it.
func (d *decoder) ownBody(check func(string) markdown.Report) string {
	body := d.body
	if !d.isMarkdown {
		d.expect("body", optional, func() *schemaNode { return &schemaNode{Type: "string"} })
		v := d.field("body", optional)
		if v == nil {
			return ""
		}
		if v.kind != isText {
			d.report(v.line, "body must be text, not %s", v.describe())
			return ""
		}
		body, _ = trimBlankLines(normalizeNewlines(v.text))
	}
	if r, bad := controlCharacter(body, "\n\t"); bad {
		line := 1 + strings.Count(body[:strings.IndexRune(body, r)], "\n")
		d.inBody(line, "the text must not contain control characters, but contains %U", r)
	}
	found := check(body)
	for _, p := range found.Problems {
		d.inBody(p.Line, "%s", p.Text)
	}
	d.mention(body, found, d.bodyPlace)
	return body
}

// inBody reports a problem on a line of the body.
func (d *decoder) inBody(line int, format string, args ...any) {
	at := d.bodyPlace(line)
	d.report(at.line, "%s%s", at.prefix, fmt.Sprintf(format, args...))
}
