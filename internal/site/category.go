package site

import (
	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/snapshot"
)

type categoryPage struct {
	Page        page
	Category    catalog.CategoryItem
	Rows        []toolRow
	More        bool // tools than Rows
	Comparisons []comparisonRow
	Retired     []retiredTool
	Others      []catalog.CategoryItem
}

// How many of each a category page shows; the lists have the rest.
const (
	categoryTools       = 50
	categoryComparisons = 6
	categoryRetired     = 6
)

func (s *Site) showCategory(r *request) (*answer, error) {
	slug := r.PathValue("slug")
	data := categoryPage{}
	for _, c := range r.categories {
		if c.Slug == slug {
			data.Category = c
		} else {
			data.Others = append(data.Others, c)
		}
	}
	if data.Category.Slug == "" {
		return nil, notFound("Cette catégorie n’existe pas.")
	}
	list := r.snap.Tools(snapshot.ToolQuery{Category: slug}, firstItems(categoryTools))
	data.Rows, data.More = r.rows(list.IDs()), list.Total > categoryTools
	data.Comparisons = r.comparisonRows(r.snap.Comparisons(slug, firstItems(categoryComparisons)).IDs())
	data.Retired = r.retiredTools(r.snap.Retired(slug, "", firstItems(categoryRetired)).IDs())
	description := "Les outils d’IA de la catégorie «\u00a0" + data.Category.Label + "\u00a0», classés par note\u00a0: " + french.Plural(data.Category.ToolCount, "outil", "outils") + "."
	data.Page = s.page(r, data.Category.Label, description, "/categories/"+slug)
	data.Page.JSONLD = r.jsonldTools(data.Rows, 1)
	return render(r, "category", data.Page, data), nil
}
