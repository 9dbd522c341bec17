package site

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// obituaryPage is the page of one retired tool. Each part is there only if it is known.
type obituaryPage struct {
	Tool         retiredTool
	Why          string // what its reason means
	Score        string // the last one
	Rank         string // CSS class of the score
	Price        string // the last one
	Leaving      string
	Sources      []source
	History      []pastChange
	Alternatives []alternative
	Compare      string // the address that compares them; "" if there are too few
	Data         string // the address of the record; "" if it is not given away
}

// A pastChange is a line of the history of a retired tool.
type pastChange struct{ Date, What, Before, After, Note string }

func (s *Site) showRetired(r *request) (*response, error) {
	t := r.snap.RetiredTool(r.PathValue("slug"))
	if t == nil {
		living, elsewhere, err := r.tool("/outils/")
		if living != nil {
			return redirect(r.sameForm("/outils/"+living.Slug), r.URL.RawQuery), nil
		}
		return elsewhere, err
	}
	was := &catalog.Tool{Score: t.LastScore, Price: t.LastPrice}
	if past := r.snap.Catalog.Past[t.Slug]; past != nil && past.Price == t.LastPrice {
		was.PriceDisplay = past.PriceDisplay
	}
	data := obituaryPage{
		Tool: r.retiredTool(t), Why: reasonTexts[t.Reason], Leaving: markdown.NoBreak(t.Leaving),
		Price: shownPrice(was), History: history(t, was), Sources: each(t.Sources, newSource),
	}
	data.Tool.Note = r.Text("cimetiere", t.Body, "")
	if t.LastScore != nil {
		data.Score, data.Rank = french.Figure(*t.LastScore), gradeOf(*t.LastScore).class
	}
	// What can take its place, besides the successor, which the page names itself.
	var slugs []string
	for _, other := range r.snap.Replacements(t, toolAlternatives+1) {
		if other.Slug == t.Successor || len(data.Alternatives) == toolAlternatives {
			continue
		}
		var differences []string
		if t.LastScore != nil {
			differences = append(differences, scoreDifference(was, other))
		}
		if d := priceDifference(was, other); d != "" {
			differences = append(differences, d)
		}
		data.Alternatives = append(data.Alternatives, alternative{Row: r.row(other), Differences: differences})
		slugs = append(slugs, other.Slug)
	}
	if len(slugs) > 1 {
		data.Compare = comparePath + "?outils=" + strings.Join(slugs, ",")
	}
	if r.snap.Catalog.HasDataset() {
		data.Data = "/data/v1/records/cimetiere?slug=" + t.Slug
	}
	p := s.page(r, t.Name+"\u00a0: outil disparu", t.Name+" a quitté le catalogue le "+french.Date(t.RetiredAt)+
		"\u00a0: ce qui s’est passé, et par quoi le remplacer.", catalog.RetiredKind.Address+t.Slug)
	p.Draft, p.Article, p.Feed = r.mark(t.Draft, "cimetiere/"+t.Slug), true, feedOf("/outils/"+t.Slug, t.Name)
	p.JSONLD = []object{
		r.jsonldObituary(t), r.crumbs(link{"/cimetiere", "Cimetière"}, t.Category, t.Name, p.Canonical),
	}
	return render(r, "obituary", p, data), nil
}

// history returns what is known of the life of a retired tool, newest first.
func history(t *catalog.Retired, was *catalog.Tool) []pastChange {
	list := []pastChange{{Date: t.RetiredAt, What: "Quitte le catalogue", After: reasonNames[t.Reason]}}
	for i := range t.PriceHistory {
		e := &t.PriceHistory[i]
		before, after := chart.PricesOf(was, e)
		list = append(list, pastChange{Date: e.ChangedAt, What: "Prix", Before: before, After: after})
	}
	for _, e := range t.ScoreHistory {
		if e.ChangesScore() {
			list = append(list, pastChange{e.ChangedAt, "Note", figure(e.OldScore), figure(e.NewScore), markdown.NoBreak(e.Note)})
		}
	}
	slices.SortStableFunc(list, func(a, b pastChange) int { return cmp.Compare(b.Date, a.Date) })
	return list
}
