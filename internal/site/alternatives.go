package site

import (
	"cmp"
	"math"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/french"
)

type alternativesPage struct {
	Tool         toolRow
	Alternatives []alternative
	More         bool
}

// An alternative is another tool of the same category and how it differs.
type alternative struct {
	Row         toolRow
	Differences []string
	Comparison  string // slug of the comparison of the two; "" for none
}

// maxAlternatives is enough to choose from; the category page has them all.
const maxAlternatives = 20

func (s *Site) showAlternatives(r *request) (*response, error) {
	t, redirect, err := r.tool("/alternatives/")
	if t == nil {
		return redirect, err
	}
	data := alternativesPage{Tool: r.row(t)}
	data.Alternatives, data.More = r.alternatives(t, maxAlternatives)
	p := s.page(r, "Alternatives à "+t.Name, "Les outils qui peuvent remplacer "+t.Name+", classés par note, "+
		"avec ce qui les distingue.", "/alternatives/"+t.Slug)
	p.Canonical = r.snap.Catalog.AlternativesURLOf(t)
	p.JSONLD = r.jsonldTools(each(data.Alternatives, func(a alternative) toolRow { return a.Row }), 1)
	return render(r, "alternatives", p, data), nil
}

// Alternatives returns the best other tools of the same category, at most so many.
func (t *toolRow) Alternatives(most int) []alternative {
	list, _ := t.view.alternatives(t.Tool, most)
	return list
}

// alternatives returns the best other tools of the same category, limit at most,
// and whether there are more.
func (v *view) alternatives(t *catalog.Tool, limit int) (list []alternative, more bool) {
	others, more := v.snap.Alternatives(t, limit)
	return each(others, func(other *catalog.Tool) alternative {
		return alternative{Row: v.row(other), Differences: v.words.differences(t, other), Comparison: v.comparisonOf(t, other)}
	}), more
}

// comparisonOf returns the slug of the newest comparison of two tools, or "".
func (v *view) comparisonOf(a, b *catalog.Tool) string {
	for _, x := range v.comparisons[a.Slug] {
		if x.ToolA == b.Slug || x.ToolB == b.Slug {
			return x.Slug
		}
	}
	return ""
}

// differences describes how other differs from t, most important first.
func (w *words) differences(t, other *catalog.Tool) []string {
	var list []string
	add := func(s string) {
		if s != "" {
			list = append(list, s)
		}
	}
	add(scoreDifference(t, other))
	add(priceDifference(t, other))
	if t.Pricing != other.Pricing {
		add(french.Capital(string(other.Pricing)) + " plutôt que " + string(t.Pricing))
	}
	add(w.audienceDifference(t.ICP, other.ICP))
	own := w.own.Verifiability
	add(measureDifference(t.Verifiability, other.Verifiability, cmp.Or(own, "Plus facile à vérifier"), cmp.Or(own, "Moins facile à vérifier")))
	own = w.own.Obsolescence
	if own != "" {
		own += ", où moins vaut mieux"
	}
	add(measureDifference(t.Obsolescence, other.Obsolescence, cmp.Or(own, "Plus menacé d’obsolescence"), cmp.Or(own, "Moins menacé d’obsolescence")))
	return list
}

func scoreDifference(t, other *catalog.Tool) string {
	switch {
	case other.Score == nil && t.Score == nil:
		return ""
	case other.Score == nil:
		return "Pas encore testé"
	case t.Score == nil:
		return "Testé, lui\u00a0: " + french.Figure(*other.Score) + "/10"
	}
	d := math.Round((*other.Score-*t.Score)*100) / 100
	points := " point"
	if math.Abs(d) >= 2 {
		points = " points"
	}
	switch {
	case d > 0:
		return "Mieux noté de " + french.Figure(d) + points
	case d < 0:
		return "Moins bien noté de " + french.Figure(-d) + points
	}
	return "Même note"
}

func priceDifference(t, other *catalog.Tool) string {
	a, period, okA := catalog.Amount(t.Price)
	b, otherPeriod, okB := catalog.Amount(other.Price)
	switch {
	case !okA || !okB:
		return ""
	case t.PriceDisplay != "" || other.PriceDisplay != "" || // more than one amount
		!catalog.IsPublic(t.Pricing, t.Price) || !catalog.IsPublic(other.Pricing, other.Price):
		mine, its := shownPrice(t), shownPrice(other)
		if mine == its {
			return ""
		}
		return its + " contre " + inside(mine)
	case a == 0 && b == 0:
		return ""
	case b == 0:
		return "Ne coûte rien, contre " + french.Price(t.Price)
	case a == 0:
		return "Coûte " + french.Price(other.Price) + " au lieu de rien"
	case period != otherPeriod:
		return french.Price(other.Price) + " contre " + french.Price(t.Price)
	case b < a:
		return "Moins cher de " + french.Euros(a-b) + "/" + period
	case b > a:
		return "Plus cher de " + french.Euros(b-a) + "/" + period
	}
	return "Même prix"
}

// inside returns what begins a sentence, such as « Sur devis », as it is written inside one.
func inside(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	next, _ := utf8.DecodeRuneInString(text[size:])
	if !unicode.IsLower(next) { // not a word: IA
		return text
	}
	return string(unicode.ToLower(first)) + text[size:]
}

// measureDifference describes a difference of a point or more; less means nothing.
func measureDifference(mine, other *float64, more, less string) string {
	if mine == nil || other == nil || math.Abs(*mine-*other) < 1 {
		return ""
	}
	word := more
	if *other < *mine {
		word = less
	}
	return word + " (" + french.Figure(*other) + " contre " + french.Figure(*mine) + ")"
}
