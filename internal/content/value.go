package content

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A value is a YAML or JSON value with the line on which it starts. Numbers are
// kept as written.
type value struct {
	kind   valueKind
	line   int
	text   string // of a text, number or boolean
	items  []value
	fields []field
	full   bool // fields were dropped, and that was reported

	// isBlock is set for a text that begins below its name (|): line n of the text is n
	// lines below line.
	isBlock bool
}

type field struct {
	name  string
	line  int
	value value
}

func named(fields []field, name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

// find returns the value of a field of a mapping, or nil.
func (v *value) find(name string) *value {
	if f := named(v.fields, name); f != nil {
		return &f.value
	}
	return nil
}

// textOf returns the text of a field of a mapping, or "".
func (v *value) textOf(name string) string {
	if f := v.find(name); f != nil && f.kind == isText {
		return f.text
	}
	return ""
}

type valueKind int

const (
	isNull valueKind = iota
	isBool
	isNumber
	isText
	isList
	isMapping
)

// isEmpty reports whether a value is null or blank text.
func (v *value) isEmpty() bool {
	return v.kind == isNull ||
		v.kind == isText && strings.TrimFunc(v.text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }) == ""
}

// longForm returns a word as the object that it stands for in a field; other values as they are.
func longForm(f *catalog.Field, v *value) *value {
	if len(f.Words()) == 0 || v.kind != isText {
		return v
	}
	return &value{kind: isMapping, line: v.line, fields: []field{{f.List.Fields[0].Name, v.line, *v}}}
}

// describe describes a value for a message that expected something else.
func (v *value) describe() problem.Text {
	switch v.kind {
	case isNull:
		return problem.New("nothing")
	case isBool:
		return problem.Words(v.text)
	case isNumber:
		return problem.New("the-number", v.text)
	case isText:
		return quoted(v.text)
	case isList:
		return problem.New("a-list")
	default:
		return problem.New("a-mapping")
	}
}

// bare describes a value for a message that expected a number.
func (v *value) bare() problem.Text {
	if v.kind == isNumber {
		return problem.Words(v.text)
	}
	return v.describe()
}

// quoted quotes a text for a message, shortened, with unusual spaces escaped.
func quoted(s string) problem.Text {
	const maxRunes = 60
	if utf8.RuneCountInString(s) > maxRunes {
		s = string([]rune(s)[:maxRunes]) + "…"
	}
	return problem.New("quoted", s)
}

// A report adds a problem on a line of the file being read.
type report func(line int, what problem.Text)

// put adds a field to a mapping, and reports it if it is already there.
func (v *value) put(f field, tell report) {
	if first := named(v.fields, f.name); first != nil {
		where := problem.New("on-this-line")
		if first.line != f.line {
			where = problem.New("first-on-line", first.line)
		}
		tell(f.line, problem.New("field-twice", quoted(f.name), where))
		return
	}
	if v.full {
		return
	}
	v.full = len(v.fields) == maxFields
	if v.full {
		tell(f.line, problem.New("more-fields", maxFields))
		return
	}
	v.fields = append(v.fields, f)
}

// isPlainNumber reports whether s is a JSON number. The other forms that YAML has
// (hexadecimal, octal, underscores) are never what an editor means by a score.
func isPlainNumber(s string) bool {
	number := jsontext.Value(s)
	return number.Kind() == '0' && number.IsValid() && strings.TrimSpace(s) == s
}
