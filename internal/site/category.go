package site

import (
	"html/template"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/snapshot"
)

type categoryPage struct {
	Page        page
	Category    catalog.CategoryItem
	Text        template.HTML // its description
	Body        string        // the same in Markdown
	Rows        []toolRow
	More        bool // tools than Rows
	Comparisons []comparisonRow
	Retired     []retiredTool
	RetiredAll  int // tools of which Retired has the newest
	Others      []catalog.CategoryItem
	Picks       []pick      // nil if no tool has a score
	Plot        *chart.Plot // nil if there is nothing to compare
	Frontier    []mapRow    // tools of the frontier that Plot does not name on every screen
	Off         int         // tools that are not on Plot
	JSON        string      // address of the data of Plot; "" if they are not given away
}

// How many of each a category page shows; the lists have the rest.
const (
	categoryTools       = 50
	categoryComparisons = 6
	categoryRetired     = 6
)

// unknownCategory returns the redirect to a category whose slug is written in another way, or a failure.
func (r *request) unknownCategory(slug string) (*response, error) {
	if _, ok := r.labels[slug]; ok && slug != r.PathValue("slug") {
		return redirect(r.sameForm("/categories/"+slug), r.URL.RawQuery), nil
	}
	f := notFound("Cette catégorie n’existe pas.")
	f.suggestNear(slug, func(yield func(string, link) bool) {
		for _, c := range r.categories {
			if !yield(c.Slug, link{"/categories/" + c.Slug, c.Label}) {
				return
			}
		}
	})
	return nil, f
}

func (s *Site) showCategory(r *request) (*response, error) {
	slug := r.PathValue("slug")
	if of, ok := strings.CutSuffix(slug, feedSuffix); ok && !r.markdown {
		return s.categoryFeed(r, of)
	}
	data := categoryPage{}
	for _, c := range r.categories {
		if c.Slug == slug {
			data.Category = c
		} else {
			data.Others = append(data.Others, c)
		}
	}
	if current, ok := r.categoryAliases[slug]; ok && data.Category.Slug == "" {
		return redirect(r.sameForm("/categories/"+current), r.URL.RawQuery), nil
	}
	if data.Category.Slug == "" {
		return r.unknownCategory(slugOf(slug))
	}
	m := r.maps().Of(slug, "")
	data.Picks, data.Plot, data.Off = picks(m), chart.NewPlot(m, true), m.Len()-len(m.Points)
	if data.Plot != nil {
		for _, p := range data.Plot.Unnamed() {
			if len(data.Frontier) < mapFrontier {
				data.Frontier = append(data.Frontier, r.mapRow(p.Tool, &p))
			}
		}
	}
	if r.snap.Catalog.HasDataset() {
		data.JSON = mapPath + ".json?category=" + slug
	}
	list := r.snap.Tools(snapshot.ToolQuery{Category: slug}, firstItems(categoryTools))
	data.Rows, data.More = r.rows(list.IDs()), list.Total > categoryTools
	data.Comparisons = r.comparisonRows(r.snap.Comparisons(slug, firstItems(categoryComparisons)).IDs())
	retired := r.snap.Retired(slug, "", firstItems(categoryRetired))
	data.Retired, data.RetiredAll = r.retiredTools(retired.IDs()), retired.Total
	if i := slices.IndexFunc(r.snap.Catalog.Categories, func(c catalog.Category) bool { return c.Slug == slug }); i >= 0 {
		text := r.snap.Catalog.Categories[i].Description
		data.Text, data.Body = r.html("", text, ""), r.bodyOf("", text)
	}
	description := "Les outils de la catégorie «\u00a0" + data.Category.Label + "\u00a0», classés par note\u00a0: " +
		french.Plural(data.Category.ToolCount, "outil", "outils") + "."
	data.Page = s.page(r, data.Category.Label, description, "/categories/"+slug)
	data.Page.MoreStyle = s.assets.paths["market.css"]
	data.Page.Feed = &link{"/categories/" + slug + ".atom", "Dernières modifications\u00a0: " + data.Category.Label}
	data.Page.JSONLD = r.jsonldTools(data.Rows, 1)
	return render(r, "category", data.Page, data), nil
}
