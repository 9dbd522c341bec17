package site

import (
	"encoding/xml"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	openSearchPath = "/opensearch.xml"
	securityPath   = "/.well-known/security.txt"
)

// An openSearch tells browsers how to search the site from their address bar
// (github.com/dewitt/opensearch).
type openSearch struct {
	XMLName     xml.Name        `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	ShortName   string          `xml:"ShortName"`
	LongName    string          `xml:"LongName"`
	Description string          `xml:"Description"`
	URLs        []openSearchURL `xml:"Url"`
	Image       openSearchImage `xml:"Image"`
	Language    string          `xml:"Language"`
	Input       string          `xml:"InputEncoding"`
	Output      string          `xml:"OutputEncoding"`
}

type openSearchURL struct {
	Type     string `xml:"type,attr"`
	Rel      string `xml:"rel,attr"`
	Template string `xml:"template,attr"`
}

type openSearchImage struct {
	Width  int    `xml:"width,attr"`
	Height int    `xml:"height,attr"`
	Type   string `xml:"type,attr"`
	URL    string `xml:",chardata"`
}

// What the format allows in names, in characters.
const (
	maxShortName = 16
	maxLongName  = 48
)

func (s *Site) openSearch(r *request) (*response, error) {
	base, name := s.baseURL(r), r.snap.Catalog.Name
	short, _ := splitName(name)
	body, err := xml.Marshal(openSearch{
		ShortName: firstWords(short, maxShortName), LongName: firstWords(name, maxLongName),
		Description: "Chercher un outil dans le catalogue.",
		URLs: []openSearchURL{
			{"text/html", "results", base + "/outils?q={searchTerms}"},
			{openSearchType, "self", base + openSearchPath},
		},
		Image:    openSearchImage{16, 16, pictureTypes["ico"], base + faviconPath},
		Language: "fr", Input: "UTF-8", Output: "UTF-8",
	})
	if err != nil {
		return nil, err
	}
	return newResponse(openSearchType, append([]byte(xml.Header), body...)), nil
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
	if own := s.baseURL(r) + securityPath; isHTTPS(own) {
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
