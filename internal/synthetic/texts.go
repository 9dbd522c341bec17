package synthetic

import (
	"bytes"
	_ "embed"
	"strconv"
	"strings"

	"palmares/internal/french"
)

// texts.txt has the words of all texts: lists with a name in brackets above each, one entry on a line.
// Notes of retired tools begin with the name of the tool and do not repeat it; tasks are singular, with la or
// l’; samples, what a tool is tested on, have un or une. No pattern puts a name or an entry of a list after
// de, que or another word that elides, and the entries of a list agree in gender and number, so that any
// choice is correct French.
//
//go:embed texts.txt
var table string

// texts are the lists by name.
var texts = func() map[string][]string {
	lists := map[string][]string{}
	for list := range strings.SplitSeq(strings.TrimSpace(table), "\n\n") {
		lines := strings.Split(list, "\n")
		lists[strings.Trim(lines[0], "[]")] = lines[1:]
	}
	return lists
}()

// A subject is what a text is about.
type subject struct {
	category string
	name     string
	rival    string // the other tool of a comparison, or the successor of a retired one
	price    string
}

// fill writes a sentence pattern with its {placeholders} replaced: {nom}, {rival}
// and {prix} from the subject, {n} and {d} by a one-digit and a two-digit number,
// {tache} and {terrain} from the words of its category, the others from the list of their name.
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
		return pick(m, texts[s.category+" tasks"])
	case "terrain":
		return pick(m, texts[s.category+" samples"])
	}
	return pick(m, texts[key])
}

// sentences returns consecutive sentences of a list from a random start, in one paragraph.
func (m *generator) sentences(list string, s subject, count int) string {
	m.text.Reset()
	patterns := texts[list]
	start := m.below(len(patterns))
	for i := range count {
		m.fill(patterns[(start+i)%len(patterns)]+" ", s)
	}
	return strings.TrimSuffix(m.text.String(), " ")
}

// topics are the subjects of sections, in the order of a review; the last one ends every review. The anchor of a
// heading, which editors chose, is that word.
var topics = []string{
	"prise-en-main", "methode", "essai", "points-forts", "limites", "prix", "donnees", "public", "verdict",
}

// Reviews are 1.5 to 4 kB long. A review exceeds its target by up to a sentence and
// the final score, hence the margin below 4 kB.
const (
	minReview = 1500
	maxReview = 3700
)

// review generates the review of a tool: sometimes an introduction, then three to
// six sections, the verdict last.
func (m *generator) review(s subject, score *float64) string {
	m.text.Reset()
	target := m.between(minReview, maxReview)
	// General sentences are used in order, from a random start, so that no review
	// repeats itself.
	general := m.below(len(texts["general"]))
	if m.chance(50) {
		m.fill(pick(m, texts["openings"])+"\n\n", s)
	}
	sections, written := m.between(3, 6), 0
	for i, topic := range topics {
		// All topics but the verdict are equally likely to be chosen.
		others := len(topics) - 1
		if i < others && m.below(others-i) >= sections-1-written {
			continue
		}
		written++
		m.text.WriteString("## " + pick(m, texts["topic "+topic+" headings"]))
		if m.chance(35) {
			m.text.WriteString(" {#" + topic + "}")
		}
		m.text.WriteString("\n\n")
		if m.chance(35) {
			m.extra(topic, s)
		}
		general = m.section(texts["topic "+topic], s, target*written/sections, general)
	}
	if score != nil {
		m.text.WriteString("Note finale\u00a0: **" + french.Figure(*score) + " sur 10**.")
	}
	return strings.TrimSpace(m.text.String())
}

// extra writes a list or a table, if one suits a topic.
func (m *generator) extra(topic string, s subject) {
	switch topic {
	case "essai", "prix":
		m.text.WriteString("| Épreuve | Réussite | Durée |\n|---|---:|---:|\n")
		for _, trial := range texts[s.category+" tasks"][:m.between(2, 3)] {
			m.fill("| "+trial+" | {d}\u00a0% | {n}\u00a0min |\n", s)
		}
		m.text.WriteByte('\n')
	case "prise-en-main", "points-forts", "limites":
		m.fill("Après {n} semaines, nous retenons\u00a0:\n\n- {atout}\u202f;\n- {constat}\u202f;\n- {defaut}.\n\n", s)
	}
}

// section writes paragraphs until the review has the given size: the sentences of
// the topic, then general ones from index general. It returns the next such index.
func (m *generator) section(sentences []string, s subject, size, general int) int {
	others := texts["general"]
	start := m.below(len(sentences))
	left := m.between(2, 4) // sentences left in this paragraph
	for i := 0; i == 0 || m.text.Len() < size; i++ {
		pattern := others[general%len(others)]
		if i < len(sentences) {
			pattern = sentences[(start+i)%len(sentences)]
		} else {
			general++
		}
		m.fill(pattern, s)
		if left--; left > 0 {
			m.text.WriteByte(' ')
			continue
		}
		m.text.WriteString("\n\n")
		left = m.between(2, 4)
	}
	m.text.Truncate(len(bytes.TrimRight(m.text.Bytes(), " \n")))
	m.text.WriteString("\n\n")
	return general
}
