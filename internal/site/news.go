package site

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"strings"

	"palmares/internal/catalog"
)

// A Topic is something that readers follow by mail: its value is outils/plume, categories/texte, or ""
// for everything.
type Topic struct{ Value, Text string }

// The beginnings of topics.
const (
	toolTopic     = "outils/"
	categoryTopic = "categories/"
)

// Topics returns what somebody who wants to follow a topic may choose from. The first is that topic, if
// it exists.
func (s *Site) Topics(of string) (list []Topic) {
	v := s.current.Load()
	category := strings.TrimPrefix(of, categoryTopic)
	if f, ok := v.followed(strings.TrimPrefix(of, toolTopic)); ok && strings.HasPrefix(of, toolTopic) {
		list, category = append(list, Topic{toolTopic + f.slug, f.name}), f.category
	}
	if label, ok := v.labels[category]; ok {
		list = append(list, Topic{categoryTopic + category, label})
	}
	return append(list, Topic{"", "Tout le catalogue"})
}

// TopicName returns the name of a topic that somebody follows, also of one that is gone.
func (s *Site) TopicName(of string) string {
	first := s.Topics(of)[0]
	if first.Value == "" && of != "" {
		return of[strings.Index(of, "/")+1:] + " (n’existe plus)"
	}
	return first.Text
}

// HasRecord reports whether a path is that of a tool, also a retired one, a review, a comparison or an article, now or
// formerly.
func (s *Site) HasRecord(path string) (ok bool) {
	v := s.current.Load()
	kind, slug, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch kind {
	case "outils", "avis", "cimetiere":
		_, ok = v.followed(slug)
	case "comparatifs":
		ok = v.comparison(cmp.Or(v.snap.ComparisonAliases[slug], slug)) != nil
	case "articles":
		ok = v.snap.Catalog.Article(cmp.Or(v.snap.TextAliases["articles/"+slug], slug)) != nil
	}
	return ok && strings.HasPrefix(path, "/")
}

// TopicsOf returns the topics whose followers an event is for, by its type and slug.
func (s *Site) TopicsOf(e *catalog.Event) []string {
	v, topics := s.current.Load(), []string{""}
	var slugs []string
	switch kind, _, _ := strings.Cut(e.Type, "."); kind {
	case "comparatif":
		if x := v.comparison(cmp.Or(v.snap.ComparisonAliases[e.Slug], e.Slug)); x != nil {
			slugs = []string{x.ToolA, x.ToolB}
		}
	case "article":
		if a := v.snap.Catalog.Article(cmp.Or(v.snap.TextAliases["articles/"+e.Slug], e.Slug)); a != nil {
			slugs, topics = a.Tools, append(topics, categoryTopic+a.Category)
		}
	case "page":
	default:
		slugs = []string{e.Slug}
	}
	for _, slug := range slugs {
		f, _ := v.followed(slug)
		topics = append(topics, toolTopic+slug, toolTopic+f.slug, categoryTopic+f.category)
		if f.tool != nil {
			for _, former := range f.tool.Aliases {
				topics = append(topics, toolTopic+former)
			}
		}
	}
	return topics
}

// A News is something that happened, as the feeds tell it.
type News struct {
	Title, Summary, URL string

	Priced string // slug=told for a price; -slug if it is taken back; "" for anything else
}

// News returns what events, newest first, tell a reader. mailed has, by slug, which price the reader was mailed last, the day
// of its change and a checksum of its words: it is not told again, and taken back once its history has lost it.
func (s *Site) News(events []catalog.Event, mailed map[string]string) (list []News) {
	v := s.current.Load()
	for _, ch := range v.eventChanges(events, mailed) {
		if strings.Contains(ch.Title, ch.summary) {
			ch.summary = ""
		}
		told := fmt.Sprintf("%s.%08x", ch.Date, crc32.ChecksumIEEE([]byte(ch.Title)))
		if ch.Kind == kindPrice && mailed[ch.tools[0]] == told {
			continue
		}
		n := News{Title: ch.Title, Summary: ch.summary, URL: v.snap.Catalog.URL + ch.Path}
		switch ch.Kind {
		case kindPrice:
			n.Priced = ch.tools[0] + "=" + told
		case kindCorrection:
			n.Priced = "-" + ch.tools[0]
		}
		list = append(list, n)
	}
	return list
}
