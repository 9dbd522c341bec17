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
	m.text = m.text[:0]
	target := m.between(minReview, maxReview)
	// General sentences are used in order, from a random start, so that no review
	// repeats itself.
	general := m.below(len(texts["general"]))
	if m.chance(50) {
		m.text = m.fill(m.text, pick(m, texts["openings"]), s)
		m.text = append(m.text, "\n\n"...)
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
		m.text = append(m.text, "Note finale\u00a0: **"...)
		m.text = append(m.text, strings.Replace(strconv.FormatFloat(*score, 'f', 1, 64), ".", ",", 1)...)
		m.text = append(m.text, " sur 10**.\n"...)
	}
	return string(bytes.TrimSpace(m.text))
}

// heading writes the heading of a section, a third of them with an explicit anchor.
func (m *generator) heading(t *topic) {
	m.text = append(m.text, "## "...)
	m.text = append(m.text, pick(m, t.headings)...)
	if m.chance(35) {
		m.text = append(m.text, " {#"...)
		m.text = append(m.text, t.id...)
		m.text = append(m.text, '}')
	}
	m.text = append(m.text, "\n\n"...)
}

// section writes paragraphs until the review has the given size: the sentences of
// the topic, then general ones from index general. It returns the next such index.
func (m *generator) section(t *topic, s subject, size, general int) int {
	others := texts["general"]
	start := m.below(len(t.sentences))
	left := m.between(2, 4) // sentences left in this paragraph
	for i := 0; i == 0 || len(m.text) < size; i++ {
		pattern := others[general%len(others)]
		if i < len(t.sentences) {
			pattern = t.sentences[(start+i)%len(t.sentences)]
		} else {
			general++
		}
		m.text = m.fill(m.text, pattern, s)
		if left--; left > 0 {
			m.text = append(m.text, ' ')
			continue
		}
		m.text = append(m.text, "\n\n"...)
		left = m.between(2, 4)
	}
	m.text = append(bytes.TrimRight(m.text, " \n"), "\n\n"...)
	return general
}

func (m *generator) steps(s subject) {
	steps := texts["first steps"]
	for i, step := range steps[:m.between(3, len(steps))] {
		m.text = strconv.AppendInt(m.text, int64(i+1), 10)
		m.text = m.fill(append(m.text, ". "...), step, s)
		m.text = append(m.text, '\n')
	}
	m.text = append(m.text, '\n')
}

func (m *generator) strengths(s subject) { m.bullets("atout", s) }

func (m *generator) weaknesses(s subject) { m.bullets("defaut", s) }

// bullets lists three consecutive, hence distinct, entries of a list.
func (m *generator) bullets(key string, s subject) {
	m.text = m.fill(m.text, "Après {n} semaines, nous retenons\u00a0:\n\n", s)
	list := texts[key]
	start := m.below(len(list))
	for i := range 3 {
		m.text = append(m.text, "- "...)
		m.text = append(m.text, list[(start+i)%len(list)]...)
		m.text = append(m.text, []string{"\u202f;\n", "\u202f;\n", ".\n\n"}[i]...)
	}
}

func (m *generator) trials(s subject) {
	m.text = append(m.text, "| Épreuve | Réussite | Durée |\n|---|---:|---:|\n"...)
	for _, trial := range s.field.tasks[:m.between(2, 3)] {
		m.text = append(m.text, "| "...)
		m.text = append(m.text, trial...)
		m.text = m.fill(m.text, " | {d}\u00a0% | {n}\u00a0min |\n", s)
	}
	m.text = append(m.text, '\n')
}

func (m *generator) plans(s subject) {
	m.text = m.fill(m.text, "| Formule | Prix | Quota |\n|---|---|---|\n| Découverte | 0 €/mois | {d} essais |\n| "+
		"Courante | {prix} | {n}00 essais |\n\n", s)
}
