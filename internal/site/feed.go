package site

import (
	"cmp"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// A feed has the last of what happened (Atom, RFC 4287): at its path, beside a page.
type feed struct {
	Catalog               *catalog.Catalog
	Path, Page            string
	Title, Subtitle       string
	Updated, Author, More string // More follows the credit
	Entries               []feedEntry
}

// A feedEntry is an entry with the page that it is about. Articles have their day and say what they are about.
type feedEntry struct {
	*catalog.Entry
	About                   chronicle.Subject
	Updated, Since, Summary string
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
		"catégorie «\u00a0"+label+"\u00a0»", chronicle.On(r.snap, chronicle.Names(r.snap, catalog.CategoryTopic+slug)...))
}

// feedSuffix is the end of the path of the feed of a category or a tool.
const feedSuffix = ".atom"

// atom returns the feed at a path with the last of what happened, given latest first.
func (v *view) atom(path, page, title, subtitle string, entries []catalog.Entry) (*response, error) {
	c := v.snap.Catalog
	f := feed{
		Catalog: c, Path: path, Page: page, Title: title, Subtitle: subtitle, Updated: midnight(v.snap.UpdatedAt),
		Author: cmp.Or(c.Settings.Publisher, c.Name),
	}
	if name, at := c.Terms(); name != "" {
		f.More = ". " + name + ", " + at
	}
	for i := range entries[:min(len(entries), feedEntries)] {
		f.Entries = append(f.Entries, v.feedEntry(&entries[i]))
		f.Updated = max(f.Updated, f.Entries[i].Updated)
	}
	return newResponse("application/atom+xml; charset=utf-8", textOf("feed.xml", f)), nil
}

func (v *view) feedEntry(e *catalog.Entry) feedEntry {
	entry := feedEntry{Entry: e, About: chronicle.About(v.snap, e), Updated: chronicle.Time(e)}
	if e.What == catalog.WhatScore {
		entry.Summary = markdown.NoBreak(e.Note)
	}
	if a := v.snap.Catalog.Article(strings.TrimPrefix(entry.About.Path, articlesPath+"/")); a != nil && e.Kind == "article" {
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

// Title returns the title of the entry.
func (e feedEntry) Title() string { return chronicle.Title(e.Entry, problem.French) }

// Category returns the kind of the entry in a word.
func (e feedEntry) Category() string { return strings.ToLower(chronicle.Label(e.Entry)) }

// midnight returns the start of a day: records know no times.
func midnight(day string) string { return day + "T00:00:00Z" }
