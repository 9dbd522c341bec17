package site

import (
	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// categoryPage is the home of one category.
type categoryPage struct {
	Page     page
	Category catalog.CategoryItem
	Rows     []toolRow
	More     bool // than the rows shown
	Matches  []match
	Graves   []grave
	Others   []catalog.CategoryItem
}

// What a category shows of each kind; the lists have the rest.
const (
	categoryTools   = 50
	categoryMatches = 6
	categoryGraves  = 6
)

func (s *Site) showCategory(r *request) (*answer, error) {
	slug := r.PathValue("slug")
	v := categoryPage{}
	for _, c := range r.categories {
		if c.Slug == slug {
			v.Category = c
		} else {
			v.Others = append(v.Others, c)
		}
	}
	if v.Category.Slug == "" {
		return nil, notFound("Cette catégorie n’existe pas.")
	}
	list := r.snap.Tools(snapshot.ToolQuery{Category: slug}, snapshot.Paging{Number: 1, Limit: categoryTools})
	v.Rows, v.More = r.rows(list.IDs()), list.Total > categoryTools
	v.Matches = r.matchList(r.snap.Comparisons(slug, snapshot.Paging{Number: 1, Limit: categoryMatches}).IDs())
	v.Graves = r.graveList(r.snap.Retired(slug, "", snapshot.Paging{Number: 1, Limit: categoryGraves}).IDs())
	description := "Les outils d’IA de la catégorie «\u00a0" + v.Category.Label + "\u00a0», classés par note\u00a0: " + plural(v.Category.ToolCount, "outil", "outils") + "."
	v.Page = s.page(r, v.Category.Label, description, "/categories/"+slug)
	v.Page.Linked = r.linkedTools(v.Rows, 1)
	return render(r, "category", v.Page, v), nil
}
