package content

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// An object is a mapping whose fields are read one by one: a record, or a part of one. The fields that were asked for
// are the known ones; rejectOthers then reports the rest.
type object struct {
	file   string
	line   int          // of the object
	within problem.Text // appended to field names in messages, such as " in item 2 of sources"
	fields []tree.Field
	known  []string
	found  *findings
	basis

	isMarkdown bool // and not a JSON line
	isDraft    bool // required fields may be missing
}

func (o *object) report(line int, code string, args ...any) { o.tell(line, problem.New(code, args...)) }

func (o *object) tell(line int, what problem.Text) { o.found.tell(o.file, line, what) }

// warn adds a warning about a field.
func (o *object) warn(name, code string, args ...any) {
	o.found.warn(o.file, o.lineOf(name), code, args...)
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

func (o *object) label(name string) label { return label{name: name, within: o.within} }

// given returns the value of a field, and false if it is absent. A missing required
// field is reported once. An optional field without a value is absent: editors with
// forms write all fields.
func (o *object) given(name string, isRequired bool) (given, bool) {
	isRequired = isRequired && !o.isDraft
	v := o.find(name)
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
		if isRequired && v == nil {
			o.report(o.line, "missing", o.label(name))
		}
	}
	if v == nil || !isRequired && v.IsEmpty() {
		return given{}, false
	}
	return given{v, o.label(name), o}, true
}

// find returns the value of a field; nil if it is absent.
func (o *object) find(name string) *tree.Value {
	if f := tree.Named(o.fields, name); f != nil {
		return &f.Value
	}
	return nil
}

// isGiven reports whether a field is there and not empty.
func (o *object) isGiven(name string) bool {
	v := o.find(name)
	return v != nil && !v.IsEmpty()
}

// lineOf returns the line of a field's value, or that of the record if the field
// is absent.
func (o *object) lineOf(name string) int {
	if v := o.find(name); v != nil {
		return v.Line
	}
	return o.line
}

// lineIn returns the line of a member of a mapping.
func (o *object) lineIn(name, member string) int {
	if v := o.find(name); v != nil {
		if own := tree.Named(v.Fields, member); own != nil {
			return own.Line
		}
	}
	return o.lineOf(name)
}

// entries returns the elements of a list, whatever they are.
func (o *object) entries(name string) []tree.Value {
	if v := o.find(name); v != nil {
		return v.Items
	}
	return nil
}

// reference returns the reference to another record that a field holds, if it holds one.
func (o *object) reference(field, slug string) []reference {
	if slug == "" {
		return nil
	}
	return []reference{{field, slug, o.lineOf(field)}}
}

// rejectOthers reports every unknown field.
func (o *object) rejectOthers() {
	for _, f := range o.fields {
		if slices.Contains(o.known, f.Name) {
			continue
		}
		var hint problem.Text
		switch near := nearest(strings.ToLower(f.Name), o.known); {
		case o.isMarkdown && o.within.English == "" && f.Name == "slug":
			hint = problem.New("hint-slug")
		case o.isMarkdown && o.within.English == "" && f.Name == "body":
			hint = problem.New("hint-body")
		case near != "":
			hint = problem.New("meant", tree.Quoted(near))
		}
		o.report(f.Line, "unknown-field", tree.Quoted(f.Name), o.within, hint)
	}
}

// nearest returns the name that was probably meant, or "" if none is close.
func nearest(name string, names []string) string {
	best, distance := "", 3
	for _, n := range names {
		if x := catalog.EditDistance(name, n, distance); x < min(distance, len(n)/2) {
			best, distance = n, x
		}
	}
	return best
}
