package markdown

import (
	"strings"

	"golang.org/x/net/html"
)

// stripHTML returns the text of a block of raw HTML, without tags, comments,
// scripts and styles. It need not agree with a browser, because the result is
// always used as text, never as markup.
func stripHTML(block string) string {
	var text strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(block))
	isCode := false // of a script or a style
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		switch kind {
		case html.StartTagToken:
			name, _ := tokens.TagName()
			isCode = string(name) == "script" || string(name) == "style"
		case html.EndTagToken:
			isCode = false
		case html.TextToken:
			if !isCode {
				text.Write(tokens.Text())
			}
		}
	}
	var lines []string
	for line := range strings.Lines(strings.Map(printable, text.String())) {
		line = strings.TrimSpace(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
