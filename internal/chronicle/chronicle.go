package chronicle

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// Latest returns what happened to a catalogue, the latest first. Of one that is not stored, its records tell that. Callers
// must not change it: it is made once for a version.
func Latest(s *snapshot.Snapshot) []catalog.Entry {
	if s.Latest.Load() != nil {
		return *s.Latest.Load()
	}
	entries := s.Entries
	if len(entries) == 0 {
		entries = s.Catalog.PastEntries()
	}
	all, isKnown := make([]catalog.Entry, 0, len(entries)), make(map[string]bool, len(entries))
	for i := range entries {
		e := &entries[i]
		if id := e.ID(); !isKnown[id] { // its last state
			isKnown[id] = true
			if !e.Withdrawn && (e.At != "" || e.Day <= s.UpdatedAt) {
				all = append(all, *e)
			}
		}
	}
	slices.SortStableFunc(all, byTime)
	s.Latest.Store(&all)
	return all
}

// byTime puts the latest first.
func byTime(a, b catalog.Entry) int {
	when := cmp.Compare(cmp.Or(b.At, b.Day), cmp.Or(a.At, a.Day))
	return cmp.Or(when, cmp.Compare(b.Position, a.Position), cmp.Compare(a.Slug, b.Slug))
}

// On returns what happened on some topics, the latest first; "" is everything. Where more happened than is kept, the tools
// tell it.
func On(s *snapshot.Snapshot, topics ...string) (list []catalog.Entry) {
	for _, e := range Latest(s) {
		if e.IsOn(topics) {
			list = append(list, e)
		}
	}
	for _, topic := range topics {
		if f, ok := FollowedOn(s, topic); ok && f.Tool != nil && len(s.Entries) >= catalog.KeptEntries {
			for _, e := range f.Tool.Entries() {
				if !slices.ContainsFunc(list, func(o catalog.Entry) bool { return o.ID() == e.ID() }) {
					list = append(list, e)
				}
			}
		}
	}
	slices.SortStableFunc(list, byTime)
	return list
}

// Time returns when something happened, as far as that is known: as RFC 3339.
func Time(e *catalog.Entry) string { return cmp.Or(e.At, e.Day+"T00:00:00Z") }

// A Subject is the record that an entry is about, as it is now.
type Subject struct {
	Path    string // of its page, or of the list that it was in
	Authors []string
}

// About returns what an entry is about.
func About(s *snapshot.Snapshot, e *catalog.Entry) Subject {
	if kind := catalog.KindNamed(e.Kind); kind.IsText() {
		slug := s.Present(kind, e.First)
		i, found := kind.Find(s.Catalog, slug)
		if !found || kind.First(kind.At(s.Catalog, i)) != e.First || kind.IsUnpublished(kind.At(s.Catalog, i)) {
			return Subject{Path: cmp.Or(kind.List, "/")}
		}
		return Subject{kind.Address + slug, kind.Authors(kind.At(s.Catalog, i))}
	}
	f, _ := FollowedOn(s, catalog.ToolTopic+e.First)
	of := Subject{Path: f.Path}
	if f.Tool != nil {
		of.Authors = f.Tool.Authors
	}
	if e.What == catalog.WhatText && f.Tool != nil && f.Tool.Body != "" {
		of.Path = "/avis/" + f.Slug
	}
	return of
}

// A Followed tool is one that somebody may follow: in the catalogue, or retired or removed from it.
type Followed struct {
	Slug, Name, Path string
	First            string // its oldest slug
	Category         string
	Tool             *catalog.Tool    // nil if it is gone
	Retired          *catalog.Retired // nil unless it is
}

// Topic returns what somebody follows who follows the tool.
func (f *Followed) Topic() string { return catalog.ToolTopic + f.First }

// Find returns the tool that has a slug, or had it.
func Find(s *snapshot.Snapshot, slug string) (Followed, bool) {
	if current, ok := s.Aliases[catalog.ToolKind][slug]; ok && s.Catalog.Tool(slug) == nil {
		slug = current
	}
	return find(s, slug)
}

// find returns the tool that has a slug.
func find(s *snapshot.Snapshot, slug string) (Followed, bool) {
	if t := s.Catalog.Tool(slug); t != nil {
		return Followed{slug, t.Name, catalog.ToolKind.Address + slug, catalog.ToolKind.First(t), t.Category, t, nil}, true
	}
	if t := s.RetiredTool(slug); t != nil {
		return Followed{slug, t.Name, catalog.RetiredKind.Address + slug, catalog.RetiredKind.First(t), t.Category, nil, t}, true
	}
	if t := s.Catalog.Past[slug]; t != nil {
		return Followed{slug, cmp.Or(t.Name, slug), "/outils", cmp.Or(t.FirstSlug, slug), t.Category, nil, nil}, true
	}
	return Followed{Slug: slug, Name: slug, Path: "/outils", First: slug}, false
}

// FollowedOn returns the tool of a topic.
func FollowedOn(s *snapshot.Snapshot, topic string) (f Followed, ok bool) {
	first, isTool := strings.CutPrefix(topic, catalog.ToolTopic)
	for _, kind := range []*catalog.Kind{catalog.ToolKind, catalog.RetiredKind} {
		f, ok = find(s, s.Present(kind, first))
		if isTool && ok && f.First == first {
			return f, true
		}
	}
	return Followed{Slug: first, Name: first, Path: "/outils", First: first}, false
}

// Names returns the topics that say the same as one: those of a category have its former slugs, too.
func Names(s *snapshot.Snapshot, topic string) []string {
	for i := range s.Catalog.Categories {
		own := &s.Catalog.Categories[i]
		names := []string{catalog.CategoryTopic + own.Slug}
		for _, alias := range own.Aliases {
			names = append(names, catalog.CategoryTopic+alias)
		}
		if slices.Contains(names, topic) {
			return names
		}
	}
	return []string{topic}
}
