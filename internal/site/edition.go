package site

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"palmares/internal/catalog"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/wire"
)

// An edition is one version of the catalogue with what pages need of it beyond
// its records. It is made when its version is first asked for and dropped with it.
type edition struct {
	snap       *snapshot.Snapshot
	demo       bool
	updatedAt  string // "" before anything was published
	stats      catalog.Stats
	categories []catalog.CategoryItem // by label
	labels     map[string]string      // of categories, by slug
	published  []*catalog.Comparison  // as the ids of the snapshot count them
	matches    map[string][]*catalog.Comparison
	retired    map[string][]*catalog.Retired // by slug and by name, folded
	graves     map[string]int                // place of each retired tool in the cemetery
	reasons    map[catalog.Reason]int
	changes    []change // the latest, newest first
	pages      pageCache

	names func() *search.Index         // made when first needed
	full  atomic.Pointer[search.Index] // nil until Run has built it
}

// edition gives the one that belongs to the snapshot of the moment. Requests
// that come first wait for each other: it is made once.
func (s *Site) edition() *edition {
	snap := s.cfg.Snapshot()
	if e := s.current.Load(); e != nil && e.snap == snap {
		return e
	}
	s.making.Lock()
	defer s.making.Unlock()
	if e := s.current.Load(); e != nil && e.snap == snap {
		return e
	}
	e := newEdition(snap, s.cfg.Demo(snap))
	s.current.Store(e)
	select {
	case s.renewed <- struct{}{}:
	default: // Run has been told already
	}
	return e
}

// Run builds the search index of each version in the background, until ctx ends.
// Until an index is built, and without Run, search matches names.
func (s *Site) Run(ctx context.Context) error {
	for {
		e := s.edition()
		if e.full.Load() == nil {
			index, err := search.Build(ctx, e.snap.Catalog)
			if err != nil {
				return nil // it fails only when ctx ends
			}
			e.full.Store(index)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.renewed:
		}
	}
}

// index is the best one there is at the moment.
func (e *edition) index() *search.Index {
	if full := e.full.Load(); full != nil {
		return full
	}
	return e.names()
}

func newEdition(snap *snapshot.Snapshot, demo bool) *edition {
	e := &edition{
		snap: snap, demo: demo,
		labels:    map[string]string{},
		published: snap.Published(),
		matches:   map[string][]*catalog.Comparison{},
		retired:   map[string][]*catalog.Retired{},
		graves:    map[string]int{},
		reasons:   map[catalog.Reason]int{},
	}
	if snap.UpdatedAt != snapshot.NeverUpdated {
		e.updatedAt = snap.UpdatedAt
	}
	// The figures are read from the API's own answers, so that the two cannot
	// disagree.
	var list struct{ Data []catalog.CategoryItem }
	decode(snap.Stats(), &e.stats)
	decode(snap.Categories().Body(), &list)
	e.categories = list.Data
	for _, c := range e.categories {
		e.labels[c.Slug] = c.Label
	}
	for _, i := range snap.Comparisons("", whole(len(e.published))).IDs() {
		x := e.published[i]
		e.matches[x.ToolA] = append(e.matches[x.ToolA], x)
		e.matches[x.ToolB] = append(e.matches[x.ToolB], x)
	}
	retired := snap.Catalog.Retired
	for place, i := range snap.Retired("", "", whole(len(retired))).IDs() {
		gone := &retired[i]
		e.graves[gone.Slug] = place
		e.retired[gone.Slug] = append(e.retired[gone.Slug], gone)
		if name := folded(gone.Name); name != gone.Slug {
			e.retired[name] = append(e.retired[name], gone)
		}
		e.reasons[gone.Reason]++
	}
	e.changes = e.latestChanges()
	e.names = sync.OnceValue(func() *search.Index { return search.Names(snap.Catalog) })
	return e
}

// whole is the page that holds all of n items.
func whole(n int) snapshot.Paging { return snapshot.Paging{Number: 1, Limit: max(n, 1)} }

func decode(body wire.Body, into any) {
	if err := json.Unmarshal(body.Bytes(), into); err != nil {
		panic(err) // the snapshot rendered it from the same type
	}
}

// comparison finds a published comparison; nil when there is none.
func (e *edition) comparison(slug string) *catalog.Comparison {
	i, found := slices.BinarySearchFunc(e.published, slug, func(x *catalog.Comparison, s string) int { return cmp.Compare(x.Slug, s) })
	if !found {
		return nil
	}
	return e.published[i]
}

// label is the name of a category, its slug when it is not declared.
func (e *edition) label(category string) string {
	if l, ok := e.labels[category]; ok {
		return l
	}
	return category
}

// tool finds the tool of a page, or where its reader must go instead: an alias
// leads to the same page under its present slug, a retired tool to its obituary.
func (r *request) tool(prefix string) (*catalog.Tool, *answer, error) {
	slug := r.PathValue("slug")
	if t := r.snap.Catalog.Tool(slug); t != nil {
		return t, nil, nil
	}
	if now, ok := r.snap.Alias(slug); ok {
		return nil, movedTo(r.form(prefix+now), r.URL.RawQuery), nil
	}
	if r.snap.RetiredTool(slug) != nil {
		return nil, &answer{status: 301, cache: cacheMoved, location: r.form(r.obituary(slug))}, nil
	}
	return nil, nil, notFound("Aucun outil n’est connu sous ce nom. La recherche le retrouvera peut-être sous un autre.")
}
