package site

import (
	"cmp"
	"slices"
	"strconv"

	"palmares/internal/catalog"
)

// A change is something that happened to the catalogue, told from the catalogue
// alone: the day a record was last updated, its price history, its retirement.
type change struct {
	Date  string
	Kind  string // one word for the reader
	Title string
	Path  string // where it can be seen
	id    string // unlike that of any other change, for feeds
}

// The kinds, in the order in which those of one day are told.
const (
	kindRetired    = "Cimetière"
	kindPrice      = "Prix"
	kindComparison = "Comparatif"
	kindTool       = "Fiche"
)

var kindOrder = map[string]int{kindRetired: 0, kindPrice: 1, kindComparison: 2, kindTool: 3}

// maxChanges is how many are kept: what a feed reader that comes once a week
// should not miss.
const maxChanges = 60

// latestChanges finds the newest changes of a catalogue. First only days are
// looked at, to find the one from which on there are enough: words are made for
// those few.
func (e *edition) latestChanges() []change {
	var days []string
	e.eachChange(func(day string, _ func() change) { days = append(days, day) })
	slices.Sort(days)
	since := ""
	if n := len(days); n > maxChanges {
		since = days[n-maxChanges]
	}
	// A catalogue published in one go has all its changes on one day; of those
	// some will do.
	var list []change
	e.eachChange(func(day string, tell func() change) {
		if day > since || day == since && len(list) < 4*maxChanges {
			list = append(list, tell())
		}
	})
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]), cmp.Compare(a.id, b.id))
	})
	return list[:min(len(list), maxChanges)]
}

// eachChange visits every change; the words for one are made only when they are
// wanted.
func (e *edition) eachChange(visit func(day string, tell func() change)) {
	c := e.snap.Catalog
	for i := range c.Retired {
		r := &c.Retired[i]
		visit(r.RetiredAt, func() change {
			return change{r.RetiredAt, kindRetired, r.Name + " quitte le catalogue\u00a0: " + reasonNames[r.Reason], e.obituary(r.Slug), "retrait-" + r.Slug}
		})
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if x.Published {
			visit(x.UpdatedAt, func() change {
				return change{x.UpdatedAt, kindComparison, nobreak(x.Title), "/comparatifs/" + x.Slug, "comparatif-" + x.Slug}
			})
		}
	}
	for i := range c.Tools {
		t := &c.Tools[i]
		repriced := false
		for n, p := range t.PriceHistory {
			repriced = repriced || p.ChangedAt == t.UpdatedAt
			visit(p.ChangedAt, func() change {
				return change{p.ChangedAt, kindPrice, t.Name + "\u00a0: " + repricing(p), "/outils/" + t.Slug, "prix-" + t.Slug + "-" + strconv.Itoa(len(t.PriceHistory)-n)}
			})
		}
		if !repriced { // else it has been told
			visit(t.UpdatedAt, func() change {
				title := t.Name + "\u00a0: fiche mise à jour"
				if t.Score != nil {
					title += ", " + figure(*t.Score) + "/10"
				}
				return change{t.UpdatedAt, kindTool, title, "/outils/" + t.Slug, "fiche-" + t.Slug}
			})
		}
	}
}

// repricing says how a price changed.
func repricing(p catalog.PriceChange) string {
	switch {
	case p.OldPrice == p.NewPrice && p.OldPricing != p.NewPricing:
		return "de " + string(p.OldPricing) + " à " + string(p.NewPricing) + ", toujours " + price(p.NewPrice)
	case p.OldPricing != p.NewPricing:
		return price(p.OldPrice) + " (" + string(p.OldPricing) + ") → " + price(p.NewPrice) + " (" + string(p.NewPricing) + ")"
	}
	return price(p.OldPrice) + " → " + price(p.NewPrice)
}
