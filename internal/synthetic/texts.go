package synthetic

import (
	_ "embed"
	"slices"
	"strings"
)

// texts.txt has the words of all texts: lists with a name in brackets above each, one entry on a line.
// Those of retired tools begin with the name of the tool and do not repeat it; tasks are singular, with la or
// l’; samples, what a tool is tested on, have un or une.
//
//go:embed texts.txt
var table string

// texts are the lists by name. Besides those below, they have one for each placeholder of the patterns.
var texts = func() map[string][]string {
	lists := map[string][]string{}
	for list := range strings.SplitSeq(strings.TrimSpace(table), "\n\n") {
		lines := strings.Split(list, "\n")
		lists[strings.Trim(lines[0], "[]")] = lines[1:]
	}
	return lists
}()

// A topic is the subject of one section of a review.
type topic struct {
	id        string // of the anchor, when editors chose one
	headings  []string
	sentences []string
	extra     func(*generator, subject) // a list or a table that suits it, or nil
}

// topics are in the order of a review; the last one ends every review. The anchor
// of a heading must not equal the id of another topic.
var topics = []topic{
	newTopic("prise-en-main", (*generator).steps),
	newTopic("methode", nil),
	newTopic("essai", (*generator).trials),
	newTopic("points-forts", func(m *generator, s subject) { m.bullets("atout", s) }),
	newTopic("limites", func(m *generator, s subject) { m.bullets("defaut", s) }),
	newTopic("prix", (*generator).plans),
	newTopic("donnees", nil),
	newTopic("public", nil),
	newTopic("verdict", nil),
}

func newTopic(id string, extra func(*generator, subject)) topic {
	return topic{id, texts["topic "+id+" headings"], texts["topic "+id], extra}
}

// A field is a category of tools and its vocabulary.
type field struct {
	slug, label              string
	taglines, tasks, samples []string
}

var fields = []field{
	newField("agents", "Agents autonomes"),
	newField("chat", "Assistants de conversation"),
	newField("code", "Développement"),
	newField("image", "Image"),
	newField("video", "Vidéo"),
	newField("voix", "Voix et audio"),
}

func newField(slug, label string) field {
	return field{slug, label, texts[slug+" taglines"], texts[slug+" tasks"], texts[slug+" samples"]}
}

func fieldOf(category string) *field {
	return &fields[slices.IndexFunc(fields, func(f field) bool { return f.slug == category })]
}
