package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A Passage is the part of a tool's texts that answers a query best.
type Passage struct {
	Section string // id of the section of the review; "" if it is the tagline
	Heading string // of the section; "" for the introduction
	Snippet string // plain text, at most MaxSnippet characters
}

// MaxSnippet is the length of the longest snippet, in characters.
const MaxSnippet = 240

// Passages finds the passages that answer one query. Making it costs about as much as a
// search, each passage the parsing of a section: callers ask for the hits that they show.
type Passages struct {
	x     *Index
	forms map[string]match
}

// A match says which word of the query a form stands for, and how much it tells.
type match struct {
	word   int
	weight float32
}

// Passages returns a finder for the text of a query.
func (x *Index) Passages(text string) *Passages {
	w := x.workspaces.Get().(*workspace)
	defer x.workspaces.Put(w)
	w.query = Query{}
	x.parse(w, truncate(text, maxQuery))
	wanted := make([]match, x.stems.len()) // by term
	for i := range w.words {
		q := &w.words[i]
		idf := x.idfOf(q)
		for _, t := range q.terms {
			weight := t.confidence * min(idf, x.idf(x.frequency(t.term)))
			if q.filler {
				weight *= fillerFactor
			}
			if weight > wanted[t.term].weight {
				wanted[t.term] = match{i, weight}
			}
		}
	}
	p := &Passages{x, map[string]match{}}
	for form, term := range x.termOf {
		if wanted[term].weight > 0 {
			p.forms[x.forms.at(form)] = wanted[term]
		}
	}
	return p
}

// idfOf returns about how much a word tells with its whole family: « vérifiable » is no
// rarer than what it is found for. Unfinished words stand for too many to count.
func (x *Index) idfOf(q *queryWord) float32 {
	have := 0
	for _, t := range q.terms {
		if t.confidence >= synonymous {
			have += x.frequency(t.term)
		}
	}
	return x.idf(min(have, len(x.tools)))
}

// maxReview is how much of a review is searched for a passage, in bytes.
const maxReview = 64 << 10

// Best returns the passage of a tool. If its review has no word of the query, it is the
// tagline. Words of its own name, which any section may have, do not count.
func (p *Passages) Best(tool int) Passage {
	t := p.x.tools[tool]
	name := Words(t.Name)
	best, most := Passage{Snippet: shorten(t.Tagline, 0)}, float32(0)
	part := p.part(truncate(t.Body, maxReview), name)
	for _, section := range markdown.Sections(part) {
		heading, text := split(section, part)
		matches := p.matches(text, name)
		value := p.value(matches) + p.value(p.matches(heading, name))/2
		if value > most {
			most = value
			best = Passage{Section: section.ID, Heading: heading, Snippet: shorten(text, p.window(matches))}
		}
	}
	return best
}

// part returns the part of a review that answers best, as it is written: only that is parsed.
func (p *Passages) part(body string, without []string) (best string) {
	most := float32(0)
	for _, part := range markdown.Cut(body) {
		var ofText, ofHeading []found
		Prose(part, func(text string, isHeading bool) {
			if isHeading {
				ofHeading = append(ofHeading, p.matches(text, without)...)
			} else {
				ofText = append(ofText, p.matches(text, without)...)
			}
		})
		if value := p.value(ofText) + p.value(ofHeading)/2; value > most {
			best, most = part, value
		}
	}
	return best
}

// split separates the heading of a section from its text.
func split(s catalog.Section, body string) (heading, text string) {
	heading, text, _ = strings.Cut(s.Text, "\n\n")
	if s.ID == "introduction" && !strings.HasPrefix(strings.TrimSpace(body), "## ") {
		heading, text = "", s.Text
	}
	// No-break spaces stay.
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' })
	for i, word := range words {
		if strings.Contains(word, "://") {
			words[i] = address.ReplaceAllString(word, "$1")
		}
	}
	return heading, strings.Join(words, " ")
}

// address matches the address of a page, of which snippets have only the host: the rest is for
// programs, and may track readers.
var address = regexp.MustCompile(`(?i)https?://(?:www\.)?([^\s/?#]+)(?:[^\s)»”"]*[^\s)»”".,;:!?])?`)

// A found is an occurrence of a word of the query in a text.
type found struct {
	match
	start, end int
}

// matches returns where words of the query occur in a text, apart from some.
func (p *Passages) matches(text string, without []string) []found {
	var all []found
	for start, end := range wordsOf(text) {
		key, _ := nameKey(text[start:end])
		if m, ok := p.forms[key]; ok && !slices.Contains(without, key) {
			all = append(all, found{m, start, end})
		}
	}
	return all
}

// value returns how well a text answers. A word that is repeated counts up to twice.
func (p *Passages) value(matches []found) float32 {
	var words [2 * maxWords]struct{ best, count float32 }
	for _, m := range matches {
		word := &words[m.word]
		word.best = max(word.best, m.weight)
		word.count++
	}
	sum := float32(0)
	for _, word := range words {
		sum += word.best * 2 * word.count / (word.count + 1)
	}
	return sum
}

// window returns where the part of a text begins that has the most matches within the
// length of a snippet.
func (p *Passages) window(matches []found) int {
	at, most := 0, float32(0)
	for i := range matches {
		end := i
		for end < len(matches) && matches[end].end-matches[i].start < MaxSnippet*3/4 {
			end++
		}
		if value := p.value(matches[i:end]); value > most {
			at, most = matches[i].start, value
		}
	}
	return at
}

// shorten returns the part of a text around a place, at most MaxSnippet characters, from
// the beginning of a sentence if that is near. Dots stand for what is left out.
func shorten(text string, at int) string {
	const before = 80 // bytes
	start := 0
	if at > before {
		start = at
		if i := strings.LastIndexAny(text[at-before:at], ".!?"); i >= 0 && strings.HasPrefix(text[at-before+i+1:], " ") {
			start = at - before + i + 2
		} else if i := strings.IndexByte(text[at-before/2:at], ' '); i >= 0 {
			start = at - before/2 + i + 1
		}
		for !utf8.RuneStart(text[start]) {
			start++
		}
	}
	part := text[start:]
	room := MaxSnippet
	prefix := ""
	if start > 0 && !strings.ContainsAny(text[start-2:start-1], ".!?") {
		prefix = "…"
		room--
	}
	runes := []rune(part)
	if len(runes) <= room {
		return prefix + part
	}
	part = string(runes[:room-1])
	if i := strings.LastIndexByte(part, ' '); i > 0 {
		part = part[:i]
	}
	return prefix + strings.TrimRight(part, " ,;:") + "…"
}
