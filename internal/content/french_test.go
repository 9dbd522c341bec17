package content

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// wantFrench expects that everything that was found in a folder can be said in French, up to what the
// folder itself says and what programs of others say about it.
func wantFrench(t testing.TB, r *Result) {
	t.Helper()
	found := r.Problems
	for _, w := range r.Warnings {
		found = append(found[:len(found):len(found)], Problem(w))
	}
	for _, p := range found[:min(len(found), 1000)] {
		said := p.Text.French
		own := quotations.ReplaceAllString(said, "")
		if said == p.Text.English || slices.ContainsFunc(strings.FieldsFunc(own, isNoLetter), isEnglish) {
			t.Errorf("%s\nin French: %s", p.Text, said)
		}
	}
}

var quotations = regexp.MustCompile(`(?s)«.*?»|<[^>]*>|\[[^\]]*\]|[(][^)]*[)]|[\pL0-9_./-]*[._/][\pL0-9_./-]*|: paid, lent, free ou offered`)

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

func isEnglish(word string) bool {
	return slices.Contains([]string{
		"the", "is", "of", "must", "be", "not", "or", "and", "it", "this", "write", "with", "without", "no", "to",
		"has", "have", "are", "in", "item", "nothing", "list", "remove", "keep", "draft", "tool", "field", "picture",
	}, word)
}
