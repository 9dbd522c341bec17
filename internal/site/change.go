package site

import (
	"cmp"
	"slices"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// A change is something that happened to the catalogue, as its records tell: the
// day one was last updated, its price history, its retirement.
type change struct {
	Date  string
	Kind  string // shown to visitors
	Title string
	Path  string
	id    string // unique, for the feed
}

// The kinds.
const (
	kindRetired    = "Cimetière"
	kindPrice      = "Prix"
	kindComparison = "Comparatif"
	kindTool       = "Fiche"
)

// kindOrder sorts the changes of one day.
var kindOrder = map[string]int{kindRetired: 0, kindPrice: 1, kindComparison: 2, kindTool: 3}

// maxChanges is how many are kept: enough for a feed reader that polls once a week.
const maxChanges = 60

// latestChanges returns the newest changes. A first pass reads only their days, to
// find the day since when there are enough; only those are then described.
func (v *view) latestChanges() []change {
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
			return change{r.RetiredAt, kindRetired, r.Name + " quitte le catalogue\u00a0: " + reasonNames[r.Reason], v.retiredHref(r.Slug), "retrait-" + r.Slug}
		})
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if x.Published {
			visit(x.UpdatedAt, func() change {
				return change{x.UpdatedAt, kindComparison, markdown.NoBreak(x.Title), "/comparatifs/" + x.Slug, "comparatif-" + x.Slug}
			})
		}
	}
	for i := range c.Tools {
		t := &c.Tools[i]
		repriced := false
		for n, p := range t.PriceHistory {
			repriced = repriced || p.ChangedAt == t.UpdatedAt
			visit(p.ChangedAt, func() change {
				return change{p.ChangedAt, kindPrice, t.Name + "\u00a0: " + describePriceChange(p), "/outils/" + t.Slug, "prix-" + t.Slug + "-" + strconv.Itoa(len(t.PriceHistory)-n)}
			})
		}
		if !repriced { // else the price change says so
			visit(t.UpdatedAt, func() change {
				title := t.Name + "\u00a0: fiche mise à jour"
				if t.Score != nil {
					title += ", " + french.Figure(*t.Score) + "/10"
				}
				return change{t.UpdatedAt, kindTool, title, "/outils/" + t.Slug, "fiche-" + t.Slug}
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
