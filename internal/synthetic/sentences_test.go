package synthetic

import (
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A review takes each topic once, so its sections have one anchor each if no two
// topics can have the same.
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

// French elides before vowels, which no name or list of ours promises to avoid.
func TestPatternsPutNoNameAfterAWordThatElides(t *testing.T) {
	elides := regexp.MustCompile(`(?i)\b(de|que|le|la|je|se|ne) \{(nom|rival|adjectif|constat|public|atout|defaut|terrain)\}`)
	patterns := [][]string{openings, generalSentences, firstSteps, duelTitles, duelNotes, duelSentences, condolences}
	for i := range topics {
		patterns = append(patterns, topics[i].sentences)
	}
	for i := range trades {
		patterns = append(patterns, trades[i].taglines)
	}
	for _, reason := range catalog.Reasons {
		patterns = append(patterns, obituaries[reason])
		for _, p := range obituaries[reason] {
			if !strings.HasPrefix(p, "{nom} ") || strings.Count(p, "{nom}") != 1 {
				t.Errorf("obituary does not open with the name, once: %q", p)
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
