package site

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/market"
	"palmares/internal/snapshot"
)

// A pick answers a question about a category with one of its tools, and says why.
type pick struct {
	Question string
	toolRow
	Why string
}

// picks answers the three questions about a category that have an answer: the best score, the best value and
// the best free tool.
func (v *view) picks(m *market.Map) []pick {
	best, next, equal := m.BestScore()
	if best == nil {
		return nil
	}
	list := []pick{{"La meilleure note", v.row(best), whyBest(best, next, equal)}}
	if value := m.BestValue(); value != nil {
		list = append(list, pick{"Le meilleur rapport", v.row(value.Tool), whyValue(value, m)})
	}
	if free := m.BestFree(); free != nil {
		list = append(list, pick{"Le meilleur gratuit", v.row(free.Tool), whyFree(free, best)})
	}
	return list
}

// usagePicks returns the tool with the best score for each usage of a category.
func (v *view) usagePicks(c *catalog.Category) []pick {
	var list []pick
	for _, usage := range c.Usages {
		var best, next *catalog.Tool
		for _, i := range v.toolsOf(c.Slug, snapshot.ScoreDesc) {
			t := v.snap.Catalog.Tools[i]
			if t.Score == nil || next != nil {
				break // the others follow those with a score
			}
			switch {
			case !slices.Contains(t.Usages, usage.Slug):
			case best == nil:
				best = t
			default:
				next = t
			}
		}
		if best != nil {
			list = append(list, pick{markdown.NoBreak(usage.Label), v.row(best), whyUsage(best, next)})
		}
	}
	return list
}

// whyUsage says why a tool is the best for a usage: the conclusion of its test, if there is one.
func whyUsage(best, next *catalog.Tool) string {
	switch {
	case best.Summary != "":
		return markdown.NoBreak(best.Summary)
	case next == nil:
		return "Le seul outil noté pour cet usage" + priced(best) + "."
	case *best.Score == *next.Score:
		return "À égalité avec " + next.Name + priced(best) + "."
	}
	return points(*best.Score-*next.Score) + " de plus " + than(next.Name) + priced(best) + "."
}

func whyBest(best, next *catalog.Tool, equal int) string {
	switch {
	case next == nil:
		return "Le seul outil noté de la catégorie" + priced(best) + "."
	case equal > 1:
		return "À égalité avec " + next.Name + " et " + french.Plural(equal-1, "autre", "autres") + priced(best) + "."
	case equal == 1:
		return "À égalité avec " + next.Name + priced(best) + "."
	}
	return points(*best.Score-*next.Score) + " de plus " + than(next.Name) + ", le deuxième" + priced(best) + "."
}

func whyValue(value *market.Point, m *market.Map) string {
	top, price := m.Top(), chart.PerMonth(value.Tool)
	if top == value {
		if value.Euros == 0 {
			return "Gratuit, et rien n’est mieux noté parmi ce qui se compare."
		}
		return price + "\u00a0: rien de moins cher n’a une note à un point au plus de la sienne."
	}
	less := points(top.Score-value.Score) + " de moins " + than(top.Tool.Name)
	if value.Euros == 0 {
		return "Gratuit, pour " + less + ", qui coûte " + chart.PerMonth(top.Tool) + "."
	}
	instead := chart.About(top.Tool, french.ShortEuros(top.Euros), false)
	if catalog.Each(value.Tool.Price) != catalog.Each(top.Tool.Price) {
		instead = chart.PerMonth(top.Tool)
	}
	return price + " au lieu " + of(instead) + "\u00a0: le moins cher à un point au plus du mieux noté (" + less + ")."
}

func whyFree(free *market.Point, best *catalog.Tool) string {
	if free.Score == *best.Score {
		return "Rien n’est mieux noté dans la catégorie, même en payant."
	}
	return points(*best.Score-free.Score) + " de moins " + than(best.Name) + ", sans rien payer."
}

// priced ends a sentence with the price of a tool: per month if that can be said.
func priced(t *catalog.Tool) string {
	euros, ok := catalog.Monthly(t.Pricing, t.Price)
	switch {
	case !catalog.IsPublic(t.Pricing, t.Price):
		return ""
	case !ok:
		return ", pour " + chart.PriceOf(t, t.Pricing, t.Price)
	case euros == 0:
		return ", et gratuit"
	}
	return ", pour " + chart.PerMonth(t)
}

// than writes que before a name, with the elision before a vowel.
func than(name string) string { return elided("qu", name) }

// of writes de before a name, with the elision before a vowel.
func of(name string) string { return elided("d", name) }

func elided(word, name string) string {
	first, _ := utf8.DecodeRuneInString(name)
	if strings.ContainsRune("aeiouyâàéèêëîïôöûüœ", unicode.ToLower(first)) {
		return word + "’" + name
	}
	return word + "e " + name
}

// points formats a difference of scores: 0,4 point, 2,1 points.
func points(difference float64) string {
	noun := "point"
	if math.Round(difference*100) >= 200 {
		noun = "points"
	}
	return french.Figure(difference) + french.Space + noun
}
