package web

import (
	_ "embed"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// englishFile has the English of all sentences of errors: a line of French and a line of English, in which {} is what
// differs from error to error, and an empty line. It is beside the code and not in it, because French is the language of
// the interface, and a sentence is written once, where its error is.
//
//go:embed english.txt
var englishFile string

// A sentence is the pattern of a French sentence, and its English between the parts that differ.
type sentence struct {
	french  *regexp.Regexp
	english []string
}

var sentences = sync.OnceValue(func() (all []sentence) {
	for block := range strings.SplitSeq(strings.TrimSpace(plainSpaces.Replace(englishFile)), "\n\n") {
		french, english, _ := strings.Cut(block, "\n")
		pattern := strings.ReplaceAll(regexp.QuoteMeta(french), `\{\}`, "(.*?)")
		all = append(all, sentence{regexp.MustCompile("(?s)^" + pattern + "$"), strings.Split(english, "{}")})
	}
	return all
})

var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

// InEnglish returns the English of a sentence of an error, or of a part of one; what has none stays as it is.
func InEnglish(french string) string {
	text := plainSpaces.Replace(french)
	for _, s := range sentences() {
		parts := s.french.FindStringSubmatch(text)
		if parts == nil {
			continue
		}
		english := s.english[0]
		for i, between := range s.english[1:] {
			english += InEnglish(parts[i+1]) + between
		}
		return english
	}
	return french
}

// For returns the error in the language that a request prefers: English, or French, which any other language and no wish get.
func (e *Error) For(r *http.Request) *Error {
	if !prefersEnglish(r) {
		return e
	}
	translated := *e
	translated.Text = InEnglish(e.Text)
	return &translated
}

// prefersEnglish reads Accept-Language (RFC 9110 §12.5.4). Of two languages of one weight the first is preferred.
func prefersEnglish(r *http.Request) bool {
	isEnglish, most := false, 0
	for _, line := range r.Header["Accept-Language"] {
		for item := range strings.SplitSeq(line, ",") {
			name, rest, _ := strings.Cut(item, ";")
			primary, _, _ := strings.Cut(strings.ToLower(strings.Trim(name, " \t")), "-")
			weight, ok := quality(rest)
			if ok && weight > most && (primary == "en" || primary == "fr" || primary == "*") {
				isEnglish, most = primary == "en", weight
			}
		}
	}
	return isEnglish
}
