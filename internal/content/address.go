package content

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

var badEscape = regexp.MustCompile(`%(?:[^0-9a-fA-F]|.[^0-9a-fA-F]|.?$)`)

// isURL reports whether s is an absolute http or https URL.
func isURL(s string) bool {
	if badEscape.MatchString(s) {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte("<>\"\\^`{|}", s[i]) >= 0 {
			return false // RFC 3986 has none of these; browsers would escape them
		}
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

// isPageURL reports whether s is a URL to which #section can be appended.
func isPageURL(s string) bool { return isURL(s) && !strings.Contains(s, "#") }

// isSiteURL reports whether s is a URL to which paths can be appended.
func isSiteURL(s string) bool { return isURL(s) && !strings.ContainsAny(s, "#?") }

// isContact reports whether s is a mail address or a URL.
func isContact(s string) bool {
	if isURL(s) {
		return true
	}
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && !strings.ContainsFunc(s, isHidden)
}

// isDomain reports whether s looks like the host name of a website: at least two
// labels of letters, digits and inner dashes, the last of which does not start
// with a digit.
func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	if len(labels) < 2 || len(s) > 253 || strings.IndexAny(labels[len(labels)-1], "0123456789") == 0 {
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
