package content

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
	canonical "palmares/internal/record"
)

// appendMarkdown appends a record as a Markdown file and returns the length of its
// front matter.
func appendMarkdown(b []byte, fields []canonical.Field, body string) (file []byte, yaml int) {
	b = append(b, "---\n"...)
	start := len(b)
	b = appendYAML(b, fields, "")
	yaml = len(b) - start
	b = append(b, "---\n"...)
	if body != "" {
		b = append(b, '\n')
		b = append(b, body...)
		b = append(b, '\n')
	}
	return b, yaml
}

// appendYAML appends fields, with every line after the first indented. One author is
// written as a name, not as a list of one.
func appendYAML(b []byte, fields []canonical.Field, indent string) []byte {
	for i, f := range fields {
		if names, ok := f.Value.([]string); ok && f.Name == "author" && len(names) == 1 {
			f.Value = names[0]
		}
		if i > 0 {
			b = append(b, indent...)
		}
		b = append(b, f.Name...)
		b = append(b, ':')
		switch v := f.Value.(type) {
		case []string:
			b = append(b, '\n')
			for _, s := range v {
				b = append(append(b, indent...), "  - "...)
				b = appendYAMLText(b, s)
				b = append(b, '\n')
			}
			continue
		case [][]canonical.Field:
			b = append(b, '\n')
			for _, item := range v {
				b = append(b, "  - "...)
				b = appendYAML(b, item, "    ")
			}
			continue
		case string:
			b = append(b, ' ')
			b = appendYAMLText(b, v)
		case float64:
			b = append(b, ' ')
			b = appendFloat(b, v)
		case int:
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(v), 10)
		case bool:
			b = append(b, ' ')
			b = strconv.AppendBool(b, v)
		}
		b = append(b, '\n')
	}
	return b
}

// appendFloat appends a figure without an exponent, which YAML may not know.
func appendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }

// appendYAMLText appends a text, in double quotes if anything in it could have a
// meaning in YAML.
func appendYAMLText(b []byte, s string) []byte {
	if isBareText(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\ufeff' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r):
			b = append(b, `\u`...)
			hex := strconv.FormatInt(int64(r), 16)
			b = append(b, strings.Repeat("0", 4-len(hex))...)
			b = append(b, hex...)
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// isBareText reports whether a text needs no quotes. It is narrow on purpose: only
// dates, prices, and what begins with a letter and is not a YAML keyword.
func isBareText(s string) bool {
	if catalog.IsDate(s) {
		return true
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	first, _ := utf8.DecodeRuneInString(s)
	if !unicode.IsLetter(first) && !catalog.IsPrice(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !strings.ContainsRune(" 0123456789-./:,;+_()?=%&#€’", r) {
			return false
		}
	}
	return !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, " ")
}
