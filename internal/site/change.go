package site

import (
	"cmp"
	"slices"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// A change is something that happened to the catalogue: as its events tell, or, for
// one that has none because it is not stored, its records.
type change struct {
	Date    string // YYYY-MM-DD
	Kind    string // shown to visitors
	Title   string
	Path    string
	id      string // unique, for the feed
	summary string // what changed, old → new; "" if the title says it
	time    string // RFC 3339; "" if only the day is known
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
var kindOrder = map[string]int{kindRetired: 0, kindPrice: 1, kindComparison: 2, kindTool: 3}

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

// latestChanges returns the newest changes, from the events if there are any. A first pass
// over the records reads only their days, to
// find the day since when there are enough; only those are then described.
func (v *view) latestChanges() []change {
	if v.snap.Events != nil {
		return v.eventChanges()
	}
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
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]), cmp.Compare(a.id, b.id))
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
				Path: v.retiredHref(r.Slug), id: "retrait-" + r.Slug, in: []string{r.Category},
			}
		})
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if x.Published {
			visit(x.UpdatedAt, func() change {
				return change{
					Date: x.UpdatedAt, Kind: kindComparison, Title: markdown.NoBreak(x.Title),
					Path: "/comparatifs/" + x.Slug, id: "comparatif-" + x.Slug, authors: x.Authors, in: v.categoriesOf(x),
				}
			})
		}
	}
	for i := range c.Tools {
		t := &c.Tools[i]
		repriced := false
		for n, p := range t.PriceHistory {
			repriced = repriced || p.ChangedAt == t.UpdatedAt
			visit(p.ChangedAt, func() change {
				return change{
					Date: p.ChangedAt, Kind: kindPrice, Title: t.Name + "\u00a0: " + describePriceChange(p),
					Path: "/outils/" + t.Slug, id: "prix-" + t.Slug + "-" + strconv.Itoa(len(t.PriceHistory)-n), authors: t.Authors, in: []string{t.Category},
				}
			})
		}
		if !repriced { // else the price change says so
			visit(t.UpdatedAt, func() change {
				title := t.Name + "\u00a0: fiche mise à jour"
				if t.Score != nil {
					title += ", " + french.Figure(*t.Score) + "/10"
				}
				return change{Date: t.UpdatedAt, Kind: kindTool, Title: title, Path: "/outils/" + t.Slug, id: "fiche-" + t.Slug, authors: t.Authors, in: []string{t.Category}}
			})
		}
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
