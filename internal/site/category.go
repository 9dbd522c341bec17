package site

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
)

type categoryPage struct {
	Category    catalog.CategoryItem
	Problems    []string  // with the parameters
	Weighing    *weighing // nil without criteria
	Table       *criteriaTable
	Text        template.HTML // its description
	More        bool          // tools than Table has
	Comparisons []comparisonRow
	Articles    []articleRow
	Retired     []retiredTool
	RetiredAll  int         // tools of which Retired has the newest
	Picks       []pick      // nil if no tool has a score
	Plot        *chart.Plot // nil if there is nothing to compare
}

// How many of each a category page shows; the lists have the rest.
const (
	categoryTools       = 50
	categoryComparisons = 6
	categoryRetired     = 6
)

func (s *Site) showCategory(r *request) (*response, error) {
	slug := r.PathValue("slug")
	if of, ok := strings.CutSuffix(slug, feedSuffix); ok && !r.markdown {
		return r.kept(r.URL.Path, func() (*response, error) { return s.categoryFeed(r, of) })
	}
	if current, ok := r.categoryAliases[slug]; ok && r.category(slug) == nil {
		return redirect(r.sameForm("/categories/"+current), r.URL.RawQuery), nil
	}
	c := r.category(slug)
	if c == nil {
		slug = slugOf(slug)
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
	w := readWishes(r.query, c)
	switch {
	case len(w.problems) > 0:
		a := s.renderCategory(r, c, w)
		a.status, a.cache = http.StatusBadRequest, noStore
		return a, nil
	case !w.isNormal:
		return redirectTo(r.sameForm(w.address(c, w.sort))), nil
	case w.weights != nil: // there are too many to keep
		return s.renderCategory(r, c, w), nil
	}
	return r.kept(r.sameForm(w.address(c, w.sort)), func() (*response, error) { return s.renderCategory(r, c, w), nil })
}

// kept returns a page whose parameters lead to few pages, of which the key is one, from the cache if it
// is there. A page without parameters is kept by its path.
func (r *request) kept(key string, build func() (*response, error)) (*response, error) {
	if r.query == "" {
		return build()
	}
	return r.cachedPage("with parameters "+key, build)
}

// renderCategory shows a category, or only its ranking by the weights of a reader, if there are any.
func (s *Site) renderCategory(r *request, c *catalog.Category, w *wishes) *response {
	data := categoryPage{Problems: w.problems, Weighing: newWeighing(c, w), Table: r.criteriaTable(c, w)}
	isThis := func(one catalog.CategoryItem) bool { return one.Slug == c.Slug }
	data.Category = r.categories[slices.IndexFunc(r.categories, isThis)]
	data.More = data.Category.ToolCount > categoryTools
	description := "Les outils de la catégorie «\u00a0" + data.Category.Label + "\u00a0», classés par note\u00a0: " +
		french.Plural(data.Category.ToolCount, "outil", "outils") + "."
	p := s.page(r, data.Category.Label, description, "/categories/"+c.Slug)
	p.MoreStyle = s.assets.paths["market.css"]
	p.Feed = feedOf("/categories/"+c.Slug, data.Category.Label)
	p.NoIndex = p.NoIndex || w.weights != nil || w.sort != "" || len(w.problems) > 0
	p.Markdown = markdownPath(w.address(c, w.sort)) // without parameters that are not read: the page is kept
	if w.weights == nil {
		m := r.maps().Of(c.Slug, "")
		data.Picks, data.Plot = append(r.picks(m), r.usagePicks(c)...), chart.NewPlot(m, true)
		data.Comparisons = r.comparisonRows(r.snap.Comparisons(c.Slug, firstItems(categoryComparisons)).IDs())
		data.Articles = r.articleRows(r.articlesOf[catalog.CategoryTopic+c.Slug], toolArticles)
		retired := r.snap.Retired(c.Slug, "", firstItems(categoryRetired))
		data.Text = r.Text("", c.Description, "")
		data.Retired, data.RetiredAll = r.retiredTools(retired.IDs()), retired.Total
		p.JSONLD = r.jsonldTools(each(data.Table.Rows, func(row criteriaRow) toolRow { return row.toolRow }), 1)
	}
	return render(r, "category", p, data)
}
