package site

import (
	"cmp"
	"slices"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// A change is something that happened to the catalogue, as its records or its events
// tell.
type change struct {
	Date    string // YYYY-MM-DD
	Kind    string // shown to visitors
	Title   string
	Path    string
	id      string // unique, for the feed
	summary string // what changed, old → new; "" if the title says it
	time    string // RFC 3339; "" if only the day is known
	record  any    // that tells the change; nil for an event
	authors []string
	in      []string // categories
}

// The kinds.
const (
	kindNew        = "Nouvel outil"
	kindReturned   = "De retour"
	kindRetired    = "Retiré"
	kindPrice      = "Prix"
	kindScore      = "Note"
	kindComparison = "Comparatif"
	kindTool       = "Fiche"
)

// kindOrder sorts the changes of one day.
var kindOrder = map[string]int{kindRetired: 0, kindPrice: 1, kindScore: 2, kindComparison: 3, kindTool: 4}

// maxChanges is how many are kept: enough for a feed reader that polls once a week.
const maxChanges = 60

// categoriesOf returns the categories of the two tools of a comparison.
func (v *view) categoriesOf(x *catalog.Comparison) []string {
	a, b := v.snap.Catalog.Tool(x.ToolA).Category, v.snap.Catalog.Tool(x.ToolB).Category
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// recordChanges returns the newest changes that the records tell: their dates and
// histories. They are the same wherever the catalogue is published, which events are
// not. A first pass over the records reads only their days, to find the day since when
// there are enough; only those are then described.
func (v *view) recordChanges() []change {
	var days []string
	v.eachChange(func(day string, _ func() change) { days = append(days, day) })
	slices.Sort(days)
	since := ""
	if n := len(days); n > maxChanges {
		since = days[n-maxChanges]
	}
	// A catalogue published all at once has all its changes on one day; some of
	// them are enough.
	var list []change
	v.eachChange(func(day string, describe func() change) {
		if day > since || day == since && len(list) < 4*maxChanges {
			list = append(list, describe())
		}
	})
	slices.SortStableFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]))
	})
	return list[:min(len(list), maxChanges)]
}

// eachChange calls visit for every change. Describing one is left to visit, because
// few are needed.
func (v *view) eachChange(visit func(day string, describe func() change)) {
	c := v.snap.Catalog
	for i := range c.Retired {
		r := &c.Retired[i]
		visit(r.RetiredAt, func() change {
			return change{
				Date: r.RetiredAt, Kind: kindRetired, Title: r.Name + " quitte le catalogue\u00a0: " + reasonNames[r.Reason],
				Path: v.retiredHref(r.Slug), id: "retrait-" + r.Slug, record: r, in: []string{r.Category},
			}
		})
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if x.Published {
			visit(x.UpdatedAt, func() change {
				return change{
					Date: x.UpdatedAt, Kind: kindComparison, Title: markdown.NoBreak(x.Title),
					Path: "/comparatifs/" + x.Slug, id: "comparatif-" + x.Slug, record: x, authors: x.Authors, in: v.categoriesOf(x),
				}
			})
		}
	}
	for i := range c.Tools {
		eachToolChange(&c.Tools[i], visit)
	}
}

func eachToolChange(t *catalog.Tool, visit func(day string, describe func() change)) {
	told := false // by a history, and not again as an update of the tool
	tell := func(day, kind, id string, n int, record any, title func() string) {
		visit(day, func() change {
			return change{
				Date: day, Kind: kind, Title: t.Name + "\u00a0: " + title(), Path: "/outils/" + t.Slug,
				id: id + t.Slug + "-" + strconv.Itoa(n), record: record, authors: t.Authors, in: []string{t.Category},
			}
		})
	}
	for i := range t.PriceHistory {
		p := &t.PriceHistory[i]
		told = told || p.ChangedAt == t.UpdatedAt
		tell(p.ChangedAt, kindPrice, "prix-", len(t.PriceHistory)-i, p, func() string { return describePriceChange(*p) })
	}
	for i := range t.ScoreHistory {
		s := &t.ScoreHistory[i]
		if sameFigure(s.OldScore, s.NewScore) {
			continue
		}
		told = told || s.ChangedAt == t.UpdatedAt
		tell(s.ChangedAt, kindScore, "note-", len(t.ScoreHistory)-i, s, func() string {
			return "note " + figure(s.OldScore) + " → " + figure(s.NewScore)
		})
	}
	if !told {
		tell(t.UpdatedAt, kindTool, "fiche-", 0, t, func() string {
			if t.Score == nil {
				return "fiche mise à jour"
			}
			return "fiche mise à jour, " + french.Figure(*t.Score) + "/10"
		})
	}
}

// describePriceChange describes a price change.
func describePriceChange(p catalog.PriceChange) string {
	switch {
	case p.OldPrice == p.NewPrice && p.OldPricing != p.NewPricing:
		return "de " + string(p.OldPricing) + " à " + string(p.NewPricing) + ", toujours " + french.Price(p.NewPrice)
	case p.OldPricing != p.NewPricing:
		return french.Price(p.OldPrice) + " (" + string(p.OldPricing) + ") → " + french.Price(p.NewPrice) + " (" + string(p.NewPricing) + ")"
	}
	return french.Price(p.OldPrice) + " → " + french.Price(p.NewPrice)
}
