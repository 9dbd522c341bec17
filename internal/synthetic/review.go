package synthetic

import (
	"bytes"
	"strconv"
	"strings"
)

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
	sections := m.between(3, 6)
	written := 0
	for i := range topics {
		// All topics but the verdict are equally likely to be chosen.
		others := len(topics) - 1
		if i < others && m.below(others-i) >= sections-1-written {
			continue
		}
		topic := &topics[i]
		written++
		m.heading(topic)
		if topic.extra != nil && m.chance(35) {
			topic.extra(m, s)
		}
		general = m.section(topic, s, target*written/sections, general)
	}
	if score != nil {
		figure := strings.Replace(strconv.FormatFloat(*score, 'f', 1, 64), ".", ",", 1)
		m.text.WriteString("Note finale\u00a0: **" + figure + " sur 10**.\n")
	}
	return strings.TrimSpace(m.text.String())
}

// heading writes the heading of a section, a third of them with an explicit anchor.
func (m *generator) heading(t *topic) {
	m.text.WriteString("## " + pick(m, t.headings))
	if m.chance(35) {
		m.text.WriteString(" {#" + t.id + "}")
	}
	m.text.WriteString("\n\n")
}

// section writes paragraphs until the review has the given size: the sentences of
// the topic, then general ones from index general. It returns the next such index.
func (m *generator) section(t *topic, s subject, size, general int) int {
	others := texts["general"]
	start := m.below(len(t.sentences))
	left := m.between(2, 4) // sentences left in this paragraph
	for i := 0; i == 0 || m.text.Len() < size; i++ {
		pattern := others[general%len(others)]
		if i < len(t.sentences) {
			pattern = t.sentences[(start+i)%len(t.sentences)]
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

func (m *generator) steps(s subject) {
	steps := texts["first steps"]
	for i, step := range steps[:m.between(3, len(steps))] {
		m.fill(strconv.Itoa(i+1)+". "+step+"\n", s)
	}
	m.text.WriteByte('\n')
}

// bullets lists three consecutive, hence distinct, entries of a list.
func (m *generator) bullets(key string, s subject) {
	m.fill("Après {n} semaines, nous retenons\u00a0:\n\n", s)
	list := texts[key]
	start := m.below(len(list))
	for i := range 3 {
		m.text.WriteString("- " + list[(start+i)%len(list)] + []string{"\u202f;\n", "\u202f;\n", ".\n\n"}[i])
	}
}

func (m *generator) trials(s subject) {
	m.text.WriteString("| Épreuve | Réussite | Durée |\n|---|---:|---:|\n")
	for _, trial := range s.field.tasks[:m.between(2, 3)] {
		m.fill("| "+trial+" | {d}\u00a0% | {n}\u00a0min |\n", s)
	}
	m.text.WriteByte('\n')
}

func (m *generator) plans(s subject) {
	m.fill("| Formule | Prix | Quota |\n|---|---|---|\n| Découverte | 0 €/mois | {d} essais |\n| "+
		"Courante | {prix} | {n}00 essais |\n\n", s)
}
