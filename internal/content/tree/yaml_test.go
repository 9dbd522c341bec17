package tree

import (
	"fmt"
	"strings"
	"testing"

	"palmares/internal/problem"
)

// A text that made the parser crash or run for minutes would fail this test, at
// the latest by its timeout.
func TestHostileYAMLNeitherCrashesNorBlocks(t *testing.T) {
	const size = MaxYAML / 4 // the time grows with the square: a second for the worst of maxYAML
	texts := []string{}
	for _, s := range []string{
		"[", "{", "[{", "- ", "- a\n", "a: ", "a: b\n", "? ", "&a ", "*a ", "!!str ", "'", "\"", "|\n", "a: |\n ", "#", "# c\n", "\n", " ", "---\n", "...\n", "a:\n", "[a,", "{a: ",
		"- - ", "? a\n: b\n", "x", "%YAML\n", "\t", "a: [", "<<: ", "\\", "a: 'b'\n", ": ", "-\n", "a\n", "a: >\n b\n", "\"\\u0041\"", ",", "{a,", "[],", "é", "a: b #c\n", "\r", "-\t", "a:\t", "\x00", "\u2028",
	} {
		texts = append(texts, strings.Repeat(s, size/len(s)), "a: "+strings.Repeat(s, size/len(s)))
	}
	var stairs, keys strings.Builder
	for i := 0; stairs.Len() < size; i++ {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for i := 0; keys.Len() < size; i++ {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for _, text := range append(texts, stairs.String(), keys.String(), "a: ["+strings.Repeat("x,", size/2)+"]") {
		problems := 0
		v, ok := ParseYAML(text, 0, func(int, problem.Text) { problems++ })
		if ok && v.Kind != Mapping || !ok && problems == 0 {
			t.Errorf("%.20q… gives %v, %v and %d problems", text, v.Kind, ok, problems)
		}
	}
}
