package markdown

import (
	"regexp"
	"strings"
)

// Other dialects of Markdown read some of what is text here. An author who writes it
// expects something else on the page than the characters.
var foreign = []struct {
	pattern *regexp.Regexp
	behind  string // the characters behind which it is read; "" for any
	advice  string
}{
	{
		regexp.MustCompile(`^\{\{(?:<[^{}]*>|%[^{}]*%)\}\}`), "",
		"shortcodes are not read; write what it stands for in Markdown, or put code between backticks",
	},
	{
		regexp.MustCompile(`^\{%[^{}]*%\}`), "",
		"templates are not read; write what it stands for in Markdown, or put code between backticks",
	},
	{
		regexp.MustCompile("^==[^\\s=`](?:[^=`]*[^\\s=`])?=="), "",
		"there is no highlighting; write **…** for strong text, or put code between backticks",
	},
	{
		regexp.MustCompile(`^\[\[[^\[\]\n]+\]\]`), "",
		"this is no link; write [text](plume.md), or put code between backticks",
	},
	{
		regexp.MustCompile(`^\[!(?i:note|tip|info|important|warning|caution|danger)\]`), "",
		"there are no boxes for remarks; begin the quote with **…** instead",
	},
	{
		regexp.MustCompile(`^:::+ *\w[^\n]*`), "\n",
		"there are no boxes for remarks; write a quote instead (> at the start of each line)",
	},
	{
		regexp.MustCompile(`^\{(?::\s*\S|[.#]\w|[\w-]+\s*=)[^{}\n]*\}`), ")]`*_>\n",
		`links, pictures and texts have no attributes; remove it (or write \{ if it is text)`,
	},
}

// foreign reports what another dialect would read at an offset, and returns its length; 0 if there
// is nothing of the kind.
func (c *checker) foreign(offset int) int {
	rest, before := c.rest(offset), byte('\n')
	if offset > 0 {
		before = c.source[offset-1]
	}
	for _, f := range foreign {
		found := f.pattern.Find(rest)
		switch {
		case found == nil, f.behind != "" && !strings.ContainsRune(f.behind, rune(before)):
			continue
		case rest[0] == '[' && len(rest) > len(found) && strings.IndexByte("([", rest[len(found)]) >= 0:
			continue // reported as a link
		}
		c.report(offset, "%s is not rendered: %s", brief(string(found)), f.advice)
		return len(found)
	}
	return 0
}
