// Package tree parses the files of a content folder: YAML, JSON lines and the front matter of Markdown become the same
// small tree of values with line numbers. It knows nothing of records.
package tree

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// The limits of a file. The one of YAML is lower than that of the file around
// it, because parsing time grows faster than the input.
const (
	MaxFile   = 1 << 20 // bytes, of a Markdown file or a JSON line
	MaxYAML   = 64 << 10
	maxDepth  = 10
	maxFields = 100 // per mapping; a tool has fewer than thirty
)

// ByteOrderMark may stand at the start of a file.
const ByteOrderMark = "\ufeff"

// A File is the text of a file as it was parsed.
type File struct {
	Fields   []Field
	IsRecord bool   // catalogue.yaml is a record in canonical form
	Body     string // below the front matter, without blank lines around it
	BodyLine int    // of its first line
}

// ParseSettings parses catalogue.yaml, which may also be a record in canonical form: one line
// of JSON. Problems go to tell; ok reports whether the text could be read at all.
func ParseSettings(text string, tell Report) (file File, ok bool) {
	text, ok = decodedText(text, tell)
	if !ok {
		return file, false
	}
	var v Value
	line := strings.TrimSuffix(text, "\n")
	file.IsRecord = strings.HasPrefix(line, "{") && !strings.Contains(line, "\n") && jsontext.Value(line).IsValid(strictJSON)
	if file.IsRecord {
		v, ok = new(JSONParser).Parse([]byte(line), 1, tell)
	} else {
		v, ok = ParseYAML(text, 0, tell)
	}
	file.Fields = v.Fields
	return file, ok
}

// ParseMarkdown splits a Markdown file into its fields and its body.
func ParseMarkdown(text string, tell Report) (file File, ok bool) {
	text, ok = decodedText(text, tell)
	if !ok {
		return file, false
	}
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		if conflicts := markdown.Conflicts(first); len(conflicts) > 0 {
			tell(1, conflicts[0].Text)
		} else {
			tell(1, problem.New("no-front-matter"))
		}
		return file, false
	}
	yaml, line := rest, 1
	for {
		line++
		if rest == "" {
			tell(1, problem.New("front-matter-open"))
			return file, false
		}
		var l string
		start := len(yaml) - len(rest)
		l, rest, _ = strings.Cut(rest, "\n")
		if strings.TrimRight(l, " \t") == "---" {
			yaml = yaml[:start]
			break
		}
	}
	v, ok := ParseYAML(yaml, 1, tell)
	body, skipped := TrimBlankLines(rest)
	// The copy lets go of the front matter, which nobody needs any more.
	return File{Fields: v.Fields, Body: strings.Clone(body), BodyLine: line + 1 + skipped}, ok
}

// decodedText removes the byte order mark and normalizes the line endings of a file. It
// rejects text that is not UTF-8.
func decodedText(text string, tell Report) (plain string, ok bool) {
	if !utf8.ValidString(text) {
		line := 1
		for i, r := range text {
			if r == '\n' {
				line++
			}
			if r == utf8.RuneError {
				if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
					break
				}
			}
		}
		tell(line, problem.New("not-utf8"))
		return "", false
	}
	return NormalizeNewlines(strings.TrimPrefix(text, ByteOrderMark)), true
}

// NormalizeNewlines turns CRLF into LF, so that a record does not depend on the
// editor that saved it.
func NormalizeNewlines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// TrimBlankLines removes the blank lines at both ends of a body and counts those
// at its start.
func TrimBlankLines(s string) (body string, skipped int) {
	for {
		line, rest, more := strings.Cut(s, "\n")
		if strings.TrimSpace(line) != "" {
			break
		}
		if !more {
			return "", skipped
		}
		s = rest
		skipped++
	}
	for {
		i := strings.LastIndexByte(s, '\n')
		if i < 0 || strings.TrimSpace(s[i:]) != "" {
			return s, skipped
		}
		s = s[:i]
	}
}
