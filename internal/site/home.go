package site

import (
	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// homePage is the door of the site.
type homePage struct {
	page
	Stats      catalog.Stats
	Best       []toolRow
	Changes    []change
	Categories []categoryCard
	Feature    *feature // nil without a comparison
	Matches    []match  // those before it
}

// A feature is the comparison that the page opens with.
type feature struct {
	match
	Sides [2]side
}

// A categoryCard is a category with its best tool.
type categoryCard struct {
	catalog.CategoryItem
	Best *catalog.Tool // nil when none is tested
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
		v.Feature, v.Matches = &feature{latest[0], r.sides(latest[0])}, latest[1:]
	}
	for _, c := range r.categories {
		card := categoryCard{CategoryItem: c}
		for _, i := range r.snap.Tools(snapshot.ToolQuery{Category: c.Slug}, whole(1)).IDs() {
			if t := &r.snap.Catalog.Tools[i]; t.Score != nil {
				card.Best = t
			}
		}
		v.Categories = append(v.Categories, card)
	}
	v.page = s.page(r, "", "Des outils d’IA essayés, notés et suivis\u00a0: avis, comparatifs, prix en euros et leur histoire, outils disparus.", "/")
	v.Linked = r.linkedTools(v.Best, 1)
	return render("home", v), nil
}
