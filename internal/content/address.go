package content

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// urlUse is the purpose of a URL, which decides what it may end with.
type urlUse int

const (
	address urlUse = iota
	page           // #section is appended to it
	site           // paths are appended to it
)

func (d *decoder) url(name string, use urlUse) string {
	d.expect(name, optional, func() *schemaNode { return urlForm(use) })
	if v := d.field(name, optional); v != nil {
		return d.urlOf(d.label(name), v, use)
	}
	return ""
}

func (d *decoder) urlOf(label string, v *value, use urlUse) string {
	if v.kind == isText && isURL(v.text, use) {
		return v.text
	}
	want := "an absolute http or https URL, such as https://outil.example/page"
	switch use {
	case page:
		want += ", without a fragment (#…)"
	case site:
		want = "an absolute http or https URL without a query or fragment, such as https://palmares.example"
	}
	return d.checkedOf(label, v, func(string) bool { return false }, want)
}

var badEscape = regexp.MustCompile(`%(?:[^0-9a-fA-F]|.[^0-9a-fA-F]|.?$)`)

func isURL(s string, use urlUse) bool {
	if badEscape.MatchString(s) {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte("<>\"\\^`{|}", s[i]) >= 0 {
			return false // RFC 3986 has none of these; browsers would escape them
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return false
	}
	switch use {
	case page:
		return !strings.Contains(s, "#")
	case site:
		return !strings.ContainsAny(s, "#?")
	}
	return true
}

// isContact reports whether s is a mail address or a URL.
func isContact(s string) bool {
	if isURL(s, address) {
		return true
	}
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s
}

// isDomain reports whether s looks like the host name of a website: at least two
// labels of letters, digits and inner dashes, the last of which does not start
// with a digit.
func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	if len(labels) < 2 || len(s) > 253 || digits(labels[len(labels)-1]) > 0 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return false
			}
		}
	}
	return true
}
