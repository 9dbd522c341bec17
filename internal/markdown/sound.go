package markdown

import (
	"strings"
	"unicode/utf8"
)

// plainlySound reports, without parsing, whether check would find nothing, neither
// problems nor links into the catalogue; if it returns false the text must be
// parsed. It spares most reviews the parser, which costs more than all other checks.
// The text must not be too complex.
//
// Whatever the blocks around them, sections start at lines that begin with ## or
// are underlined with dashes. If all such lines have different ids, no two
// sections share one.
func plainlySound(body string, sections bool) bool {
	if strings.IndexByte(body, '<') >= 0 || !plainBrackets(body) || hasBareAddress(body) {
		return false
	}
	ids := map[string]bool{introduction: true}
	columns := 0 // of what may be a table
	for line := range strings.Lines(body) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			columns = 0
			continue
		}
		if strings.IndexByte(line, '|') >= 0 {
			cells := countCells(line)
			if columns > 0 && cells > columns || opensBlock(line) {
				return false
			}
			columns = cells
		}
		if strings.Trim(line, "-") == "" || strings.HasPrefix(line, ">>>>>>>") || strings.HasPrefix(line, "|||||||") {
			return false // an underline or a rule: only the parser can tell
		}
		// Without what may open quotes and lists.
		inner := strings.TrimLeft(line, " \t>-*+0123456789.)")
		if inner == "" || inner[0] != '#' && inner[0] != '=' {
			continue
		}
		if len(inner) != len(line) || !plainHeading(line, ids, sections) {
			return false
		}
	}
	return true
}

// opensBlock reports whether a line may be in a quote or a list.
func opensBlock(line string) bool {
	if rest := strings.TrimLeft(line, "0123456789"); rest != line && rest != "" && (rest[0] == '.' || rest[0] == ')') {
		return true
	}
	return line[0] == '>' || len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && (line[1] == ' ' || line[1] == '\t')
}

// plainHeading reports whether a line is a heading of level 2 to 6 without
// peculiarities, and adds its id to ids.
func plainHeading(line string, ids map[string]bool, sections bool) bool {
	text := strings.TrimLeft(line, "#")
	level := len(line) - len(text)
	if level < 2 || level > 6 || text == "" || text[0] != ' ' {
		return false
	}
	if level > 2 || !sections {
		return !strings.Contains(text, "{")
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
	if text == "" || strings.ContainsAny(text, "\\`*_[]<>&{}#!~") || ids[id] {
		return false
	}
	ids[id] = true
	return true
}

// plainBrackets reports whether all brackets are text or links to other sites.
func plainBrackets(body string) bool {
	if strings.Contains(body, "![") || strings.Contains(body, "[^") {
		return false
	}
	for rest := body; ; {
		i := strings.IndexByte(rest, ']')
		if i < 0 {
			return true
		}
		rest = rest[i+1:]
		switch {
		case rest == "":
			return true
		case rest[0] == '[' || rest[0] == ':':
			return false
		case rest[0] == '(' && !plainAddress(rest[1:]):
			return false
		}
	}
}

// hasBareAddress reports whether there may be an address outside of a link, which becomes a
// link too.
func hasBareAddress(body string) bool {
	for rest := body; ; {
		before, after, found := strings.Cut(rest, "://")
		if !found {
			return strings.Contains(body, "www.")
		}
		if !strings.HasSuffix(before, "](https") && !strings.HasSuffix(before, "](http") {
			return true
		}
		rest = after
	}
}

// plainAddress reports whether s begins with the destination of a link to another
// site.
func plainAddress(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}
	if !ok {
		return false
	}
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '~':
		case c == '.', c == '/':
			if i == 0 {
				return false // no host
			}
		case i > 0 && (c == '?' || c == '#'):
			end := strings.IndexAny(rest, " \t\r\n()<>\"'\\")
			return end >= 0 && rest[end] == ')'
		default:
			return i > 0 && c == ')'
		}
	}
	return false
}

// plainLinks returns the links of a text without parsing it, and whether that is possible:
// whether all of them are in plain lines of paragraphs. The text may be too complex.
func plainLinks(body string) (links []Link, ok bool) {
	if strings.IndexByte(body, '<') >= 0 || strings.Contains(body, "```") || strings.Contains(body, "~~~") || !plainBrackets(body) || hasBareAddress(body) {
		return nil, false
	}
	number, before, isPlain := 0, 0, true // the lines so far, the links before those of this run of lines, and whether it is plain
	for line := range strings.Lines(body) {
		number++
		if strings.TrimSpace(line) == "" {
			before, isPlain = len(links), true
			continue
		}
		// Code, escapes and tables reach no further than a blank line.
		isPlain = isPlain && !strings.ContainsAny(line, "`\\|")
		for rest := line; ; {
			text, after, more := strings.Cut(rest, "](")
			if !more {
				break
			}
			open := strings.LastIndexByte(text, '[')
			end := strings.IndexByte(after, ')')
			// Only a line that begins with a letter is in a paragraph for sure.
			if !isLetter(line[0]) || open < 0 || end < 0 || strings.IndexByte(text[open:], ']') >= 0 || strings.TrimSpace(text[open+1:]) == "" {
				return nil, false
			}
			links, rest = append(links, Link{number, after[:end]}), after[end+1:]
		}
		if !isPlain && len(links) > before {
			return nil, false
		}
	}
	if _, found := tooComplex(body); found {
		return nil, false
	}
	return links, true
}

// isLetter reports whether a byte is a letter of ASCII, or a part of another character.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf }

// containsFold reports whether a text contains a part, which is in lower case, in any case.
func containsFold(text, part string) bool {
	if strings.Contains(text, part) {
		return true
	}
	// The two letters of other scripts that have an ASCII letter as their lower case.
	if strings.Contains(text, "\u0130") || strings.Contains(text, "\u212a") || !isASCII(part) {
		return strings.Contains(strings.ToLower(text), part)
	}
	for i := range len(text) - len(part) + 1 {
		if j := 0; lower(text[i]) == part[0] {
			for j < len(part) && lower(text[i+j]) == part[j] {
				j++
			}
			if j == len(part) {
				return true
			}
		}
	}
	return false
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
