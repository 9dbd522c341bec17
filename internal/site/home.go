package site

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/snapshot"
)

type homePage struct {
	Best        []toolRow
	Changes     []change
	Categories  []catalog.CategoryItem // that have tools
	Feature     *comparisonRow         // the newest comparison; nil for none
	Comparisons []comparisonRow        // the next ones
	Articles    []articleRow           // the newest
}

// How many of each the home page shows.
const (
	homeTools       = 7
	homeChanges     = 9
	homeComparisons = 3
	homeArticles    = 3
)

func (s *Site) home(r *request) (*response, error) {
	data := homePage{
		Best:     r.rows(r.snap.Tools(snapshot.ToolQuery{}, firstItems(homeTools)).IDs()),
		Changes:  r.lastChanges(homeChanges),
		Articles: r.articleRows(r.articles, homeArticles),
		Categories: slices.DeleteFunc(slices.Clone(r.categories),
			func(c catalog.CategoryItem) bool { return c.ToolCount == 0 }),
	}
	if latest := r.comparisonRows(r.snap.Comparisons("", firstItems(1+homeComparisons)).IDs()); len(latest) > 0 {
		data.Feature, data.Comparisons = &latest[0], latest[1:]
	}
	p := s.page(r, "", cmp.Or(markdown.NoBreak(r.snap.Catalog.Settings.Description), "Un catalogue "+
		"d’outils\u00a0: notes, avis, comparatifs, prix en euros et leur histoire, outils disparus."), "/")
	p.JSONLD = r.jsonldTools(data.Best, 1)
	return render(r, "home", p, data), nil
}
