package site

import (
	"bytes"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestCompound is the length, in characters, up to which a compound stays on one
// line. It fits the narrowest column of a phone; longer ones may break after a hyphen.
const longestCompound = 20

// uncompounded are the elements whose text is left as it is: browsers show no markup
// inside the first three, and code breaks by rules of its own.
var uncompounded = map[string]bool{
	"title": true, "option": true, "textarea": true, "script": true, "style": true, "svg": true, "pre": true, "code": true,
}

// keepCompounds wraps the compounds in the text of a page, such as faut-il or
// peut-être, in an element that keeps them on one line: browsers break lines after any
// hyphen, and CSS alone cannot tell them not to. The page must come from html/template,
// which leaves no comment and no stray < in it.
func keepCompounds(page []byte) []byte {
	dst := make([]byte, 0, len(page)+len(page)/32)
	for len(page) > 0 {
		open := bytes.IndexByte(page, '<')
		if open < 0 {
			open = len(page)
		}
		dst = appendCompounds(dst, page[:open])
		page = page[open:]
		end := tagEnd(page)
		name := tagName(page[:end])
		if uncompounded[name] {
			if closing := bytes.Index(page, []byte("</"+name+">")); closing > 0 {
				end = closing
			}
		}
		dst = append(dst, page[:end]...)
		page = page[end:]
	}
	return dst
}

// tagEnd returns the length of the tag that s starts with; attributes may contain >
// between quotes.
func tagEnd(s []byte) int {
	var quote byte
	for i, c := range s {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(s)
}

// tagName returns the name of an opening tag, "" for a closing one.
func tagName(tag []byte) string {
	name := bytes.TrimPrefix(tag, []byte("<"))
	if end := bytes.IndexAny(name, " />\n"); end >= 0 {
		name = name[:end]
	}
	return string(name)
}

func appendCompounds(dst, text []byte) []byte {
	for {
		hyphen := bytes.IndexByte(text, '-')
		if hyphen < 0 {
			return append(dst, text...)
		}
		start := hyphen
		for start > 0 {
			r, size := utf8.DecodeLastRune(text[:start])
			if !inWord(r) {
				break
			}
			start -= size
		}
		end := hyphen
		for end < len(text) {
			r, size := utf8.DecodeRune(text[end:])
			if r != '-' && !inWord(r) {
				break
			}
			end += size
		}
		word := text[start:end]
		inside := start < hyphen && hyphen+1 < end && text[end-1] != '-'
		dst = append(dst, text[:start]...)
		if inside && utf8.RuneCount(word) <= longestCompound {
			dst = append(dst, `<span class="nb">`...)
			dst = append(dst, word...)
			dst = append(dst, `</span>`...)
		} else {
			dst = append(dst, word...)
		}
		text = text[end:]
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '’' }

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
