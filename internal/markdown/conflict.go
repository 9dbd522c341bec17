package markdown

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"

	"palmares/internal/problem"
)

// findConflicts reports the markers that git leaves in a file, except in code, where
// they may be an example.
func (c *checker) findConflicts() {
	if !hasConflict(c.source) {
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
	var problems []Problem
	problems, c.markers = conflicts(c.source, code)
	c.Problems = append(c.Problems, problems...)
}

// Conflicts reports the markers that git leaves in a text that is not Markdown.
func Conflicts(text string) []Problem {
	if !hasConflict([]byte(text)) {
		return nil
	}
	problems, _ := conflicts([]byte(text), nil)
	return problems
}

func hasConflict(source []byte) bool {
	return bytes.Contains(source, []byte("<<<<<<<")) || bytes.Contains(source, []byte(">>>>>>>")) ||
		bytes.Contains(source, []byte("|||||||")) || bytes.Contains(source, []byte("======="))
}

// conflicts returns the problems of the conflicts outside code, and the lines of their
// markers.
func conflicts(source []byte, code map[int]bool) (problems []Problem, markers map[int]bool) {
	markers = map[int]bool{}
	open, number := false, 0
	blank := true // the line before: === below a text makes it a heading
	for line := range bytes.Lines(source) {
		number++
		var marker byte // of git: seven of them at the start of a line, then a space or nothing
		if conflictLine.Match(bytes.TrimRight(line, "\n")) {
			marker = line[0]
		}
		leftover := marker == '>' || marker == '|' || marker == '=' && blank
		blank = len(bytes.TrimSpace(line)) == 0
		switch {
		case code[number]:
		case marker == '<':
			problems = append(problems, Problem{number, problem.New("git-conflict")})
			open, markers[number] = true, true
		case leftover && !open:
			problems = append(problems, Problem{number, problem.New("git-conflict-rest")})
		case marker != 0 && open:
			open, markers[number] = marker != '>', true
		}
	}
	return problems, markers
}

var conflictLine = regexp.MustCompile(`^(?:<{7}|={7}|>{7}|\|{7})(?: |$)`)
