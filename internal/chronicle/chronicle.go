package chronicle

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// pastTools is from how many tools, the last that changed, the past is told.
const pastTools = 60

// Latest returns what happened to a catalogue, the latest first: the stored entries of its last versions, and the newest
// that records tell besides.
func Latest(s *snapshot.Snapshot) []catalog.Entry {
	return list(s, s.LatestTools(pastTools), s.Catalog.Retired, s.Catalog.Articles, func(*catalog.Entry) bool { return true })
}

// OfTools returns what happened to some tools, given their present slugs, the latest first.
func OfTools(s *snapshot.Snapshot, slugs ...string) []catalog.Entry {
	var tools []*catalog.Tool
	var retired []catalog.Retired
	for _, slug := range slugs {
		if t := s.Catalog.Tool(slug); t != nil {
			tools = append(tools, t)
		} else if r := s.RetiredTool(slug); r != nil {
			retired = append(retired, *r)
		}
	}
	return list(s, tools, retired, s.Catalog.Articles, func(e *catalog.Entry) bool {
		return slices.ContainsFunc(About(s, e).Tools, func(slug string) bool { return slices.Contains(slugs, slug) })
	})
}

// InCategory returns what happened in a category, the latest first.
func InCategory(s *snapshot.Snapshot, slug string) []catalog.Entry {
	var tools []*catalog.Tool
	for _, t := range s.Catalog.Tools {
		if t.Category == slug {
			tools = append(tools, t)
		}
	}
	return list(s, tools, s.Catalog.Retired, s.Catalog.Articles,
		func(e *catalog.Entry) bool { return slices.Contains(About(s, e).Categories, slug) })
}

// list returns the stored entries and those that records tell, of which some are wanted, the latest first.
func list(
	s *snapshot.Snapshot, tools []*catalog.Tool, retired []catalog.Retired, articles []catalog.Article, isWanted func(*catalog.Entry) bool,
) (all []catalog.Entry) {
	stored := make(map[string]bool, len(s.Entries))
	for i := range s.Entries {
		e := &s.Entries[i]
		stored[e.ID()] = true
		if !e.Withdrawn && isWanted(e) {
			all = append(all, *e)
		}
	}
	add := func(past []catalog.Entry) {
		for i := range past {
			if e := &past[i]; e.Day <= s.UpdatedAt && !stored[e.ID()] && isWanted(e) {
				all = append(all, *e)
			}
		}
	}
	for _, t := range tools {
		add(t.Entries())
	}
	for i := range retired {
		add(retired[i].Entries(s.Catalog))
	}
	for i := range articles {
		add(articles[i].Entries())
	}
	slices.SortStableFunc(all, func(a, b catalog.Entry) int {
		return cmp.Or(cmp.Compare(Time(&b), Time(&a)), cmp.Compare(b.Position, a.Position))
	})
	return all
}

// Time returns when something happened, as far as that is known: as RFC 3339.
func Time(e *catalog.Entry) string { return cmp.Or(e.At, e.Day+"T00:00:00Z") }

// A Subject is the record that an entry is about, as it is now.
type Subject struct {
	Path       string   // of its page, or of the list that it was in
	Tools      []string // present slugs of the tools that it is about
	Categories []string
	Authors    []string
}

// About returns what an entry is about.
func About(s *snapshot.Snapshot, e *catalog.Entry) Subject {
	c := s.Catalog
	switch e.Kind {
	case "comparatif":
		x := c.Comparison(cmp.Or(s.ComparisonAliases[e.Slug], e.Slug))
		if x == nil || !x.Published {
			return Subject{Path: "/comparatifs"}
		}
		return ofTools(s, Subject{Path: "/comparatifs/" + x.Slug, Tools: []string{x.ToolA, x.ToolB}, Authors: x.Authors})
	case "article":
		a := c.Article(cmp.Or(s.TextAliases["articles/"+e.Slug], e.Slug))
		if a == nil {
			return Subject{Path: "/articles"}
		}
		of := Subject{Path: "/articles/" + a.Slug, Tools: a.Tools, Authors: a.Authors}
		if a.Category != "" {
			of.Categories = []string{a.Category}
		}
		return ofTools(s, of)
	case "page":
		if p := c.Page(cmp.Or(s.TextAliases["pages/"+e.Slug], e.Slug)); p != nil {
			return Subject{Path: "/" + p.Slug, Authors: p.Authors}
		}
		return Subject{Path: "/"}
	}
	f, _ := Find(s, e.Slug)
	of := Subject{Path: f.Path, Tools: []string{f.Slug}, Categories: []string{f.Category}}
	if f.Tool != nil {
		of.Authors = f.Tool.Authors
	}
	if e.What == catalog.WhatText && f.Tool != nil {
		of.Path = "/avis/" + f.Slug
	}
	return of
}

// ofTools returns a subject with the categories of its tools.
func ofTools(s *snapshot.Snapshot, of Subject) Subject {
	for _, slug := range of.Tools {
		if f, ok := Find(s, slug); ok && !slices.Contains(of.Categories, f.Category) {
			of.Categories = append(of.Categories, f.Category)
		}
	}
	return of
}

// A Followed tool is one that somebody may follow: in the catalogue, or retired or removed from it.
type Followed struct {
	Slug, Name, Path string
	Category         string
	Tool             *catalog.Tool    // nil if it is gone
	Retired          *catalog.Retired // nil unless it is
}

// Find returns the tool that has a slug, or had it.
func Find(s *snapshot.Snapshot, slug string) (Followed, bool) {
	if current, ok := s.Aliases[slug]; ok && s.Catalog.Tool(slug) == nil {
		slug = current
	}
	if t := s.Catalog.Tool(slug); t != nil {
		return Followed{slug, t.Name, "/outils/" + slug, t.Category, t, nil}, true
	}
	if t := s.RetiredTool(slug); t != nil {
		return Followed{slug, t.Name, "/cimetiere/" + slug, t.Category, nil, t}, true
	}
	t, ok := s.Catalog.Past[slug]
	return Followed{slug, cmp.Or(t.Name, slug), "/outils", t.Category, nil, nil}, ok
}

// The beginnings of topics that readers follow by mail: outils/plume, categories/texte, or "" for everything.
const (
	ToolTopic     = "outils/"
	CategoryTopic = "categories/"
)

// Topics returns the topics that an entry is on.
func Topics(s *snapshot.Snapshot, e *catalog.Entry) []string {
	of, topics := About(s, e), []string{""}
	for _, slug := range of.Tools {
		topics = append(topics, ToolTopic+slug)
	}
	for _, slug := range of.Categories {
		topics = append(topics, CategoryTopic+slug)
	}
	return topics
}

// Topic returns a topic, which may be about a tool under a former name, as Topics has it.
func Topic(s *snapshot.Snapshot, topic string) string {
	slug, isTool := strings.CutPrefix(topic, ToolTopic)
	if !isTool {
		return topic
	}
	f, _ := Find(s, slug)
	return ToolTopic + f.Slug
}
