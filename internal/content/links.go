package content

import (
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// A mention is a link or a picture in a body. What it leads to is known only once
// the whole folder has been read.
type mention struct {
	line    int
	prefix  problem.Text // of the sentence, for bodies in JSON lines
	written string       // the destination, as in the body
	alt     string       // of a picture

	hidesTitle bool // of a picture whose title is no caption
	isAbsolute bool // a link with the host of the catalogue before it
}

// in returns a sentence about a mention, with its prefix.
func (m mention) in(what problem.Text) problem.Text {
	if m.prefix.English == "" {
		return what
	}
	return problem.New("at", m.prefix, what).Coded(what.Code)
}

// mention keeps the links and pictures that were found in a text for checkMentions, given the address of the site. at
// returns the place of one of its lines.
func (r *references) mention(found markdown.Report, site string, at func(line int) mention) {
	add := func(links []markdown.Link, isAbsolute bool) {
		for _, link := range links {
			m := at(link.Line)
			m.written, m.isAbsolute = link.Destination, isAbsolute
			r.links = append(r.links, m)
		}
	}
	add(found.Links, false)
	add(found.LinksTo(site), true)
	for _, picture := range found.Pictures {
		m := at(picture.Line)
		m.written, m.alt, m.hidesTitle = picture.Destination, picture.Alt, picture.HidesTitle
		r.pictures = append(r.pictures, m)
	}
}
