package site

import (
	"slices"
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

// TopicsOf returns the topics whose followers an event is for.
func (s *Site) TopicsOf(e *catalog.Event) []string {
	v, slugs := s.current.Load(), []string{e.Slug}
	if x := v.comparison(e.Slug); x != nil && strings.HasPrefix(e.Type, "comparatif.") {
		slugs = []string{x.ToolA, x.ToolB}
	}
	topics := []string{"", toolTopic + e.Slug}
	for _, slug := range slugs {
		f, ok := v.followed(slug)
		if !ok {
			continue
		}
		topics = append(topics, toolTopic+f.slug, categoryTopic+f.category)
		if f.tool != nil {
			for _, former := range f.tool.Aliases {
				topics = append(topics, toolTopic+former)
			}
		}
	}
	return topics
}

// SlugsOf returns the slugs of all events that concern a tool; none for other topics.
func (s *Site) SlugsOf(topic string) (slugs []string) {
	v := s.current.Load()
	slug, isTool := strings.CutPrefix(topic, toolTopic)
	if f, ok := v.followed(slug); ok && isTool {
		slugs = append(slugs, f.slug, slug)
		for _, x := range v.comparisons[f.slug] {
			slugs = append(slugs, x.Slug)
		}
		if f.tool != nil {
			slugs = append(slugs, f.tool.Aliases...)
		}
	}
	return slugs
}

// A News is something that happened, as the feeds tell it.
type News struct{ Title, Summary, URL string }

// News returns what events, newest first, tell of a topic, or only what is told at once: prices and
// retirements.
func (s *Site) News(topic string, events []catalog.Event, atOnce bool) (list []News) {
	v := s.current.Load()
	slug, isTool := strings.CutPrefix(topic, toolTopic)
	if f, ok := v.followed(slug); ok && isTool {
		topic = toolTopic + f.slug
	}
	for _, ch := range v.eventChanges(events) {
		isWanted := topic == "" || slices.ContainsFunc(ch.tools, func(slug string) bool {
			f, _ := v.followed(slug)
			return topic == toolTopic+slug || topic == categoryTopic+f.category
		})
		if isWanted && (!atOnce || ch.Kind == kindPrice || ch.Kind == kindRetired) {
			if strings.Contains(ch.Title, ch.summary) {
				ch.summary = ""
			}
			list = append(list, News{ch.Title, ch.summary, v.snap.Catalog.URL + ch.Path})
		}
	}
	return list
}
