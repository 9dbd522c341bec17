package reference

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"strings"
)

// highlight indents JSON and marks field names (class k) and values that are not
// strings (class v).
func highlight(raw []byte) template.HTML {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		panic(err) // it comes from the snapshot or from the document, which was parsed
	}
	var out strings.Builder
	mark := func(class, text string) {
		out.WriteString(`<span class="` + class + `">` + html.EscapeString(text) + `</span>`)
	}
	for rest := b.String(); rest != ""; {
		n := 1
		switch c := rest[0]; {
		case c == '"':
			for rest[n] != '"' {
				if rest[n] == '\\' {
					n++
				}
				n++
			}
			n++
			if strings.HasPrefix(rest[n:], ":") {
				mark("k", rest[:n])
			} else {
				out.WriteString(html.EscapeString(rest[:n]))
			}
		case c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
			n = len(rest) - len(strings.TrimLeft(rest, "-+.0123456789abcdefghijklmnopqrstuvwxyzE"))
			mark("v", rest[:n])
		default:
			out.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return template.HTML(out.String())
}
