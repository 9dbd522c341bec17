package tree

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A Value is a YAML or JSON value with the line on which it starts. Numbers are
// kept as written.
type Value struct {
	Kind   Kind
	Line   int
	Text   string // of a text, number or boolean
	Items  []Value
	Fields []Field
	full   bool // fields were dropped, and that was reported

	// IsBlock is set for a text that begins below its name (|): line n of the text is n
	// lines below line.
	IsBlock bool
}

// A Field is a field of a mapping.
type Field struct {
	Name  string
	Line  int
	Value Value
}

// Named returns the field of a name; nil if there is none.
func Named(fields []Field, name string) *Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

// Find returns the value of a field of a mapping, or nil.
func (v *Value) Find(name string) *Value {
	if f := Named(v.Fields, name); f != nil {
		return &f.Value
	}
	return nil
}

// TextOf returns the text of a field of a mapping, or "".
func (v *Value) TextOf(name string) string {
	if f := v.Find(name); f != nil && f.Kind == Text {
		return f.Text
	}
	return ""
}

// A Kind is what a value is.
type Kind int

// The kinds, of which the last two have parts.
const (
	Null Kind = iota
	Bool
	Number
	Text
	List
	Mapping
)

// IsEmpty reports whether a value is null or blank text.
func (v *Value) IsEmpty() bool {
	return v.Kind == Null ||
		v.Kind == Text && strings.TrimFunc(v.Text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }) == ""
}

// LongForm returns a word as the object that it stands for in a field; other values as they are.
func LongForm(f *catalog.Field, v *Value) *Value {
	if len(f.Words()) == 0 || v.Kind != Text {
		return v
	}
	return &Value{Kind: Mapping, Line: v.Line, Fields: []Field{{f.List.Fields[0].Name, v.Line, *v}}}
}

// Describe describes a value for a message that expected something else.
func (v *Value) Describe() problem.Text {
	switch v.Kind {
	case Null:
		return problem.New("nothing")
	case Bool:
		return problem.Words(v.Text)
	case Number:
		return problem.New("the-number", v.Text)
	case Text:
		return Quoted(v.Text)
	case List:
		return problem.New("a-list")
	default:
		return problem.New("a-mapping")
	}
}

// Bare describes a value for a message that expected a number.
func (v *Value) Bare() problem.Text {
	if v.Kind == Number {
		return problem.Words(v.Text)
	}
	return v.Describe()
}

// Quoted quotes a text for a message, shortened, with unusual spaces escaped.
func Quoted(s string) problem.Text {
	const maxRunes = 60
	if utf8.RuneCountInString(s) > maxRunes {
		s = string([]rune(s)[:maxRunes]) + "…"
	}
	return problem.New("quoted", s)
}

// A Report adds a problem on a line of the file being read.
type Report func(line int, what problem.Text)

// put adds a field to a mapping, and reports it if it is already there.
func (v *Value) put(f Field, tell Report) {
	if first := Named(v.Fields, f.Name); first != nil {
		where := problem.New("on-this-line")
		if first.Line != f.Line {
			where = problem.New("first-on-line", first.Line)
		}
		tell(f.Line, problem.New("field-twice", Quoted(f.Name), where))
		return
	}
	if v.full {
		return
	}
	v.full = len(v.Fields) == maxFields
	if v.full {
		tell(f.Line, problem.New("more-fields", maxFields))
		return
	}
	v.Fields = append(v.Fields, f)
}

// IsNumber reports whether s is a JSON number. The other forms that YAML has
// (hexadecimal, octal, underscores) are never what an editor means by a score.
func IsNumber(s string) bool {
	number := jsontext.Value(s)
	return number.Kind() == '0' && number.IsValid() && strings.TrimSpace(s) == s
}
