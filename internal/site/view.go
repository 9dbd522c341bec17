package site

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"

	"palmares/internal/cache"
	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/markdown"
	"palmares/internal/market"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// A view is one version of the catalogue with what pages need beyond its records.
// Show builds it.
type view struct {
	snap        *snapshot.Snapshot
	demo        bool
	updatedAt   string // "" before the first publication
	Stats       catalog.Stats
	categories  []catalog.CategoryItem // in the order of the publisher
	labels      map[string]string      // of categories, by slug
	words       words
	theme       *pageTheme // nil for the default
	menus       menus
	addresses   *markdown.Addresses              // of the links and pictures in texts
	comparisons map[string][]*catalog.Comparison // by slug of either tool, newest first
	articles    []*catalog.Article               // newest first
	articlesOf  map[string][]*catalog.Article    // the same by slug of a tool, and by topic of a category
	people      map[string]*catalog.Author       // authors with a page, by name
	reasons     map[catalog.Reason]int           // number of retired tools
	pages       *cache.Cache[string, *response]
	responses   *web.Responses // pages as they are sent

	categoryAliases map[string]string // current slugs by former ones

	// Made when first needed.
	parts   func() int // of the sitemap
	facets  func() *facets
	maps    func() *market.Maps
	medians func() map[[2]string]catalog.Value // of criteria, by category and criterion
	ended   func() map[string]bool             // see endedPages
	works   func() map[string][]work           // by author, see allWorks

	announced func() []announcement
}

// host returns the host of the catalogue's own site.
func (v *view) host() string {
	if u, err := url.Parse(v.snap.Catalog.URL); err == nil {
		return u.Host
	}
	return v.snap.Catalog.URL
}

// Show replaces the version that the pages show. The snapshot must have its search index.
func (s *Site) Show(snap *snapshot.Snapshot) { s.Prepare(snap)() }

// Snapshot returns the version that the pages show.
func (s *Site) Snapshot() *snapshot.Snapshot { return s.current.Load().snap }

// Prepare builds all that the pages of a version need, and returns what shows it. The
// snapshot needs its search index only then.
func (s *Site) Prepare(snap *snapshot.Snapshot) (show func()) {
	v := newView(snap, s.cfg.Demo(snap))
	return func() { s.current.Store(v) }
}

func newView(snap *snapshot.Snapshot, demo bool) *view {
	v := &view{
		snap: snap, demo: demo, pages: newPageCache(), responses: web.NewResponses(),
		labels:      map[string]string{},
		words:       newWords(&snap.Catalog.Settings),
		theme:       newTheme(&snap.Catalog.Settings),
		comparisons: map[string][]*catalog.Comparison{},
		reasons:     map[catalog.Reason]int{},
		articlesOf:  map[string][]*catalog.Article{},
		people:      map[string]*catalog.Author{},

		categoryAliases: map[string]string{},
	}
	if snap.UpdatedAt != snapshot.NeverUpdated {
		v.updatedAt = snap.UpdatedAt
	}
	// The figures come from the API's own responses, so that the two cannot disagree.
	var list struct{ Data []catalog.CategoryItem }
	decode(snap.Stats(), &v.Stats)
	decode(snap.Categories().Body(), &list)
	// The publisher's order is that of catalogue.yaml.
	position := map[string]int{}
	for _, c := range v.snap.Catalog.Categories {
		position[c.Slug] = c.Position
		v.labels[c.Slug] = c.Label
		for _, alias := range c.Aliases {
			v.categoryAliases[alias] = c.Slug
		}
	}
	slices.SortStableFunc(list.Data,
		func(a, b catalog.CategoryItem) int { return cmp.Compare(position[a.Slug], position[b.Slug]) })
	v.categories = list.Data
	v.menus = newMenus(snap.Catalog)
	v.addresses = &markdown.Addresses{Catalog: snap.Catalog}
	for _, i := range snap.Comparisons("", firstItems(len(snap.Published))).IDs() {
		x := snap.Published[i]
		v.comparisons[x.ToolA] = append(v.comparisons[x.ToolA], x)
		v.comparisons[x.ToolB] = append(v.comparisons[x.ToolB], x)
	}
	for i := range snap.Catalog.Retired {
		v.reasons[snap.Catalog.Retired[i].Reason]++
	}
	// Articles by tool and by category, and authors by name.
	v.articles = v.snap.Newest
	for _, a := range v.articles {
		for _, slug := range a.Tools {
			v.articlesOf[slug] = append(v.articlesOf[slug], a)
		}
		v.articlesOf[catalog.CategoryTopic+a.Category] = append(v.articlesOf[catalog.CategoryTopic+a.Category], a)
	}
	for i := range v.snap.Catalog.Authors {
		a := &v.snap.Catalog.Authors[i]
		v.people[a.Name] = a
	}
	v.announced = sync.OnceValue(v.allAnnounced)
	v.ended = sync.OnceValue(v.endedPages)
	v.works = sync.OnceValue(v.allWorks)
	v.parts = sync.OnceValue(v.countParts)
	v.facets = sync.OnceValue(v.newFacets)
	v.maps = sync.OnceValue(func() *market.Maps { return market.NewMaps(snap.Catalog) })
	v.medians = sync.OnceValue(func() map[[2]string]catalog.Value { return newMedians(snap.Catalog) })
	return v
}

// each returns what a function makes of every element of a list.
func each[T, R any](list []T, of func(T) R) []R {
	made := make([]R, len(list))
	for i, one := range list {
		made[i] = of(one)
	}
	return made
}

// firstItems is the paging that returns the first n items, at least one.
func firstItems(n int) snapshot.Paging { return snapshot.Paging{Number: 1, Limit: max(n, 1)} }

func decode(body wire.Body, into any) {
	if err := json.Unmarshal(body.Bytes(), into); err != nil {
		panic(err) // the snapshot rendered it from the same type
	}
}

func (v *view) comparison(slug string) *catalog.Comparison {
	i, found := slices.BinarySearchFunc(v.snap.Published, slug,
		func(x *catalog.Comparison, s string) int { return cmp.Compare(x.Slug, s) })
	if !found {
		return nil
	}
	return v.snap.Published[i]
}

// HasRecord reports whether a path is that of a tool, also a retired one, a review, a comparison or an article, now or
// formerly.
func (s *Site) HasRecord(path string) (ok bool) {
	v := s.current.Load()
	kind, slug, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch kind {
	case "outils", "avis", "cimetiere":
		_, ok = chronicle.Find(v.snap, slug)
	case "comparatifs":
		ok = v.comparison(cmp.Or(v.snap.Aliases[catalog.ComparisonKind][slug], slug)) != nil
	case "articles":
		ok = v.snap.Catalog.Article(cmp.Or(v.snap.Aliases[catalog.ArticleKind][slug], slug)) != nil
	}
	return ok && strings.HasPrefix(path, "/")
}

// Label returns the label of a category, or its slug if it is not declared.
func (v *view) Label(category string) string {
	if l, ok := v.labels[category]; ok {
		return l
	}
	return category
}

// tool returns the tool of a page, or a redirect: from an alias to the current
// slug, from a retired tool to its page.
func (r *request) tool(prefix string) (*catalog.Tool, *response, error) {
	given := r.PathValue("slug")
	if t := r.snap.Catalog.Tool(given); t != nil {
		return t, nil, nil
	}
	for _, slug := range []string{given, slugOf(given)} {
		if current, ok := r.snap.Aliases[catalog.ToolKind][slug]; ok {
			return nil, redirect(r.sameForm(prefix+current), r.URL.RawQuery), nil
		}
		if r.snap.Catalog.Tool(slug) != nil {
			return nil, redirect(r.sameForm(prefix+slug), r.URL.RawQuery), nil
		}
		if r.snap.RetiredTool(slug) != nil {
			return nil, redirectTo(r.sameForm(catalog.RetiredKind.Address + slug)), nil
		}
	}
	f := r.notFound("Aucun outil n’est connu sous ce nom. La recherche le retrouvera peut-être sous un autre.")
	near := r.snap.Near(slugOf(given))
	if t := r.snap.Catalog.Tool(near); t != nil {
		f.suggest(link{prefix + near, t.Name})
	} else if t := r.snap.RetiredTool(near); t != nil {
		f.suggest(link{catalog.RetiredKind.Address + near, t.Name})
	}
	return nil, nil, f
}

// slugOf returns the slug that an address written in another way means, such as one in capitals; ""
// for what is longer than any.
func slugOf(given string) string {
	if len(given) > 2*catalog.MaxSlug {
		return ""
	}
	return normalize(given)
}
