package newsletter

import (
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/snapshot"
)

// A Topic is something that readers may follow by mail: its value is outils/plume, categories/texte, or ""
// for everything.
type Topic struct{ Value, Text string }

// Followed returns what is kept of a topic that somebody follows: that of a tool has its oldest slug.
func Followed(s *snapshot.Snapshot, value string) string {
	slug, isTool := strings.CutPrefix(value, catalog.ToolTopic)
	if !isTool {
		return value
	}
	f, _ := chronicle.Find(s, slug)
	return f.Topic()
}

// Topics returns what somebody who wants to follow a topic may choose from. The first is that topic, if
// it exists.
func Topics(s *snapshot.Snapshot, of string) (list []Topic) {
	category := strings.TrimPrefix(of, catalog.CategoryTopic)
	slug, isTool := strings.CutPrefix(of, catalog.ToolTopic)
	if f, ok := chronicle.Find(s, slug); ok && isTool {
		list, category = append(list, Topic{catalog.ToolTopic + f.Slug, f.Name}), f.Category
	}
	if c := s.Catalog.Category(category); c != nil {
		list = append(list, Topic{catalog.CategoryTopic + category, c.Label})
	}
	return append(list, Topic{"", "Tout le catalogue"})
}

// TopicName returns the name of a topic as Followed returns it, also of one that is gone.
func TopicName(s *snapshot.Snapshot, of string) string {
	if f, ok := chronicle.FollowedOn(s, of); ok {
		return f.Name
	}
	first := Topics(s, chronicle.Names(s, of)[0])[0]
	if strings.HasPrefix(of, catalog.ToolTopic) || first.Value == "" && of != "" {
		return of[strings.Index(of, "/")+1:] + " (n’existe plus)"
	}
	return first.Text
}
