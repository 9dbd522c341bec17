package site

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// What the format allows in names, in characters.
const (
	maxShortName = 16
	maxLongName  = 48
)

// openSearch tells browsers how to search the site from their address bar (github.com/dewitt/opensearch).
func (s *Site) openSearch(r *request) (*response, error) {
	name := r.snap.Catalog.Name
	short, _ := splitName(name)
	return newResponse("application/opensearchdescription+xml", textOf("opensearch.xml", struct{ Base, Short, Long string }{
		s.baseURL(r), firstWords(short, maxShortName), firstWords(name, maxLongName),
	})), nil
}

// firstWords returns the words at the beginning of a name that have at most so many characters
// together, or the beginning of a word that is longer.
func firstWords(name string, most int) string {
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	cut := string([]rune(name)[:most+1]) // the word may end there
	if space := strings.LastIndexByte(cut, ' '); space > 0 {
		return strings.TrimSpace(cut[:space])
	}
	return string([]rune(name)[:most])
}

// securityLasts is for how long a security.txt is said to be true: it should be less than a year.
const securityLasts = 180

// securityContact serves security.txt (RFC 9116): vulnerabilities are reported to the contact of
// the catalogue. Its bytes change once a day.
func (s *Site) securityContact(r *request) (*response, error) {
	to := securityURI(r.snap.Catalog.Settings.Contact)
	if to == "" {
		return nil, notFound("Ce catalogue n’indique pas à qui signaler une faille.")
	}
	text := "Contact: " + to + "\nExpires: " +
		s.cfg.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, securityLasts).Format(time.RFC3339) +
		"\nPreferred-Languages: fr\n"
	if own := s.baseURL(r) + "/.well-known/security.txt"; isHTTPS(own) {
		text += "Canonical: " + own + "\n"
	}
	a := newResponse(textType, []byte(text))
	a.passing = true
	return a, nil
}

// isHTTPS reports whether a security.txt may have an address: all of the web have to begin with https.
func isHTTPS(address string) bool { return strings.HasPrefix(address, "https://") }

// securityURI returns a contact as security.txt has it, or "" for none that it may have.
func securityURI(contact string) string {
	switch {
	case isHTTPS(contact):
		return contact
	case strings.Contains(contact, "://"), contact == "":
		return ""
	}
	return "mailto:" + url.PathEscape(contact)
}
