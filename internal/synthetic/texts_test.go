package synthetic

import (
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A review has each topic at most once, so its anchors are distinct if no two
// topics share one.
func TestNoTwoTopicsShareAnAnchor(t *testing.T) {
	owner := map[string]string{"introduction": "the text before the first heading"}
	for i := range topics {
		anchors := map[string]bool{topics[i].id: true}
		for _, heading := range topics[i].headings {
			anchors[markdown.Sections("## " + heading)[0].ID] = true
		}
		for anchor := range anchors {
			if !catalog.IsSlug(anchor) {
				t.Errorf("topic %s has the anchor %q", topics[i].id, anchor)
			}
			if other := owner[anchor]; other != "" {
				t.Errorf("anchor %q belongs to %s and to %s", anchor, other, topics[i].id)
			}
			owner[anchor] = topics[i].id
		}
	}
}

// French elides before vowels, and any name or entry of a list may begin with one.
func TestPatternsPutNoNameAfterAWordThatElides(t *testing.T) {
	elides := regexp.MustCompile(`(?i)\b(de|que|le|la|je|se|ne) \{(nom|rival|adjectif|constat|public|atout|defaut|terrain)\}`)
	patterns := [][]string{texts["openings"], texts["general"], texts["first steps"], texts["duel titles"], texts["duel notes"], texts["duel"], texts["retired endings"]}
	for i := range topics {
		patterns = append(patterns, topics[i].sentences)
	}
	for i := range fields {
		patterns = append(patterns, fields[i].taglines)
	}
	for _, reason := range catalog.Reasons {
		patterns = append(patterns, texts["retired "+string(reason)])
		for _, p := range texts["retired "+string(reason)] {
			if !strings.HasPrefix(p, "{nom} ") || strings.Count(p, "{nom}") != 1 {
				t.Errorf("the name is not at the start only: %q", p)
			}
		}
	}
	for _, list := range patterns {
		for _, p := range list {
			if found := elides.FindString(p); found != "" {
				t.Errorf("%q in %q", found, p)
			}
		}
	}
}
