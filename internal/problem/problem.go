// Package problem has the sentences that tools and pages say about a content folder and its publication, and the errors
// of the APIs, in English and in French. A sentence has a code, by which the source names it, and arguments; its two
// texts are in table.txt.
//
// An entry of the table is two lines: the code, a colon and the English text, then the French one with plain spaces.
// The verbs of both are those of package fmt; %q is quoted as the language does, and (a|b) is chosen by the first
// number: a where there is one, in French also where there is none, otherwise b. An argument that is itself such a
// sentence, or can be said in a language, is said in that of the sentence around it. Entries without a code are
// messages of other programs. Foreign recognises them, and the sentences about pages, which a file keeps in English.
package problem

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"palmares/internal/french"
)

// A Language is one that sentences are said in.
type Language int

// The languages.
const (
	English Language = iota
	French
)

// Either returns one of two texts.
func (l Language) Either(inFrench, inEnglish string) string {
	if l == French {
		return inFrench
	}
	return inEnglish
}

// A Text is a sentence, or a part of one, in both languages. The zero value is no sentence. Texts that say the same are
// equal.
type Text struct {
	Code    string // "" for words that nobody translates
	English string
	French  string
}

// Error returns the English text.
func (t Text) Error() string { return t.English }

func (t Text) String() string { return t.English }

// In returns the text in a language.
func (t Text) In(l Language) string { return l.Either(t.French, t.English) }

// Coded returns the text with another code: a sentence around another has its code.
func (t Text) Coded(code string) Text {
	t.Code = code
	return t
}

// MarshalText returns the English text.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.English), nil }

// UnmarshalText makes it words that nobody translates.
func (t *Text) UnmarshalText(b []byte) error {
	*t = Words(string(b))
	return nil
}

// A sayer is an argument that has its own words in each language.
type sayer interface{ In(Language) string }

//go:embed table.txt
var source string

type entry struct{ english, french string }

var typography = strings.NewReplacer(" ;", french.Narrow+";", " ?", french.Narrow+"?", " :", french.Space+":",
	"« ", "«"+french.Space, " »", french.Space+"»")

// load returns the table by code, and what Foreign recognises.
var load = sync.OnceValues(func() (byCode map[string]entry, foreign []entry) {
	byCode = map[string]entry{}
	lines := strings.Split(strings.TrimSuffix(source, "\n"), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		code, english, _ := strings.Cut(lines[i], ": ")
		e := entry{english, typography.Replace(strings.TrimPrefix(lines[i+1], "\t"))}
		if byCode[code] = e; code == "" || strings.HasPrefix(code, "page-") {
			foreign = append(foreign, e)
		}
	}
	return byCode, foreign
})

// patterns returns what the messages that Foreign recognises match, in the order of load.
var patterns = sync.OnceValue(func() (all []*regexp.Regexp) {
	_, foreign := load()
	for _, e := range foreign {
		pattern := verb.ReplaceAllLiteralString(regexp.QuoteMeta(e.english), "(.*?)")
		all = append(all, regexp.MustCompile("(?s)^"+pattern+"$"))
	}
	return all
})

// New returns the sentence of a code, which must be in the table.
func New(code string, args ...any) Text {
	byCode, _ := load()
	e, ok := byCode[code]
	if !ok {
		panic("no text has the code " + code)
	}
	return Text{code, fill(e.english, English, args), fill(e.french, French, args)}
}

// Words returns words that nobody translates, as names and numbers.
func Words(s string) Text { return Text{"", s, s} }

// Named returns the text whose code ends with a name, or the name as Words if there is none.
func Named(prefix, name string) Text {
	if byCode, _ := load(); byCode[prefix+name] == (entry{}) {
		return Words(name)
	}
	return New(prefix + name)
}

// Foreign returns a message of another program, or one that a file keeps, with its French if the table has it.
func Foreign(message string) Text {
	_, foreign := load()
	for i, pattern := range patterns() {
		if found := pattern.FindStringSubmatch(message); found != nil {
			var args []any
			for _, arg := range found[1:] {
				args = append(args, arg)
			}
			return Text{"", message, fill(strings.ReplaceAll(foreign[i].french, "%d", "%s"), French, args)}
		}
	}
	return Words(message)
}

// Join returns texts with something between them.
func Join(separator string, texts ...Text) (all Text) {
	for i, t := range texts {
		if i > 0 {
			all.English += separator
			all.French += separator
		}
		all.English += t.English
		all.French += t.French
	}
	return all
}

// Of returns what an error says, as far as it has a sentence; joined errors are on a line each.
func Of(err error) Text {
	switch err := err.(type) {
	case Text:
		return err
	case sayer:
		return Text{"", err.In(English), err.In(French)}
	case interface {
		error
		Unwrap() []error
	}:
		var all []Text
		for _, err := range err.Unwrap() {
			all = append(all, Of(err))
		}
		if joined := Join("\n", all...); joined.English == err.Error() {
			return joined
		}
	}
	return Words(err.Error())
}

// A wrapped is a sentence about another error.
type wrapped struct {
	Text
	cause error
}

func (w wrapped) Unwrap() error { return w.cause }

// Wrap returns a sentence as an error with a cause.
func Wrap(cause error, code string, args ...any) error { return wrapped{New(code, args...), cause} }

var (
	verb     = regexp.MustCompile(`%(?:\[([1-9])\])?[.0-9]*([a-zA-Z%])`)
	choice   = regexp.MustCompile(`\(([^()|]*)\|([^()|]*)\)`)
	unescape = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// fill returns a text of the table with its arguments.
func fill(text string, l Language, args []any) string {
	if len(args) == 0 { // as on every request: what its parameters may be
		return strings.ReplaceAll(text, "%%", "%")
	}
	text = choose(text, l, args)
	next := 0
	return verb.ReplaceAllStringFunc(text, func(written string) string {
		kind := written[len(written)-1]
		if kind == '%' {
			return "%"
		}
		i := next
		if next++; written[1] == '[' {
			i, written = int(written[2]-'1'), "%"+written[4:]
		}
		arg := args[i]
		if s, ok := arg.(sayer); ok {
			arg = s.In(l)
		}
		said := fmt.Sprintf(written, arg)
		switch {
		case l == English:
		case kind == 'q':
			return "«" + french.Space + unescape.Replace(said[1:len(said)-1]) + french.Space + "»"
		case kind == 'g' || kind == 'f':
			return strings.Replace(said, ".", ",", 1)
		}
		return said
	})
}

// choose replaces what the first number chooses.
func choose(text string, l Language, args []any) string {
	if !strings.Contains(text, "|") {
		return text
	}
	next := 0
	for _, found := range verb.FindAllStringSubmatch(text, -1) {
		i := next
		if next++; found[1] != "" {
			i = int(found[1][0] - '1')
		}
		if found[2] != "d" {
			continue
		}
		form := "$2"
		if n := fmt.Sprint(args[i]); n == "1" || n == "0" && l == French {
			form = "$1"
		}
		return choice.ReplaceAllString(text, form)
	}
	return text
}
