package markdown

import (
	"regexp"

	"github.com/yuin/goldmark/ast"

	"palmares/internal/problem"
)

// findConflicts reports the markers that git leaves in a file, except in code, where
// they may be an example.
func (c *checker) findConflicts() {
	problems := Conflicts(string(c.source))
	if len(problems) == 0 {
		return
	}
	code := map[int]bool{}
	walk(c.root, func(n ast.Node) {
		if k := n.Kind(); k == ast.KindFencedCodeBlock || k == ast.KindCodeBlock {
			for i := range n.Lines().Len() {
				code[c.lines.at(n.Lines().At(i).Start)] = true
			}
		}
	})
	for _, p := range problems {
		if !code[p.Line] {
			c.Problems = append(c.Problems, p)
		}
	}
}

// conflictLine matches the lines of git around the versions of a conflict.
var conflictLine = regexp.MustCompile(`(?m)^(?:<{7}|>{7}|\|{7})(?: |$)`)

// Conflicts reports the markers that git leaves in a text.
func Conflicts(text string) (problems []Problem) {
	found := conflictLine.FindAllStringIndex(text, -1)
	if len(found) == 0 {
		return nil
	}
	lines := newLines([]byte(text))
	for _, at := range found {
		problems = append(problems, Problem{lines.at(at[0]), problem.New("git-conflict")})
	}
	return problems
}
