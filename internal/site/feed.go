package site

import (
	"cmp"
	"encoding/xml"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

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
	Since    string       `xml:"published,omitempty"`
	Authors  []atomPerson `xml:"author"`
	Link     atomLink     `xml:"link"`
	Category atomCategory `xml:"category"`
	Summary  string       `xml:"summary,omitempty"`
}

type atomPerson struct {
	Name string `xml:"name"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

// feedEntries is how many entries a feed has: enough for a reader that polls once a
// week.
const feedEntries = 50

const feedPath = "/flux.atom"

// feed is the feed of all changes, or of those of chosen tools.
func (s *Site) feed(r *request) (*response, error) {
	if strings.Contains(r.query, chosenParameter+"=") {
		return r.chosenFeed()
	}
	return r.kept(feedPath, func() (*response, error) {
		return r.atom(feedPath, "/", r.snap.Catalog.Name, "Les dernières modifications du catalogue", chronicle.Latest(r.snap))
	})
}

// categoryFeed is the feed of the changes in one category.
func (s *Site) categoryFeed(r *request, slug string) (*response, error) {
	if current, ok := r.categoryAliases[slug]; ok {
		return redirect("/categories/"+current+feedSuffix, ""), nil
	}
	label, ok := r.labels[slug]
	if !ok {
		return nil, notFound("Cette catégorie n’existe pas.")
	}
	path := "/categories/" + slug
	return r.atom(path+feedSuffix, path, r.snap.Catalog.Name+"\u00a0: "+label, "Les dernières modifications de la "+
		"catégorie «\u00a0"+label+"\u00a0»", chronicle.InCategory(r.snap, slug))
}

// feedSuffix is the end of the path of the feed of a category or a tool.
const feedSuffix = ".atom"

// atom returns the feed at a path with the last of what happened, given latest first.
func (v *view) atom(path, page, title, subtitle string, entries []catalog.Entry) (*response, error) {
	c := v.snap.Catalog
	f := atomFeed{
		Language: "fr", ID: c.URL + path, Title: title, Subtitle: subtitle,
		Updated: midnight(v.snap.UpdatedAt), Author: cmp.Or(c.Settings.Publisher, c.Name), Rights: c.CreditLine(),
		Links: []atomLink{{"self", "application/atom+xml", c.URL + path}, {"alternate", "text/html", c.URL + page}},
	}
	if name, at := c.Terms(); name != "" {
		f.Rights += ". " + name + ", " + at
	}
	for i := range entries[:min(len(entries), feedEntries)] {
		f.Entries = append(f.Entries, v.atomEntry(&entries[i]))
		f.Updated = max(f.Updated, f.Entries[i].Updated)
	}
	body, err := xml.Marshal(f)
	if err != nil {
		return nil, err
	}
	return newResponse(atomType, append([]byte(xml.Header), body...)), nil
}

// atomEntry returns an entry of the feeds. Articles have their day and say what they are about.
func (v *view) atomEntry(e *catalog.Entry) atomEntry {
	about := chronicle.About(v.snap, e)
	entry := atomEntry{
		ID: v.snap.Catalog.URL + feedPath + "#" + e.ID(), Updated: chronicle.Time(e),
		Title:    chronicle.Title(e, problem.French),
		Link:     atomLink{"alternate", "text/html", v.snap.Catalog.URL + about.Path},
		Category: atomCategory{strings.ToLower(chronicle.Label(e))},
		Authors:  each(about.Authors, func(name string) atomPerson { return atomPerson{name} }),
	}
	if e.What == catalog.WhatScore {
		entry.Summary = markdown.NoBreak(e.Note)
	}
	if a := v.snap.Catalog.Article(strings.TrimPrefix(about.Path, articlesPath+"/")); a != nil && e.Kind == "article" {
		entry.Summary = v.articleRow(a).Text
		if a.Sponsored {
			entry.Summary = strings.TrimSpace(sponsoredSentence + " " + entry.Summary)
		}
		if e.Old == "" {
			entry.Since = min(midnight(a.Date), entry.Updated)
		}
	}
	return entry
}

// midnight returns the start of a day: records know no times.
func midnight(day string) string { return day + "T00:00:00Z" }
