package markdown

import "strings"

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
