package site

import (
	"html/template"
	"strings"
)

var separators = strings.NewReplacer("€/mois", "€/mois", "€/an", "€/an", "$/mois", "$/mois", "/", "/<wbr>", ".", ".<wbr>", "-", "-<wbr>", "?", "?<wbr>", "&amp;", "&amp;<wbr>")

// breakable marks where a URL, a domain or a price per unit may break: after its
// separators, where browsers do not break on their own. Of a change, each side stays on its line
// if it is not longer.
func breakable(s string) template.HTML {
	text := separators.Replace(template.HTMLEscapeString(s))
	if before, after, ok := strings.Cut(text, " → "); ok {
		text = `<span class="side">` + before + `</span> → <span class="side">` + after + `</span>`
	}
	return template.HTML(text) //nolint:gosec // escaped
}
