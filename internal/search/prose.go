package search

import "strings"

// tags are those of the Markdown that reviews may have: the sub in CO<sub>2</sub> is no word.
var tags = strings.NewReplacer("<kbd>", "", "</kbd>", "", "<sub>", "", "</sub>", "", "<sup>", " ", "</sup>", "", "<br>", " ")

// Prose calls visit with the text of a review as it is written, piece by piece, without the addresses of
// links and the ids of headings; consecutive pieces belong together. It does not parse the Markdown, which would take
// longer than everything else that a node does at its start.
func Prose(body string, visit func(text string, isHeading bool)) {
	for line := range strings.Lines(body) {
		isHeading := strings.HasPrefix(line, "## ")
		if id := strings.LastIndex(line, "{#"); isHeading && id >= 0 {
			line = line[:id] + "\n"
		}
		if strings.Contains(line, "<") {
			line = tags.Replace(line)
		}
		for isLink := true; isLink; {
			var text string
			text, line, isLink = strings.Cut(line, "](")
			visit(text, isHeading)
			line = line[max(strings.IndexAny(line, " )"), 0):]
		}
	}
}
