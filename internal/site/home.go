package site

import (
	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// homePage is the door of the site.
type homePage struct {
	Page       page
	Stats      catalog.Stats
	Best       []toolRow
	Changes    []change
	Categories []categoryCard
	Feature    *match  // the newest, nil without one
	Matches    []match // those before it
}

// A categoryCard is a category with its best tool.
type categoryCard struct {
	Category catalog.CategoryItem
	Best     *toolRow // nil when none is tested
}

// What the home page shows of each kind.
const (
	homeTools   = 7
	homeChanges = 9
	homeMatches = 3
)

func (s *Site) home(r *request) (*answer, error) {
	v := homePage{
		Stats:   r.stats,
		Best:    r.rows(r.snap.Tools(snapshot.ToolQuery{}, snapshot.Paging{Number: 1, Limit: homeTools}).IDs()),
		Changes: r.changes[:min(len(r.changes), homeChanges)],
	}
	if latest := r.matchList(r.snap.Comparisons("", snapshot.Paging{Number: 1, Limit: 1 + homeMatches}).IDs()); len(latest) > 0 {
		v.Feature, v.Matches = &latest[0], latest[1:]
	}
	for _, c := range r.categories {
		card := categoryCard{Category: c}
		for _, i := range r.snap.Tools(snapshot.ToolQuery{Category: c.Slug}, whole(1)).IDs() {
			if best := r.row(&r.snap.Catalog.Tools[i]); best.Score != "" {
				card.Best = &best
			}
		}
		v.Categories = append(v.Categories, card)
	}
	v.Page = s.page(r, "", "Des outils d’IA essayés, notés et suivis\u00a0: avis, comparatifs, prix en euros et leur histoire, outils disparus.", "/")
	v.Page.Linked = r.linkedTools(v.Best, 1)
	return render(r, "home", v.Page, v), nil
}
