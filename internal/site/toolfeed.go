package site

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"palmares/internal/catalog"
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

// A followed tool is one that somebody follows, in the catalogue, or retired or removed from it.
type followed struct {
	slug, name, path string
	category         string
	tool             *catalog.Tool    // nil if it is gone
	retired          *catalog.Retired // nil unless it is
}

// followed returns the tool that has a slug, or had it.
func (v *view) followed(slug string) (followed, bool) {
	if current, ok := v.snap.Aliases[slug]; ok && v.snap.Catalog.Tool(slug) == nil {
		slug = current
	}
	if t := v.snap.Catalog.Tool(slug); t != nil {
		return followed{slug, t.Name, "/outils/" + slug, t.Category, t, nil}, true
	}
	if t := v.snap.RetiredTool(slug); t != nil {
		return followed{slug, t.Name, retiredPath + slug, t.Category, nil, t}, true
	}
	if t, ok := v.snap.Catalog.Past[slug]; ok {
		return followed{slug, cmp.Or(t.Name, slug), "/outils", t.Category, nil, nil}, true
	}
	return followed{}, false
}

// toolFeed is the feed of the changes of one tool. It goes on when the tool is retired: whoever
// follows it learns that from the feed.
func (r *request) toolFeed(slug string) (*response, error) {
	f, ok := r.followed(slug)
	switch {
	case !ok:
		return nil, notFound("Aucun outil n’est connu sous ce nom.")
	case f.slug != slug:
		return redirect("/outils/"+f.slug+feedSuffix, ""), nil
	}
	return r.atom("/outils/"+slug+feedSuffix, f.path, r.snap.Catalog.Name+"\u00a0: "+f.name,
		"Les dernières modifications "+of(f.name), r.changesOf(f))
}

// chosenFeed is the feed of the tools that the parameter names. A set has one address.
func (r *request) chosenFeed() (*response, error) {
	refused := func(status int, text string) (*response, error) {
		return nil, &failure{status: status, title: "Flux introuvable", text: text, cache: cacheNotFound}
	}
	parameters, err := url.ParseQuery(r.query)
	given := strings.FieldsFunc(strings.Join(parameters[chosenParameter], ","), func(c rune) bool { return c == ',' })
	if err != nil || len(r.query) > maxFollowed*(catalog.MaxSlug+3) || len(given) > maxFollowed {
		return refused(http.StatusBadRequest, "Un flux suit vingt outils au plus, séparés par des virgules\u00a0: "+
			feedPath+"?"+chosenParameter+"=a,b. Au-delà, suivez leurs catégories.")
	}
	var tools []followed
	for _, slug := range given {
		f, ok := r.followed(slug)
		if !ok {
			return refused(http.StatusNotFound, "Aucun outil n’est connu sous le nom «\u00a0"+clip(strings.ToValidUTF8(slug, ""), maxChoiceName)+
				"\u00a0»\u00a0: retirez-le de l’adresse du flux.")
		}
		tools = append(tools, f)
	}
	slices.SortFunc(tools, func(a, b followed) int { return strings.Compare(a.slug, b.slug) })
	tools = slices.CompactFunc(tools, func(a, b followed) bool { return a.slug == b.slug })
	var slugs, names []string
	for _, f := range tools {
		slugs, names = append(slugs, f.slug), append(names, f.name)
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
			of(byline(names)), r.changesOf(tools...))
	})
}

// changesOf returns the changes of some tools, newest first: those that the feed of all changes has
// of them and, from before it, what their histories tell.
func (v *view) changesOf(tools ...followed) []change {
	var list []change
	for _, ch := range v.feedChanges {
		if slices.ContainsFunc(tools, func(f followed) bool { return slices.Contains(ch.tools, f.slug) }) {
			list = append(list, ch)
		}
	}
	told := len(list)
	for _, f := range tools {
		since := v.feedSince(f.category)
		add := func(ch change) {
			isTold := slices.ContainsFunc(list[:told], func(e change) bool {
				// A retirement is dated by its editors, its event by the publication.
				return e.id == ch.id || (e.Date == ch.Date || ch.Kind == kindRetired) && e.Kind == ch.Kind && slices.Equal(e.tools, ch.tools)
			})
			if !isTold && ch.Date < since {
				list = append(list, ch)
			}
		}
		if f.retired != nil {
			add(v.retirement(f.retired))
		} else if f.tool != nil {
			v.eachToolChange(f.tool, func(string) bool { return true }, add)
		}
	}
	slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(b.Date, a.Date) })
	return list
}

// feedSince returns the day of the oldest change of a category that the feed of all changes has; a
// day that never comes if it has none.
func (v *view) feedSince(category string) string {
	for _, ch := range slices.Backward(v.feedChanges) {
		if slices.Contains(ch.in, category) {
			return ch.Date
		}
	}
	return "9999"
}
