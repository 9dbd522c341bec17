package markdown

import (
	"strings"
	"unicode/utf8"

	"palmares/internal/problem"
)

// With these limits the slowest text of 1 MiB takes a few seconds (see
// BenchmarkTheWorstTexts). They are far beyond what people write: a hundred nested
// quotes, a block with five thousand brackets, tables of a hundred thousand cells,
// two thousand footnotes.
const (
	maxNesting   = 100
	maxWork      = 25_000_000
	maxCells     = 100_000
	maxFootnotes = 4_000 // definitions and references
)

// tooComplex estimates the cost of a text without parsing it. It looks at runs of
// lines between blank lines, since no paragraph or table extends beyond one:
//
//   - the quotes and lists opened on one line are the depth of nesting;
//   - goldmark scans back over the brackets, braces and emphasis marks of a
//     paragraph, so the cost is the square of their number;
//   - each line after a possible delimiter row of a table gets as many cells as
//     that row, however short the line is;
//   - every reference to a footnote is compared with every definition.
//
// The estimates are upper bounds, so a text that passes is safe.
func tooComplex(source string) (Problem, bool) {
	var (
		marks, work, cells int
		footnotes          int
		columns            int // of the widest delimiter row of this run
		runStart           = 1
	)
	line := 0
	for len(source) > 0 {
		line++
		var l string
		l, source, _ = strings.Cut(source, "\n")
		w := measure(l)
		if w.blank {
			work += marks * marks
			marks, columns, runStart = 0, 0, line+1
			continue
		}
		if w.nesting > maxNesting {
			return Problem{line, problem.New("nested-too-deep", maxNesting)}, true
		}
		footnotes += w.footnotes
		if footnotes > maxFootnotes {
			return Problem{line, problem.New("too-many-footnotes", maxFootnotes)}, true
		}
		marks += w.marks
		if work+marks*marks > maxWork {
			return Problem{runStart, problem.New("block-too-complex")}, true
		}
		if w.delimiter {
			columns = max(columns, w.pipes+1)
		}
		cells += columns
		if cells > maxCells {
			return Problem{line, problem.New("too-many-cells", maxCells)}, true
		}
	}
	return Problem{}, false
}

type lineCost struct {
	blank     bool
	delimiter bool // possibly the delimiter row of a table, maybe inside quotes and lists
	nesting   int
	marks     int
	pipes     int
	footnotes int
}

func measure(line string) lineCost {
	w := lineCost{blank: true, delimiter: true}
	prefix := true
	for i := 0; i < len(line); i++ {
		c := line[i]
		if isLetter(c) {
			prefix, w.delimiter, w.blank = false, false, false
			for i+1 < len(line) && isLetter(line[i+1]) {
				i++
			}
			continue
		}
		switch c {
		case ' ', '\t', '\r':
			continue
		case '>', '+', '.', ')', '-', '*':
			if prefix && (c == '>' || i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t') {
				w.nesting++
			}
			if c == '*' {
				w.marks++
			}
		case '|':
			w.pipes++
			prefix = false
		case ':':
			prefix = false
		case '[':
			w.marks++
			w.delimiter = false
			if i+1 < len(line) && line[i+1] == '^' {
				w.footnotes++
			}
			if end := footnoteEnd(line[i:], prefix); end > 0 {
				i += end // blocks may follow
			} else {
				prefix = false
			}
		case '_', '{', '~':
			w.marks++
			prefix, w.delimiter = false, false
		default:
			if c < '0' || c > '9' {
				prefix, w.delimiter = false, false
			}
		}
		w.blank = false
	}
	return w
}

// isLetter reports whether a byte is a letter of ASCII, or a part of another character.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf }

// footnoteEnd returns the length of the start of a definition, [^1]:, or 0. A line
// has one only at its start.
func footnoteEnd(s string, atStart bool) int {
	if !atStart || !strings.HasPrefix(s, "[^") {
		return 0
	}
	return 1 + strings.Index(s, "]:")
}
