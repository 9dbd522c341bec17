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

// fill appends a sentence pattern with its {placeholders} replaced: {nom}, {rival}
// and {prix} from the subject, {n} and {d} by a one-digit and a two-digit number,
// {tache} and {terrain} from the words of its field, the others from the list of their name.
//
// No pattern puts a name or an entry of a list after de, que or another word that
// elides, and the entries of a list agree in gender and number, so that any choice
// is correct French.
func (m *generator) fill(text []byte, pattern string, s subject) []byte {
	for {
		before, rest, found := strings.Cut(pattern, "{")
		text = append(text, before...)
		if !found {
			return text
		}
		var key string
		key, pattern, _ = strings.Cut(rest, "}")
		switch key {
		case "nom":
			text = append(text, s.name...)
		case "rival":
			text = append(text, s.rival...)
		case "prix":
			text = append(text, s.price...)
		case "n":
			text = strconv.AppendInt(text, int64(m.between(2, 9)), 10)
		case "d":
			text = strconv.AppendInt(text, int64(m.between(11, 95)), 10)
		case "tache":
			text = append(text, pick(m, s.field.tasks)...)
		case "terrain":
			text = append(text, pick(m, s.field.samples)...)
		default:
			text = append(text, pick(m, texts[key])...)
		}
	}
}

func (m *generator) line(pattern string, s subject) string {
	m.text = m.fill(m.text[:0], pattern, s)
	return string(m.text)
}

// prose returns a paragraph of count sentences, fewer than there are patterns.
func (m *generator) prose(patterns []string, s subject, count int) string {
	m.text = m.text[:0]
	start := m.below(len(patterns))
	for i := range count {
		if i > 0 {
			m.text = append(m.text, ' ')
		}
		m.text = m.fill(m.text, patterns[(start+i)%len(patterns)], s)
	}
	return string(m.text)
}
