package site

import (
	"slices"

	"palmares/internal/search"
	"palmares/internal/snapshot"
)

// A group is what a search finds besides tools, of one kind.
type group struct {
	Title string
	Links []link
}

// A versus is what a search between two tools asks for: the published comparison with its verdict, or
// the page that compares them and how they differ.
type versus struct {
	link
	Said string
}

const (
	maxGroup  = 3  // links of a group
	maxPaired = 10 // tools among which comparisons are looked for
	maxNear   = 5  // names that are offered if nothing is found
)

// showOthers sets what the search finds besides tools: the comparison that it asks for, and
// comparisons, categories and pages. A search that finds no tool offers names, categories, and to
// propose the tool.
func (p *toolsPage) showOthers(r *request, found *snapshot.Found) {
	if two := found.Request.Versus; len(two) == 2 {
		a, b := r.snap.Catalog.Tools[two[0]], r.snap.Catalog.Tools[two[1]]
		p.Versus = &versus{link{"/comparer?outils=" + a.Slug + "," + b.Slug, "Comparer " + a.Name + " et " + b.Name}, r.contrast(a, b)}
		if slug := r.comparisonOf(a, b); slug != "" {
			row := r.comparisonRow(r.comparison(slug))
			p.Versus = &versus{link{"/comparatifs/" + slug, row.Title}, "Vainqueur\u00a0: " + row.Winner + ". " + row.Note}
		}
	}
	add := func(title string, links []link) {
		if len(links) > 0 {
			p.Groups = append(p.Groups, group{title, links})
		}
	}
	has := search.Matcher(found.Request.Text)
	matches := func(text string) bool { return has(search.Roots(text)) }
	add("Comparatifs", r.pairs(found.Hits))
	var categories, pages, articles, people, near []link
	for _, a := range found.Articles() {
		articles = append(articles, articleLink(r.snap.Catalog.Article(a.Slug)))
	}
	for i := range r.snap.Catalog.Authors {
		if a := &r.snap.Catalog.Authors[i]; matches(a.Name+" "+a.Role) && len(people) < maxGroup {
			people = append(people, link{"/auteurs/" + a.Slug, a.Name})
		}
	}
	for i := range r.snap.Catalog.Categories {
		c := &r.snap.Catalog.Categories[i]
		text := c.Label + " " + c.Slug
		isMeant := matches(text)
		for _, usage := range c.Usages {
			isMeant = isMeant || matches(text+" "+usage.Label)
		}
		if to := (link{"/categories/" + c.Slug, c.Label}); (isMeant || found.Total == 0) && len(categories) < maxGroup {
			categories = append(categories, to)
		}
	}
	for i := range r.snap.Catalog.Pages {
		if page := &r.snap.Catalog.Pages[i]; matches(page.Title+" "+page.Description) && len(pages) < maxGroup {
			pages = append(pages, link{"/" + page.Slug, page.Title})
		}
	}
	if found.Total == 0 {
		for _, tool := range r.snap.Index.NearNames(found.Request.Text, maxNear) {
			t := r.snap.Catalog.Tools[tool]
			near = append(near, link{"/outils/" + t.Slug, t.Name})
		}
	}
	add("Noms proches", near)
	add("Catégories", categories)
	add("Articles", articles)
	add("Pages", pages)
	add("Auteurs", people)
}

// pairs returns published comparisons of two of the tools that were found first.
func (v *view) pairs(hits []search.Hit) (links []link) {
	first := hits[:min(len(hits), maxPaired)]
	for n, hit := range first {
		a := v.snap.Catalog.Tools[hit.Tool]
		for _, other := range first[n+1:] {
			slug := v.comparisonOf(a, v.snap.Catalog.Tools[other.Tool])
			if to := (link{"/comparatifs/" + slug, ""}); slug != "" && len(links) < maxGroup {
				to.Text = v.comparison(slug).Title
				links = append(links, to)
			}
		}
	}
	return slices.Clip(links)
}
