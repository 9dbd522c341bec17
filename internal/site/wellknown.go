package site

import (
	"net/url"
	"strings"
	"time"
)

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
