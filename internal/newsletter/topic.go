package newsletter

import (
	"strings"

	"palmares/internal/chronicle"
	"palmares/internal/snapshot"
)

// A Topic is something that readers follow by mail: its value is outils/plume, categories/texte, or ""
// for everything.
type Topic struct{ Value, Text string }

// Topics returns what somebody who wants to follow a topic may choose from. The first is that topic, if
// it exists.
func Topics(s *snapshot.Snapshot, of string) (list []Topic) {
	category := strings.TrimPrefix(of, chronicle.CategoryTopic)
	slug, isTool := strings.CutPrefix(of, chronicle.ToolTopic)
	if f, ok := chronicle.Find(s, slug); ok && isTool {
		list, category = append(list, Topic{chronicle.ToolTopic + f.Slug, f.Name}), f.Category
	}
	if c := s.Catalog.Category(category); c != nil {
		list = append(list, Topic{chronicle.CategoryTopic + category, c.Label})
	}
	return append(list, Topic{"", "Tout le catalogue"})
}

// TopicName returns the name of a topic that somebody follows, also of one that is gone.
func TopicName(s *snapshot.Snapshot, of string) string {
	first := Topics(s, of)[0]
	if first.Value == "" && of != "" {
		return of[strings.Index(of, "/")+1:] + " (n’existe plus)"
	}
	return first.Text
}
