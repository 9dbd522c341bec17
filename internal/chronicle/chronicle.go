package chronicle

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/snapshot"
)

// Latest returns what happened to a catalogue, the latest first: the stored entries of its last versions, and the
// newest that records tell besides. Callers must not change it: it is made once for a version.
func Latest(s *snapshot.Snapshot) []catalog.Entry {
	if s.Latest.Load() == nil {
		all := list(s, s.Catalog.Tools, s.Catalog.Retired, func(*catalog.Entry) bool { return true })
		s.Latest.Store(&all)
	}
	return *s.Latest.Load()
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
	return list(s, tools, retired, func(e *catalog.Entry) bool {
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
	return list(s, tools, s.Catalog.Retired,
		func(e *catalog.Entry) bool { return slices.Contains(About(s, e).Categories, slug) })
}

// list returns the stored entries and those that articles, some tools and some retired ones tell, of which some are
// wanted, the latest first.
func list(
	s *snapshot.Snapshot, tools []*catalog.Tool, retired []catalog.Retired, isWanted func(*catalog.Entry) bool,
) (all []catalog.Entry) {
	type key struct{ kind, first, what, field, day string } // the id, unwritten: there are many
	keyOf := func(e *catalog.Entry) key { return key{e.Kind, e.First, string(e.What), e.Field, e.Day} }
	// What a record tells once is not told again with another day.
	onceOf := func(e *catalog.Entry) key { return key{e.Kind, e.First, string(e.What), "", ""} }
	stored := make(map[key]bool, len(s.Entries))
	for i := range s.Entries {
		e := &s.Entries[i]
		stored[keyOf(e)] = true
		if e.What != catalog.WhatPrice && e.What != catalog.WhatScore && (e.What != catalog.WhatText || e.Old == "") {
			stored[onceOf(e)] = true
		}
		if !e.Withdrawn && isWanted(e) {
			all = append(all, *e)
		}
	}
	add := func(past []catalog.Entry) {
		for i := range past {
			if e := &past[i]; e.Day <= s.UpdatedAt && !stored[keyOf(e)] && !stored[onceOf(e)] && isWanted(e) {
				all = append(all, *e)
			}
		}
	}
	for _, t := range lastTold(tools) {
		add(past(t))
	}
	for i := range retired {
		add(retired[i].Entries(s.Catalog))
	}
	for i := range s.Catalog.Articles {
		add(s.Catalog.Articles[i].Entries())
	}
	slices.SortStableFunc(all, func(a, b catalog.Entry) int {
		when := cmp.Compare(cmp.Or(b.At, b.Day), cmp.Or(a.At, a.Day))
		return cmp.Or(when, cmp.Compare(b.Position, a.Position), cmp.Compare(a.Slug, b.Slug))
	})
	return all
}

// past returns what a tool tells. Amounts in euros of a price in another currency are approximate.
func past(t *catalog.Tool) []catalog.Entry {
	list := t.Entries()
	if !t.IsConverted() {
		return list
	}
	about := func(value string) string {
		p := catalog.ParsePrice(value)
		p.Display = cmp.Or(p.Display, chart.PriceOf(t, p.Pricing, p.Price))
		return p.String()
	}
	for i := range list {
		if e := &list[i]; e.What == catalog.WhatPrice {
			e.Old, e.New = about(e.Old), about(e.New)
		}
	}
	return list
}

// lastTold returns those of some tools whose past is told: the last that tell something, and the last that tell more
// than that they are new.
func lastTold(tools []*catalog.Tool) []*catalog.Tool {
	const most = 60 // more than any list has entries
	type dated struct {
		day  string
		tool *catalog.Tool
	}
	var all, known []dated
	add := func(list []dated, one dated) []dated {
		if one.day == "" || len(list) == most && one.day <= list[most-1].day {
			return list
		}
		i, _ := slices.BinarySearchFunc(list, one.day, func(d dated, day string) int { return cmp.Compare(day, d.day) })
		list = slices.Insert(list, i, one)
		return list[:min(len(list), most)]
	}
	for _, t := range tools {
		day := t.TestedAt
		for i := range t.PriceHistory {
			if p := &t.PriceHistory[i]; !p.IsConversion() {
				day = max(day, p.ChangedAt)
			}
		}
		for i := range t.ScoreHistory {
			if c := &t.ScoreHistory[i]; c.ChangesScore() {
				day = max(day, c.ChangedAt)
			}
		}
		all, known = add(all, dated{max(day, t.AddedAt), t}), add(known, dated{day, t})
	}
	var latest []*catalog.Tool
	for _, d := range slices.Concat(all, known) {
		if !slices.Contains(latest, d.tool) {
			latest = append(latest, d.tool)
		}
	}
	return latest
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
	if kind := catalog.KindNamed(e.Kind); kind.IsText() {
		return aboutText(s, kind, cmp.Or(s.Aliases[kind][e.Slug], e.Slug))
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

// aboutText is About for a text with a present slug.
func aboutText(s *snapshot.Snapshot, kind *catalog.Kind, slug string) Subject {
	i, found := kind.Find(s.Catalog, slug)
	if !found || kind.IsUnpublished(kind.At(s.Catalog, i)) {
		return Subject{Path: cmp.Or(kind.List, "/")}
	}
	record := kind.At(s.Catalog, i)
	of := Subject{Path: kind.Address + slug, Authors: kind.Authors(record)}
	switch x := record.(type) {
	case *catalog.Comparison:
		of.Tools = []string{x.ToolA, x.ToolB}
	case *catalog.Article:
		of.Tools = x.Tools
		if x.Category != "" {
			of.Categories = []string{x.Category}
		}
	}
	return ofTools(s, of)
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
	if current, ok := s.Aliases[catalog.ToolKind][slug]; ok && s.Catalog.Tool(slug) == nil {
		slug = current
	}
	if t := s.Catalog.Tool(slug); t != nil {
		return Followed{slug, t.Name, catalog.ToolKind.Address + slug, t.Category, t, nil}, true
	}
	if t := s.RetiredTool(slug); t != nil {
		return Followed{slug, t.Name, catalog.RetiredKind.Address + slug, t.Category, nil, t}, true
	}
	if t := s.Catalog.Past[slug]; t != nil {
		return Followed{slug, cmp.Or(t.Name, slug), "/outils", t.Category, nil, nil}, true
	}
	return Followed{Slug: slug, Name: slug, Path: "/outils"}, false
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
