package reference

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strings"
)

// jsonToken matches a string, with the colon behind it if it is a name, or a value that is not a string.
var jsonToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*":?|[-+.\w]+`)

// highlight indents JSON and marks field names (class k) and values that are not
// strings (class v).
func highlight(raw []byte) template.HTML {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		panic(err) // it comes from the snapshot or from the document, which was parsed
	}
	return template.HTML(jsonToken.ReplaceAllStringFunc(b.String(), func(token string) string {
		name, isName := strings.CutSuffix(token, ":")
		switch {
		case isName:
			return `<span class="k">` + html.EscapeString(name) + `</span>:`
		case token[0] == '"':
			return html.EscapeString(token)
		}
		return `<span class="v">` + token + `</span>`
	}))
}
