package content

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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

// describe describes a value for a message that expected something else.
func (v *value) describe() string {
	switch v.kind {
	case isNull:
		return "nothing"
	case isBool:
		return v.text
	case isNumber:
		return "the number " + v.text
	case isText:
		return quoted(v.text)
	case isList:
		return "a list"
	default:
		return "a mapping"
	}
}

// quoted quotes a text for a message, shortened, with unusual spaces escaped.
func quoted(s string) string {
	const maxRunes = 60
	if utf8.RuneCountInString(s) > maxRunes {
		s = string([]rune(s)[:maxRunes]) + "…"
	}
	return strconv.Quote(s)
}

// A report adds a problem on a line of the file being read.
type report func(line int, format string, args ...any)

// put adds a field to a mapping, and reports it if it is already there.
func (v *value) put(f field, problem report) {
	if first := named(v.fields, f.name); first != nil {
		where := " on this line"
		if first.line != f.line {
			where = fmt.Sprintf(", first on line %d", first.line)
		}
		problem(f.line, "field %s is given twice%s; keep one", quoted(f.name), where)
		return
	}
	if v.full {
		return
	}
	v.full = len(v.fields) == maxFields
	if v.full {
		problem(f.line, "there are more than %d fields", maxFields)
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
