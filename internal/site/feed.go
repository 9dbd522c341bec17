package site

import "encoding/xml"

// atomFeed is the feed of changes (Atom, RFC 4287).
type atomFeed struct {
	XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Language string      `xml:"xml:lang,attr"`
	ID       string      `xml:"id"`
	Title    string      `xml:"title"`
	Subtitle string      `xml:"subtitle"`
	Updated  string      `xml:"updated"`
	Author   string      `xml:"author>name"`
	Rights   string      `xml:"rights"`
	Links    []atomLink  `xml:"link"`
	Entries  []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID       string       `xml:"id"`
	Title    string       `xml:"title"`
	Updated  string       `xml:"updated"`
	Link     atomLink     `xml:"link"`
	Category atomCategory `xml:"category"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

func (s *Site) feed(r *request) (*answer, error) {
	c := r.snap.Catalog
	f := atomFeed{
		Language: "fr", ID: c.URL + "/flux.atom", Title: c.Name, Subtitle: "Les dernières modifications du catalogue",
		Updated: midnight(r.snap.UpdatedAt), Author: c.Name, Rights: c.CreditLine(),
		Links: []atomLink{{"self", "application/atom+xml", c.URL + "/flux.atom"}, {"alternate", "text/html", c.URL + "/"}},
	}
	for _, ch := range r.changes {
		f.Entries = append(f.Entries, atomEntry{
			ID: c.URL + "/flux.atom#" + ch.id + "-" + ch.Date, Title: ch.Title, Updated: midnight(ch.Date),
			Link: atomLink{"alternate", "text/html", c.URL + ch.Path}, Category: atomCategory{ch.Kind},
		})
	}
	body, err := xml.Marshal(f)
	if err != nil {
		return nil, err
	}
	return newAnswer(atomType, append([]byte(xml.Header), body...)), nil
}

// midnight returns the start of a day: the catalogue knows no times.
func midnight(day string) string { return day + "T00:00:00Z" }
