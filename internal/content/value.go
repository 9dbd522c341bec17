package content

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A value is what YAML and JSON have in common, with the line on which it
// starts in its file. Numbers keep the form in which they were written.
type value struct {
	kind   valueKind
	line   int
	text   string // of a text, number or boolean
	items  []value
	fields []field
	full   bool // fields were left out, and that was reported
}

type field struct {
	name  string
	line  int
	value value
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

// describe says what a value is, for a sentence that wanted something else.
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

// quoted is a text as a sentence shows it: odd spaces visible, never long.
func quoted(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return strconv.Quote(s)
}

// A report takes a problem found on a line of the file being read.
type report func(line int, format string, args ...any)

// put adds a field to a mapping, unless it is there already.
func (v *value) put(f field, problem report) {
	for i := range v.fields {
		if v.fields[i].name == f.name {
			where := "on this line too"
			if first := v.fields[i].line; first != f.line {
				where = fmt.Sprintf("first on line %d", first)
			}
			problem(f.line, "field %s is given twice, %s; keep one", quoted(f.name), where)
			return
		}
	}
	if v.full {
		return
	}
	if v.full = len(v.fields) == maxFields; v.full {
		problem(f.line, "there are more than %d fields", maxFields)
		return
	}
	v.fields = append(v.fields, f)
}

// isPlainNumber tells whether s is a number as JSON writes it. Of the many forms
// that YAML has besides (hexadecimal, octal, underscores) none is what an editor
// meant by a score.
func isPlainNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if rest, ok := strings.CutPrefix(s, "."); ok {
		n := digits(rest)
		if n == 0 {
			return false
		}
		s = rest[n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

// digits counts the digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
