package site

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/record"
)

// A change is something that happened to the catalogue, as its records or its events
// tell.
type change struct {
	Date    string // YYYY-MM-DD
	Kind    string // shown to visitors
	Title   string
	Path    string
	id      string // for the feeds: a URN, or a name in the feed of all changes, the same in every feed and for good
	summary string // what changed, old → new; "" if the title says it
	time    string // RFC 3339; "" if only the day is known
	since   string // RFC 3339, the day of an article that was published; "" for all others
	authors []string
	in      []string // categories
	tools   []string // slugs of the tools that it is about
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
	kindArticle    = "Article"
	kindSponsored  = "Article sponsorisé"
	kindReview     = "Avis"
	kindPage       = "Page"
	kindCorrection = "Correction" // only in mails
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
	latest := v.snap.LatestTools(maxChanges) // no other change can be among the newest
	count := map[string]int{}                // by day
	v.eachChange(latest, func(day string) bool { count[day]++; return false }, nil)
	days := slices.Sorted(maps.Keys(count))
	since := ""
	for enough := 0; len(days) > 0 && enough < maxChanges; days = days[:len(days)-1] {
		since = days[len(days)-1]
		enough += count[since]
	}
	// A catalogue published all at once has all its changes on one day; some of
	// them are enough.
	var list []change
	v.eachChange(latest,
		func(day string) bool { return day > since || day == since && len(list) < 4*maxChanges },
		func(ch change) { list = append(list, ch) })
	slices.SortStableFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]))
	})
	return list[:min(len(list), maxChanges)]
}

// eachChange asks for every change of the retired tools, comparisons and articles and of some tools
// whether it is wanted, by its day, and adds it if it is.
func (v *view) eachChange(tools []*catalog.Tool, wants func(day string) bool, add func(change)) {
	c := v.snap.Catalog
	for i := range c.Retired {
		if r := &c.Retired[i]; wants(v.happened(record.Retired, r.Slug, r.RetiredAt)) {
			add(v.retirement(r))
		}
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		day := v.happened(record.Comparison, x.Slug, x.UpdatedAt)
		if x.Published && wants(day) {
			add(change{
				Date: day, Kind: kindComparison, Title: markdown.NoBreak(x.Title),
				Path: "/comparatifs/" + x.Slug, id: dayID("comparatif", v.firstSlug(record.Comparison, x.Slug, x.Aliases), x.UpdatedAt), authors: x.Authors, in: v.categoriesOf(x),
				tools: []string{x.ToolA, x.ToolB},
			})
		}
	}
	for _, a := range v.articles {
		day := v.happened(record.Article, a.Slug, a.Date)
		if wants(day) {
			ch := change{Date: day, id: dayID("article", v.firstSlug(record.Article, a.Slug, a.Aliases), a.Date), in: []string{a.Category}}
			v.describeText(&catalog.Event{Type: catalog.ArticlePublished, Slug: a.Slug}, &ch)
			add(ch)
		}
	}
	for _, t := range tools {
		v.eachToolChange(t, wants, add)
	}
}

// happened returns the day of a change that a record tells. Editors may have dated it after the last change that the
// public saw of the record, which is then the day.
func (v *view) happened(kind record.Kind, slug, day string) string {
	seen := v.snap.Change(kind, slug)
	if seen == nil || day <= seen.At[:len(time.DateOnly)] {
		return day
	}
	at, _ := time.Parse(time.RFC3339, seen.At) // as FormatTime returned it
	return min(day, at.In(v.snap.Catalog.Zone()).Format(time.DateOnly))
}

// dayID returns the id of what happens at most once a day, whether its record or its events tell it.
func dayID(what, slug, day string) string { return what + "-" + slug + "-" + day }

// firstSlug returns the slug for the ids of a record, which stay when it is renamed: its first one, but none of a tool
// that it absorbed.
func (v *view) firstSlug(kind record.Kind, slug string, aliases []string) string {
	return v.snap.FirstSlug(kind, slug, slices.DeleteFunc(slices.Clone(aliases), func(alias string) bool {
		_, isAbsorbed := v.snap.Catalog.Past[alias]
		return isAbsorbed
	}))
}

func (v *view) retirement(r *catalog.Retired) change {
	return change{
		Date: v.happened(record.Retired, r.Slug, r.RetiredAt), Kind: kindRetired, Title: r.Name + " quitte le catalogue\u00a0: " + reasonNames[r.Reason],
		Path: retiredPath + r.Slug, id: dayID("retrait", r.Slug, r.RetiredAt), in: []string{r.Category}, tools: []string{r.Slug},
	}
}

func (v *view) eachToolChange(t *catalog.Tool, wants func(day string) bool, add func(change)) {
	told := false // by a history, and not again as an update of the tool
	first := v.firstSlug(record.Tool, t.Slug, t.Aliases)
	on := func(day string) string { return v.happened(record.Tool, t.Slug, day) }
	tell := func(day, kind, id, title string) {
		add(change{
			Date: on(day), Kind: kind, Title: t.Name + "\u00a0: " + title, Path: "/outils/" + t.Slug,
			id: dayID(id, first, day), authors: t.Authors, in: []string{t.Category},
			tools: []string{t.Slug},
		})
	}
	for i := range t.PriceHistory {
		p := &t.PriceHistory[i]
		told = told || p.ChangedAt == t.UpdatedAt
		if wants(on(p.ChangedAt)) && !p.IsConversion() {
			tell(p.ChangedAt, kindPrice, "prix", describePriceChange(t, p))
		}
	}
	for i := range t.ScoreHistory {
		s := &t.ScoreHistory[i]
		if !s.ChangesScore() {
			continue
		}
		told = told || s.ChangedAt == t.UpdatedAt
		if wants(on(s.ChangedAt)) {
			tell(s.ChangedAt, kindScore, "note", "note "+figure(s.OldScore)+" → "+figure(s.NewScore))
		}
	}
	if t.AddedAt != "" && wants(on(t.AddedAt)) {
		tell(t.AddedAt, kindNew, "nouveau", "nouvel outil")
	}
	if told || t.AddedAt == t.UpdatedAt || !wants(on(t.UpdatedAt)) {
		return
	}
	title := "fiche" // of the first version, which nothing else tells from an update
	if t.AddedAt != "" {
		title += " mise à jour"
	}
	if t.Score != nil {
		title += ", " + french.Figure(*t.Score) + "/10"
	}
	tell(t.UpdatedAt, kindTool, "fiche", title)
}

// prices is chart.PricesOf for templates.
func prices(t *catalog.Tool, p *catalog.PriceChange) [2]string {
	old, now := chart.PricesOf(t, p)
	return [2]string{old, now}
}

// describePriceChange describes a change of the price of a tool.
func describePriceChange(t *catalog.Tool, p *catalog.PriceChange) string {
	old, now := chart.PricesOf(t, p)
	switch {
	case old == now && p.OldPricing != p.NewPricing:
		return "de " + string(p.OldPricing) + " à " + string(p.NewPricing) + ", toujours " + now
	case p.OldPricing != p.NewPricing:
		return old + " (" + string(p.OldPricing) + ") → " + now + " (" + string(p.NewPricing) + ")"
	}
	return old + " → " + now
}
