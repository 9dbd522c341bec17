package site

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A reviewPart is what a test says, or a review under a heading that many reviews have. Without items
// and text, it is a table or the like, which is read there.
type reviewPart struct {
	Items []string // of a list
	Text  string   // of a paragraph
	More  string   // address of the section; "" if it is all here
}

func (p reviewPart) IsEmpty() bool { return len(p.Items) == 0 && p.Text == "" && p.More == "" }

// maxPoints is how many items of a list are shown.
const maxPoints = 5

// reviewKinds are the headings that are compared, as normalize writes them. Such a heading
// may go on: « Limites pratiques ».
var reviewKinds = []struct {
	label    string
	headings []string
}{
	{"Points forts", []string{
		"points-forts", "forces", "atouts", "avantages", "qualites", "on-aime",
		"ce-que-nous-avons-aime", "ce-que-l-on-aime", "ce-qui-nous-a-plu",
	}},
	{"Points faibles", []string{
		"points-faibles", "faiblesses", "limites", "inconvenients", "defauts", "on-aime-moins",
		"ce-qui-nous-a-genes", "ce-que-l-on-aime-moins", "ce-qui-manque",
	}},
	{"Verdict", []string{"verdict", "notre-verdict", "notre-avis", "avis-final", "conclusion"}},
}

// verdictKind is the index of the last of reviewKinds, which is a sentence rather than a list.
const verdictKind = 2

// reviewLines returns what tests and reviews of tools say of the same things, and where to read them.
// The points and the conclusion of a test go before what a review says under such a heading.
func reviewLines(tools []*catalog.Tool) []comparisonLine {
	lines := make([]comparisonLine, len(reviewKinds))
	for i, kind := range reviewKinds {
		lines[i] = comparisonLine{Label: kind.label, Points: make([]reviewPart, len(tools))}
	}
	for column, t := range tools {
		if t.Summary != "" {
			lines[verdictKind].Points[column] = reviewPart{Text: markdown.NoBreak(t.Summary)}
		}
		for kind, points := range [][]string{t.Pros, t.Cons} {
			if len(points) > 0 {
				lines[kind].Points[column] = reviewPart{Items: each(points, markdown.NoBreak)}
			}
		}
		for _, gist := range markdown.Gists(t.Body) {
			kind := kindOf(gist.ID, gist.Heading)
			if kind >= 0 && lines[kind].Points[column].IsEmpty() {
				lines[kind].Points[column] = newReviewPart(gist, kind == verdictKind, "/avis/"+t.Slug+"#"+url.PathEscape(gist.ID))
			}
		}
	}
	lines = slices.DeleteFunc(lines, func(l comparisonLine) bool {
		return !slices.ContainsFunc(l.Points, func(p reviewPart) bool { return !p.IsEmpty() })
	})
	reviews := comparisonLine{Label: "Avis", Links: make([]link, len(tools))}
	for column, t := range tools {
		if t.Body != "" {
			reviews.Links[column] = link{"/avis/" + t.Slug, "Lire l’avis, " + strconv.Itoa(minutes(t.Body)) + "\u00a0min"}
		}
	}
	return append(lines, reviews)
}

// kindOf returns the index in reviewKinds of a section, or -1. The longest heading decides:
// « On aime moins » is not « On aime ».
func kindOf(id, heading string) int {
	heading = strings.TrimPrefix(strings.TrimPrefix(normalize(heading), "les-"), "ses-")
	kind, length := -1, 0
	for i, k := range reviewKinds {
		for _, known := range k.headings {
			if rest, ok := strings.CutPrefix(heading,
				known); (ok && (rest == "" || rest[0] == '-' && !strings.HasPrefix(rest, "-et-")) || id == known) &&
				len(known) > length {
				kind, length = i, len(known)
			}
		}
	}
	return kind
}

// newReviewPart shortens what a section says: its list, or its paragraph, which comes first if a
// sentence is wanted.
func newReviewPart(gist markdown.Gist, sentence bool, more string) reviewPart {
	p := reviewPart{More: more}
	if gist.Paragraph != "" && (sentence || len(gist.Items) == 0) {
		p.Text = markdown.NoBreak(beginning(gist.Paragraph))
		return p
	}
	for _, item := range gist.Items[:min(len(gist.Items), maxPoints)] {
		p.Items = append(p.Items, markdown.NoBreak(beginning(item)))
	}
	return p
}
