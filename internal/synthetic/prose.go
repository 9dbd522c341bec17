package synthetic

import (
	"strconv"
	"strings"
)

// A subject is what a text is about.
type subject struct {
	field *field
	name  string
	rival string // the other tool of a comparison, or the successor of a retired one
	price string
}

// fill writes a sentence pattern with its {placeholders} replaced: {nom}, {rival}
// and {prix} from the subject, {n} and {d} by a one-digit and a two-digit number,
// {tache} and {terrain} from the words of its field, the others from the list of their name.
//
// No pattern puts a name or an entry of a list after de, que or another word that
// elides, and the entries of a list agree in gender and number, so that any choice
// is correct French.
func (m *generator) fill(pattern string, s subject) {
	for {
		before, rest, found := strings.Cut(pattern, "{")
		m.text.WriteString(before)
		if !found {
			return
		}
		var key string
		key, pattern, _ = strings.Cut(rest, "}")
		m.text.WriteString(m.word(key, s))
	}
}

func (m *generator) word(key string, s subject) string {
	switch key {
	case "nom":
		return s.name
	case "rival":
		return s.rival
	case "prix":
		return s.price
	case "n":
		return strconv.Itoa(m.between(2, 9))
	case "d":
		return strconv.Itoa(m.between(11, 95))
	case "tache":
		return pick(m, s.field.tasks)
	case "terrain":
		return pick(m, s.field.samples)
	}
	return pick(m, texts[key])
}

func (m *generator) line(pattern string, s subject) string {
	m.text.Reset()
	m.fill(pattern, s)
	return m.text.String()
}

// prose returns a paragraph of count sentences, fewer than there are patterns.
func (m *generator) prose(patterns []string, s subject, count int) string {
	m.text.Reset()
	start := m.below(len(patterns))
	for i := range count {
		if i > 0 {
			m.text.WriteByte(' ')
		}
		m.fill(patterns[(start+i)%len(patterns)], s)
	}
	return m.text.String()
}
