package site

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/market"
)

// A pick answers a question about a category with one of its tools, and says why.
type pick struct {
	Question   string
	Slug, Name string // "" if there is no such tool
	Score      string
	Rank       string // CSS class of the score
	Why        string
}

// picks answers the three questions about a category: the best score, the best value and
// the best free tool. It returns nil if no tool has a score.
func picks(m *market.Map) []pick {
	best, next := m.BestScore()
	if best == nil {
		return nil
	}
	list := []pick{newPick("La meilleure note", best, whyBest(best, next))}
	if value := m.BestValue(); value != nil {
		list = append(list, newPick("Le meilleur rapport", value.Tool, whyValue(value, m)))
	} else {
		list = append(list, pick{Question: "Le meilleur rapport", Why: "Aucun prix de la catégorie n’est un prix par mois\u00a0: rien ne se compare."})
	}
	if free := m.BestFree(); free != nil {
		list = append(list, newPick("Le meilleur gratuit", free.Tool, whyFree(free, best)))
	} else {
		list = append(list, pick{Question: "Le meilleur gratuit", Why: "Aucun outil noté de la catégorie n’est gratuit."})
	}
	return list
}

func newPick(question string, t *catalog.Tool, why string) pick {
	return pick{Question: question, Slug: t.Slug, Name: t.Name, Score: french.Figure(*t.Score), Rank: scoreClass(*t.Score), Why: why}
}

func whyBest(best, next *catalog.Tool) string {
	switch {
	case next == nil:
		return "Le seul outil noté de la catégorie" + priced(best) + "."
	case *next.Score == *best.Score:
		return "À égalité avec " + next.Name + ", " + tieBreak(best, next) + "."
	}
	return points(*best.Score-*next.Score) + " de plus " + than(next.Name) + ", le deuxième" + priced(best) + "."
}

// tieBreak says why one of two tools with the same score comes first.
func tieBreak(best, next *catalog.Tool) string {
	a, ok := catalog.Monthly(best.Price)
	b, both := catalog.Monthly(next.Price)
	switch {
	case !ok || !both:
		return "dont le prix ne se compare pas"
	case a == b:
		return "au même prix"
	}
	return "mais moins cher (" + perMonth(a) + ")"
}

func whyValue(value *market.Point, m *market.Map) string {
	top := value // the best score on the map
	for i := range m.Points {
		if m.Points[i].Score > top.Score {
			top = &m.Points[i]
		}
	}
	if top == value {
		if value.Euros == 0 {
			return "Gratuit, et rien n’est mieux noté parmi ce qui se compare."
		}
		return perMonth(value.Euros) + "\u00a0: rien de moins cher n’a une note à un point au plus de la sienne."
	}
	less := points(top.Score-value.Score) + " de moins " + than(top.Tool.Name)
	if value.Euros == 0 {
		return "Gratuit, pour " + less + ", qui coûte " + perMonth(top.Euros) + "."
	}
	return perMonth(value.Euros) + " au lieu de " + short(top.Euros) + "\u00a0: le moins cher à un point au plus du mieux noté (" + less + ")."
}

func whyFree(free *market.Point, best *catalog.Tool) string {
	if free.Score == *best.Score {
		return "Rien n’est mieux noté dans la catégorie, même en payant."
	}
	return points(*best.Score-free.Score) + " de moins " + than(best.Name) + ", sans rien payer."
}

// priced ends a sentence with the price of a tool: per month if that can be said.
func priced(t *catalog.Tool) string {
	euros, ok := catalog.Monthly(t.Price)
	switch {
	case !ok:
		return ", pour " + french.Price(t.Price)
	case euros == 0:
		return ", et gratuit"
	}
	return ", pour " + perMonth(euros)
}

// than writes que before a name, with the elision before a vowel.
func than(name string) string {
	first, _ := utf8.DecodeRuneInString(name)
	if strings.ContainsRune("aeiouyâàéèêëîïôöûüœ", unicode.ToLower(first)) {
		return "qu’" + name
	}
	return "que " + name
}

// points formats a difference of scores: 0,4 point, 2,1 points.
func points(difference float64) string {
	noun := "point"
	if math.Round(difference*100) >= 200 {
		noun = "points"
	}
	return french.Figure(difference) + french.Space + noun
}
