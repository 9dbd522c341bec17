package site

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
)

// The parameter of a feed of chosen tools, and what is read of it.
const (
	chosenParameter = "outils"
	maxFollowed     = 20 // tools
)

// feedOf returns the link to the feed of a tool or a category.
func feedOf(path, name string) *link {
	return &link{path + feedSuffix, "Dernières modifications\u00a0: " + name}
}

// chosenFeed is the feed of the tools that the parameter names. A set has one address.
func (r *request) chosenFeed() (*response, error) {
	refused := func(status int, text string) (*response, error) {
		return nil, &failure{Status: status, title: "Flux introuvable", text: text, cache: cacheNotFound}
	}
	parameters, err := url.ParseQuery(r.query)
	given := strings.FieldsFunc(strings.Join(parameters[chosenParameter], ","), func(c rune) bool { return c == ',' })
	if err != nil || len(r.query) > maxFollowed*(catalog.MaxSlug+3) || len(given) > maxFollowed {
		return refused(http.StatusBadRequest, "Un flux suit vingt outils au plus, séparés par des virgules\u00a0: "+
			feedPath+"?"+chosenParameter+"=a,b. Au-delà, suivez leurs catégories.")
	}
	var tools []chronicle.Followed
	for _, slug := range given {
		f, ok := chronicle.Find(r.snap, slug)
		if !ok {
			return refused(http.StatusNotFound, "Aucun outil n’est connu sous le nom «\u00a0"+clip(strings.ToValidUTF8(slug, ""), maxChoiceName)+
				"\u00a0»\u00a0: retirez-le de l’adresse du flux.")
		}
		tools = append(tools, f)
	}
	slices.SortFunc(tools, func(a, b chronicle.Followed) int { return strings.Compare(a.Slug, b.Slug) })
	tools = slices.CompactFunc(tools, func(a, b chronicle.Followed) bool { return a.Slug == b.Slug })
	var slugs, names, topics []string
	for _, f := range tools {
		slugs, names, topics = append(slugs, f.Slug), append(names, f.Name), append(topics, f.Topic())
	}
	query := chosenParameter + "=" + strings.Join(slugs, ",")
	if len(tools) == 0 {
		query = ""
	}
	if r.query != query {
		return redirect(feedPath, query), nil
	}
	return r.kept(feedPath+"?"+query, func() (*response, error) {
		return r.atom(feedPath+"?"+query, "/outils", r.snap.Catalog.Name+"\u00a0: "+byline(names), "Les dernières modifications "+
			of(byline(names)), chronicle.On(r.snap, topics...))
	})
}
