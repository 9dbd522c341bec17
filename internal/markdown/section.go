package markdown

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/text/unicode/norm"
)

// CheckSections reports what keeps a review from being split into sections: what
// Check reports, headings without text, ids that are not valid anchors, and
// duplicate ids.
func CheckSections(body string) []Problem {
	if obviouslyValid(body) {
		return nil
	}
	if problems := Check(body); problems != nil {
		return problems
	}
	source := []byte(body)
	doc := parse(source)
	var problems []Problem
	seen := map[string]int{}
	headed := false
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Level != 2 {
			if !headed {
				w := writer{source: source}
				if w.block(n, "\n\n"); w.take() != "" {
					seen[introduction] = lineAt(source, n.Pos())
				}
			}
			continue
		}
		headed = true
		line := lineAt(source, h.Pos())
		w := writer{source: source}
		if w.inline(h); w.take() == "" {
			problems = append(problems, Problem{line, "this heading has no text; write one"})
			continue
		}
		if invalid := invalidID(h, source); invalid != "" {
			problems = append(problems, Problem{line, fmt.Sprintf("section id %s must be made of the letters a to z, digits, - and _, such as {#prise-en-main}", invalid)})
			continue
		}
		id := headingID(h, source)
		if first, twice := seen[id]; twice {
			problems = append(problems, Problem{line, duplicateMessage(id, first, line)})
			continue
		}
		seen[id] = line
	}
	return problems
}

func duplicateMessage(id string, first, line int) string {
	if id == introduction {
		return fmt.Sprintf("section id %q is already used by the text before the first heading; give this heading another id with {#id}", id)
	}
	return fmt.Sprintf("section id %q is already used by the heading %d lines above; give one of them another id with {#id}", id, line-first)
}

// obviouslyValid reports, without parsing, whether CheckSections would find
// nothing; if it returns false the text must be parsed. It spares most reviews the
// parser, which costs more than all other checks.
//
// Whatever the blocks around them, sections start at lines that begin with ## or
// are underlined with dashes. If all such lines have different ids, no two
// sections share one.
func obviouslyValid(body string) bool {
	if _, found := tooComplex([]byte(body)); found {
		return false
	}
	ids := map[string]bool{introduction: true}
	for line := range strings.Lines(body) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			continue
		}
		if strings.Trim(line, "-") == "" {
			return false // an underline or a rule: only the parser can tell
		}
		text, ok := strings.CutPrefix(line, "##")
		if !ok || strings.HasPrefix(text, "#") {
			continue
		}
		text = strings.TrimSpace(text)
		var id string
		if i := strings.LastIndex(text, "{#"); i >= 0 {
			var closed bool
			if id, closed = strings.CutSuffix(text[i+2:], "}"); !closed || !isAnchor(id) {
				return false
			}
		} else {
			id = fold(text)
		}
		text = strings.TrimSpace(strings.TrimSuffix(text, "{#"+id+"}"))
		if text == "" || strings.ContainsAny(text, "\\`*_[]<>&{}#!") || ids[id] {
			return false
		}
		ids[id] = true
	}
	return true
}

// anchors holds the section ids used so far. CheckSections rejects duplicates; for
// texts that were not checked, every section still gets its own anchor.
type anchors map[string]int

// unique returns id, or id with the first numeric suffix that is not yet used.
func (a anchors) unique(id string) string {
	free := id
	for a[free] > 0 {
		a[id]++
		free = id + "-" + strconv.Itoa(a[id])
	}
	a[free] = 1
	return free
}

// headingID returns the explicit id of a heading, or one derived from its text.
func headingID(h *ast.Heading, source []byte) string {
	if id, ok := explicitID(h); ok {
		return id
	}
	w := writer{source: source}
	w.inline(h)
	return fold(w.take())
}

func explicitID(h *ast.Heading) (string, bool) {
	if v, ok := h.AttributeString("id"); ok {
		if id, ok := v.([]byte); ok {
			return string(id), true
		}
	}
	return "", false
}

// invalidID returns the explicit id of a heading, as written, if it is not a valid
// anchor, and "" otherwise. What goldmark does not accept as an id, such as
// {#a b}, is left at the end of the heading.
func invalidID(h *ast.Heading, source []byte) string {
	if v, ok := h.AttributeString("id"); ok {
		id, ok := v.([]byte)
		switch {
		case !ok:
			return fmt.Sprintf("{id=%v}", v)
		case !isAnchor(string(id)):
			return fmt.Sprintf("{#%s}", id)
		}
		return ""
	}
	if h.Lines().Len() == 0 {
		return ""
	}
	last := h.Lines().At(h.Lines().Len() - 1)
	line := bytes.TrimSpace(last.Value(source))
	if i := bytes.LastIndex(line, []byte("{#")); i >= 0 && bytes.HasSuffix(line, []byte("}")) {
		return string(line[i:])
	}
	return ""
}

// isAnchor reports whether an id can follow # in a URL without escaping.
func isAnchor(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return id != ""
}

// fold derives an id from the text of a heading: lower case, without accents, and
// with a dash for every run of other characters.
func fold(text string) string {
	var b strings.Builder
	dash := false
	put := func(s string) {
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteString(s)
	}
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			put(string(r))
		case r == 'œ':
			put("oe")
		case r == 'æ':
			put("ae")
		case r >= 0x300 && r <= 0x36f: // accents, which NFD separates
		default:
			dash = true
		}
	}
	if b.Len() == 0 {
		return "section"
	}
	return b.String()
}
