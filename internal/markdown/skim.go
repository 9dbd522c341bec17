package markdown

import "strings"

// Skim calls visit with the text of a review, piece by piece, for callers that need
// only its words. It is many times faster than Sections, because it reads line by line
// and builds no tree. Consecutive pieces belong together; every line ends with a line
// feed. heading reports whether a piece is in a level 2 heading.
//
// Addresses of links, tags, the language of a code block and ids of headings are left
// out. The marks of emphasis, lists and tables are not, and the text of an underlined
// heading is ordinary text.
func Skim(body string, visit func(text string, heading bool)) {
	fence := ""
	for line := range strings.Lines(body) {
		text := strings.TrimLeft(line, " \t>")
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			if fence == "" {
				fence = text[:3]
				continue
			} else if fence == text[:3] {
				fence = ""
				continue
			}
		}
		if fence != "" {
			visit(text, false)
			continue
		}
		heading := strings.HasPrefix(text, "## ")
		if strings.HasPrefix(text, "#") {
			if id := strings.LastIndex(text, "{#"); id >= 0 {
				text = text[:id] + "\n"
			}
		}
		if text != "" && text[0] <= '9' {
			if rest := strings.TrimLeft(text, "0123456789"); strings.HasPrefix(rest, ". ") {
				text = rest // of a numbered list
			}
		}
		if strings.HasPrefix(text, "[") {
			if label, rest, found := strings.Cut(text, "]:"); found && strings.HasPrefix(label, "[^") {
				text = rest
			} else if found {
				continue // the address of a link
			}
		}
		for text != "" {
			var piece string
			piece, text = skim(text)
			visit(piece, heading)
		}
	}
}

// skim returns the text before the first mark of a line and what follows the mark, or
// the text that the mark stands for.
func skim(line string) (text, rest string) {
	i := 0
	for i < len(line) && !isMark[line[i]] {
		i++
	}
	if i == 0 {
		return skimMark(line)
	}
	return line[:i], line[i:]
}

// isMark holds the characters that skimMark knows. It is faster than strings.IndexAny.
var isMark = [256]bool{'`': true, '\\': true, '[': true, ']': true, '<': true, '&': true}

func skimMark(line string) (text, rest string) {
	mark, rest := line[0], line[1:]
	switch {
	case mark == '[' && strings.HasPrefix(rest, "^"), mark == ']' && strings.HasPrefix(rest, "["):
		if _, after, found := strings.Cut(rest, "]"); found {
			return "", after
		}
	case mark == ']' && strings.HasPrefix(rest, "("):
		if end := strings.IndexAny(rest, " )"); end >= 0 {
			return "", rest[end:]
		}
	case mark == '<':
		tag, after, found := strings.Cut(rest, ">")
		switch {
		case !found, strings.HasPrefix(tag, " "):
			return " ", rest
		case strings.ContainsAny(tag, ":@"): // an address
			return tag, after
		case strings.HasPrefix(tag, "br"), strings.HasPrefix(tag, "sup"): // 10⁶ is not 106
			return " ", after
		}
		return "", after
	case mark == '&':
		if decoded, n := entity([]byte(line)); n > 0 {
			return decoded, line[n:]
		}
		return " ", rest
	}
	return "", rest
}
