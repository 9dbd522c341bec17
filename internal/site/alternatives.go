package site

import (
	"math"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// alternativesPage lists what could replace a tool.
type alternativesPage struct {
	Page   page
	Tool   toolRow
	Rivals []rival
	Rank   int  // of the tool in its category, 0 when it has no score
	Tied   bool // others have the same score
	Count  int  // tools in the category
	More   bool
}

// A rival is a tool of the same category with what sets it apart.
type rival struct {
	Row         toolRow
	Differences []string
	Match       string // slug of the comparison that sets the two against each other, "" for none
}

// alternativesShown is enough to choose from; the category has them all.
const alternativesShown = 20

func (s *Site) showAlternatives(r *request) (*answer, error) {
	t, elsewhere, err := r.tool("/alternatives/")
	if t == nil {
		return elsewhere, err
	}
	v := alternativesPage{Tool: r.row(t)}
	v.Rivals, v.More = r.rivals(t, alternativesShown)
	if t.Score != nil {
		atLeast := func(score float64) int {
			return r.snap.Tools(snapshot.ToolQuery{Category: t.Category, ScoreMin: &score}, whole(1)).Total
		}
		v.Rank = 1 + atLeast(math.Nextafter(*t.Score, math.Inf(1)))
		v.Tied = atLeast(*t.Score) > v.Rank
	}
	v.Count = r.snap.Tools(snapshot.ToolQuery{Category: t.Category}, whole(1)).Total
	v.Page = s.page(r, "Alternatives à "+t.Name, "Les outils qui peuvent remplacer "+t.Name+", classés par note, avec ce qui les distingue.", "/alternatives/"+t.Slug)
	v.Page.Canonical = r.snap.Catalog.AlternativesURLOf(t)
	rows := make([]toolRow, len(v.Rivals))
	for i := range v.Rivals {
		rows[i] = v.Rivals[i].Row
	}
	if linked := r.linkedTools(rows, 1); linked != nil {
		v.Page.Linked = linked
	}
	return render(r, "alternatives", v.Page, v), nil
}

// rivals are the best other tools of the same category, and whether there are more.
func (e *edition) rivals(t *catalog.Tool, most int) (list []rival, more bool) {
	page := e.snap.Tools(snapshot.ToolQuery{Category: t.Category}, snapshot.Paging{Number: 1, Limit: most + 1})
	for _, i := range page.IDs() {
		other := &e.snap.Catalog.Tools[i]
		if other == t || len(list) == most {
			continue
		}
		list = append(list, rival{Row: e.row(other), Differences: differences(t, other), Match: e.match(t, other)})
	}
	return list, page.Total-1 > len(list)
}

// match is the newest published comparison of two tools; "" when there is none.
func (e *edition) match(a, b *catalog.Tool) string {
	for _, x := range e.matches[a.Slug] {
		if x.ToolA == b.Slug || x.ToolB == b.Slug {
			return x.Slug
		}
	}
	return ""
}

// differences says in words what sets other apart from t, the weightiest first.
func differences(t, other *catalog.Tool) []string {
	var list []string
	add := func(s string) {
		if s != "" {
			list = append(list, s)
		}
	}
	add(scoreDifference(t, other))
	add(priceDifference(t, other))
	if t.Pricing != other.Pricing {
		add(capital(string(other.Pricing)) + " plutôt que " + string(t.Pricing))
	}
	switch {
	case t.ICP == other.ICP:
	case other.ICP == "mixte":
		add("Vise les deux profils")
	case t.ICP == "mixte":
		add("Vise les seuls " + readerWords[other.ICP])
	default:
		add("Vise les " + readerWords[other.ICP] + " plutôt que les " + readerWords[t.ICP])
	}
	add(measureDifference(t.Verifiability, other.Verifiability, "Plus facile à vérifier", "Moins facile à vérifier"))
	add(measureDifference(t.Obsolescence, other.Obsolescence, "Plus menacé d’obsolescence", "Moins menacé d’obsolescence"))
	return list
}

func scoreDifference(t, other *catalog.Tool) string {
	switch {
	case other.Score == nil && t.Score == nil:
		return ""
	case other.Score == nil:
		return "Pas encore testé"
	case t.Score == nil:
		return "Testé, lui\u00a0: " + figure(*other.Score) + "/10"
	}
	d := math.Round((*other.Score-*t.Score)*100) / 100
	points := " point"
	if math.Abs(d) >= 2 {
		points = " points"
	}
	switch {
	case d > 0:
		return "Mieux noté de " + figure(d) + points
	case d < 0:
		return "Moins bien noté de " + figure(-d) + points
	}
	return "Même note"
}

func priceDifference(t, other *catalog.Tool) string {
	a, okA := parsePrice(t.Price)
	b, okB := parsePrice(other.Price)
	switch {
	case !okA || !okB:
		return ""
	case a.euros == 0 && b.euros == 0:
		return ""
	case b.euros == 0:
		return "Ne coûte rien, contre " + price(t.Price)
	case a.euros == 0:
		return "Coûte " + price(other.Price) + " au lieu de rien"
	case a.period != b.period:
		return price(other.Price) + " contre " + price(t.Price)
	case b.euros < a.euros:
		return "Moins cher de " + euros(a.euros-b.euros) + "/" + a.period
	case b.euros > a.euros:
		return "Plus cher de " + euros(b.euros-a.euros) + "/" + a.period
	}
	return "Même prix"
}

// measureDifference speaks of a gap of a whole point or more: less says nothing.
func measureDifference(mine, others *float64, more, less string) string {
	if mine == nil || others == nil || math.Abs(*mine-*others) < 1 {
		return ""
	}
	word := more
	if *others < *mine {
		word = less
	}
	return word + " (" + figure(*others) + " contre " + figure(*mine) + ")"
}
