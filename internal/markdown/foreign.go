package markdown

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/problem"
)

// Other dialects of Markdown read some of what is text here. An author who writes it
// expects something else on the page than the characters.
var foreign = []struct {
	pattern *regexp.Regexp
	behind  string // the characters behind which it is read; "" for any
	advice  string // code of a text
	isApart bool   // not beside a letter, a digit or one more of its own characters, as c==d, x==y
}{
	{regexp.MustCompile(`^\{\{(?:<[^{}]*>|%[^{}]*%)\}\}|^\{%[^{}]*%\}`), "", "shortcodes", false},
	{regexp.MustCompile("^==[^\\s=`](?:[^=`]*[^\\s=`])?=="), "", "no-highlighting", true},
	{
		regexp.MustCompile(`^(?:!!!|\?\?\?\+?) +(?i:abstract|attention|bug|caution|danger|example|failure|hint|important|info|` +
			`note|question|quote|success|tip|warning)\b[^\n]*`), "\n",
		"callout-form", false,
	},
	{regexp.MustCompile(`^\[\[[^\[\]\n]+\]\]`), "", "wiki-link", false},
	{regexp.MustCompile(`^\[!(?i:note|tip|info|important|warning|caution|danger)\]`), "", "callout-form", false},
	{regexp.MustCompile(`^:::+ *\w[^\n]*`), "\n", "callout-form", false},
	{regexp.MustCompile(`^\{(?::\s*\S|[.#]\w|[\w-]+\s*=)[^{}\n]*\}`), ")]`*_>\n", "attributes", false},
}

// isApart reports whether what is between two offsets begins and ends as a word does.
func isApart(source []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(source[:start])
	after, _ := utf8.DecodeRune(source[end:])
	isPart := func(r rune, own byte) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == rune(own)
	}
	return !isPart(before, source[start]) && !isPart(after, source[start])
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
		case found == nil, f.isApart && !isApart(c.source, offset, offset+len(found)), f.behind != "" && !strings.ContainsRune(f.behind, rune(before)):
			continue
		case rest[0] == '[' && len(rest) > len(found) && strings.IndexByte("([", rest[len(found)]) >= 0:
			continue // reported as a link
		}
		c.report(offset, "not-rendered", brief(string(found)), problem.New(f.advice))
		return len(found)
	}
	return 0
}
