// Package snapshot is the read model: one published catalogue, indexed and
// rendered, in memory.
//
// A Snapshot is immutable. A request loads one from Live, once, and its whole
// response comes from it, so that no response mixes two versions and no read waits
// for a database. Most work is done when the snapshot is built: every record but prices is
// rendered to JSON, every order is a list of records. A page is then a slice of a list whose
// rendered records are concatenated, at a cost that hardly depends on the size of the
// catalogue; filters by figures scan a list of numbers.
package snapshot

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/search"
)

// A Snapshot is one version of the catalogue.
type Snapshot struct {
	Catalog   *catalog.Catalog
	Version   int64  // 0 for a catalogue that is not stored: the demo, or none
	UpdatedAt string // YYYY-MM-DD of the last update of the feed

	// PublishedAt is when the version was published, as in the feed; "" for a catalogue
	// that is empty. Set it before the snapshot is served.
	PublishedAt string

	// Entries are the last ones of the chronicle that are stored, by position, the last first. Set them before the
	// snapshot is served.
	Entries []catalog.Entry
	// Latest is what chronicle.Latest returns, once somebody has asked.
	Latest atomic.Pointer[[]catalog.Entry]

	// Index finds tools by words; nil before BuildIndex.
	Index *search.Index

	Feed      *record.Feed          // of the records, nil if there is none; see SetFeed
	Published []*catalog.Comparison // as indexed by the IDs of a page

	Aliases      map[*catalog.Kind]map[string]string // current slugs by former ones
	firsts       map[*catalog.Kind]map[string]string // current slugs by oldest ones: see Present
	Newest       []*catalog.Article                  // all, newest first
	articleRoots map[string][]uint32                 // of the words of articles, by slug
	Pictures     map[string]string                   // extensions of pictures by hash, smaller versions included

	HasLogos       bool   // a tool has a logo
	HasProfiles    bool   // a tool is not for everybody
	EmbeddingsSlug string // of a tool of the top set; "" if there is none

	// UpdatedAt and Version as header values, to save allocations.
	updatedAtHeader, versionHeader []string

	changes map[*catalog.Kind]map[string]int32 // indexes in the feed, by slug

	before *Snapshot // what this one was made from; nil once the index is built
	step   catalog.Step

	tools       fragments // one per tool, in the order of Catalog.Tools
	prices      fragments // made when somebody asks: they are small, and asked for less
	comparisons fragments // one per published comparison, in the order of Published
	retired     fragments
	embeddings  fragments // one per tool of the top set
	categories  fragments

	stats, embeddingsList fragment

	priceDetails      fragments // prices with their history, as prices
	comparisonDetails fragments // comparisons with both scores

	comparisonBySlug map[string]int32 // index in comparisons
	retiredBySlug    map[string]int32
	retiredByName    map[string][]*catalog.Retired // by the letters of slugs and names
	retiredNames     search.Names                  // the keys of retiredByName
	embeddingsBySlug map[string]int32

	toolOrders       map[string]*[sortCount][]int32 // by category, "" for all
	figureOrders     func() map[Sort][]int32        // sorted once, when a search needs them
	scores           []float64                      // by tool, NaN for none
	obsolescences    []float64
	comparisonOrders map[string][]int32
	retiredOrders    map[retiredKey][]int32
	categoryOrder    []int32
}

// NeverUpdated is the date of a feed that has never been published.
const NeverUpdated = "1970-01-01"

// Build indexes and renders a catalogue, which must be complete (see
// catalog.CarryOver) and must not change afterwards.
func Build(c *catalog.Catalog, version int64, updatedAt string) *Snapshot {
	return Next(nil, c, nil, version, updatedAt, false)
}

// SetHeader sets the headers that say which version a response comes from.
func (s *Snapshot) SetHeader(h http.Header) {
	h["X-Service-Updated-At"], h["X-Service-Version"] = s.updatedAtHeader, s.versionHeader
}

// Next returns what Build returns. It takes what did not change from the snapshot before;
// step says how the tools of that became those of c, nil if that is not known. The records of tools for programs, which
// pages hardly need, are rendered when somebody asks for them if it is for the pages of a few people.
func Next(
	before *Snapshot, c *catalog.Catalog, step *catalog.Step, version int64, updatedAt string, isForPages bool,
) *Snapshot {
	s := &Snapshot{
		Catalog: c, Version: version, UpdatedAt: updatedAt,
		updatedAtHeader: []string{updatedAt}, versionHeader: []string{strconv.FormatInt(version, 10)},

		comparisonBySlug: make(map[string]int32, len(c.Comparisons)),
		retiredBySlug:    make(map[string]int32, len(c.Retired)),
		embeddingsBySlug: map[string]int32{},
		Aliases:          map[*catalog.Kind]map[string]string{},
		firsts:           map[*catalog.Kind]map[string]string{},
		Pictures:         map[string]string{},

		articleRoots: map[string][]uint32{},
	}
	if step != nil && before.Catalog.URL == c.URL { // otherwise every record differs
		s.before, s.step = before, *step
	}
	s.figureOrders = sync.OnceValue(s.sortFigures)
	for _, p := range c.Pictures {
		s.Pictures[p.Hash] = p.Ext
		for _, small := range p.Variants {
			s.Pictures[small.Name] = small.Ext
		}
	}
	for _, t := range c.Tools {
		s.HasLogos = s.HasLogos || t.Logo != ""
		s.HasProfiles = s.HasProfiles || t.ICP != "" && t.ICP != catalog.EveryICP
		s.scores, s.obsolescences = append(s.scores, orNaN(t.Score)), append(s.obsolescences, orNaN(t.Obsolescence))
	}
	ordered := make(chan struct{})
	go func() { // independent of the rendering below, and about as long
		defer close(ordered)
		if s.before != nil && s.step.None() && hasSameCategories(s.before, c) {
			s.toolOrders = s.before.toolOrders
		} else {
			s.toolOrders = orderTools(c, s.scores)
		}
	}()
	s.renderTools(c, isForPages)
	s.renderEmbeddings(c)
	s.renderComparisons(c)
	s.renderRetired(c)
	s.indexTexts(c)
	s.indexAliases(c)
	s.renderFigures(c)
	<-ordered
	return s
}

// BuildIndex builds the search index. Call it before the snapshot is served, so that a
// version can be searched as soon as it is seen. It returns the context's error, and
// changes nothing, if the context ends first.
func (s *Snapshot) BuildIndex(ctx context.Context) error {
	step := &s.step
	if s.before == nil {
		step = nil
	}
	index, err := NextIndex(ctx, s.before, s.Catalog, step)
	if err == nil {
		s.SetIndex(index)
	}
	return err
}

// SetIndex adds the search index, which must be that of the catalogue. It is what is done
// last.
func (s *Snapshot) SetIndex(index *search.Index) {
	s.Index = index
	s.before, s.step = nil, catalog.Step{} // frees them
}

// NextIndex returns the search index of c. Its arguments are those of Next, which may run at
// the same time.
func NextIndex(ctx context.Context, before *Snapshot, c *catalog.Catalog, step *catalog.Step) (*search.Index, error) {
	switch {
	case step == nil || step.None() && !hasSameCategories(before, c):
		return search.Build(ctx, c)
	case step.None():
		return before.Index, nil
	}
	return before.Index.Next(ctx, c, *step)
}

// Empty returns the snapshot that is served before the first publication if the
// demo is off.
func Empty(name, url string) *Snapshot {
	return Build(&catalog.Catalog{Name: name, URL: url}, 0, NeverUpdated)
}

// NewestUpdate returns the latest updated_at of a catalogue, which is the date of
// the demo's feed.
func NewestUpdate(c *catalog.Catalog) string {
	newest := NeverUpdated
	for i := range c.Tools {
		newest = max(newest, c.Tools[i].UpdatedAt)
	}
	for i := range c.Comparisons {
		newest = max(newest, c.Comparisons[i].UpdatedAt)
	}
	return newest
}

func hasSameCategories(before *Snapshot, c *catalog.Catalog) bool {
	return reflect.DeepEqual(before.Catalog.Categories, c.Categories)
}

func (s *Snapshot) renderTools(c *catalog.Catalog, isForPages bool) {
	item := func(i int32) any { return c.ToolItem(c.Tools[i]) }
	s.prices = fragments{item: func(i int32) any { return c.Tools[i].PriceItem() }}
	s.priceDetails = fragments{item: func(i int32) any { return c.Tools[i].PriceDetail() }}
	switch n := len(c.Tools); {
	case isForPages:
		s.tools = fragments{item: item}
	case s.before != nil:
		s.tools = s.before.tools.next(&s.step, n, item)
	default:
		s.tools = render(n, item)
	}
}

func (s *Snapshot) renderComparisons(c *catalog.Catalog) {
	var public []*catalog.Comparison
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if !x.Published {
			continue
		}
		s.comparisonBySlug[x.Slug] = int32(len(public))
		public = append(public, x)
	}
	item := func(i int32) any { return c.ComparisonItem(public[i]) }
	detail := func(i int32) any { return c.ComparisonDetail(public[i]) }
	// They are few beside the tools: rendering them all takes less than finding those that differ saves.
	s.comparisons, s.comparisonDetails = render(len(public), item), render(len(public), detail)
	s.Published = public
	s.comparisonOrders = s.orderComparisons(public)
}

// indexTexts sorts the articles, and finds the words of the newest.
func (s *Snapshot) indexTexts(c *catalog.Catalog) {
	s.Newest = c.Newest()
	for _, a := range s.Newest[:min(len(s.Newest), searchedArticles)] {
		if s.before != nil {
			if prior := s.before.Catalog.Article(a.Slug); prior != nil && prior.Body == a.Body {
				s.articleRoots[a.Slug] = s.before.articleRoots[a.Slug]
			}
		}
		if s.articleRoots[a.Slug] == nil {
			var text strings.Builder
			search.Prose(a.Body[:min(len(a.Body), searchedText)], func(part string, _ bool) { text.WriteString(part) })
			s.articleRoots[a.Slug] = search.Roots(text.String())
		}
	}
}

// indexAliases finds records by their former slugs.
func (s *Snapshot) indexAliases(c *catalog.Catalog) {
	for _, k := range catalog.WrittenKinds {
		s.Aliases[k], s.firsts[k] = map[string]string{}, map[string]string{}
	}
	for slug, t := range c.Past {
		s.firsts[catalog.ToolKind][cmp.Or(t.FirstSlug, slug)] = slug
	}
	for _, k := range catalog.WrittenKinds {
		for i := range k.Len(c) {
			record := k.At(c, i)
			if slug, first := k.Slug(record), k.First(record); slug != first {
				s.firsts[k][first] = slug
			}
			for _, alias := range k.Aliases(record) {
				if !k.IsUnpublished(record) {
					s.Aliases[k][alias] = k.Slug(record)
				}
			}
		}
	}
}

// Present returns the last slug of the record of a kind that has an oldest one, if there is such a record.
func (s *Snapshot) Present(k *catalog.Kind, first string) string {
	return cmp.Or(s.firsts[k][first], first)
}

func (s *Snapshot) renderRetired(c *catalog.Catalog) {
	s.retiredByName = map[string][]*catalog.Retired{}
	for i := range c.Retired {
		t := &c.Retired[i]
		s.retiredBySlug[t.Slug] = int32(i)
		slug, name := search.Key(t.Slug), search.Key(t.Name)
		s.retiredByName[slug] = append(s.retiredByName[slug], t)
		if name != slug {
			s.retiredByName[name] = append(s.retiredByName[name], t)
		}
	}
	s.retiredNames = search.NewNames(slices.Collect(maps.Keys(s.retiredByName)))
	s.retired = render(len(c.Retired), func(i int32) any { return c.Retired[i].Item() })
	s.retiredOrders = orderRetired(c)
}

func (s *Snapshot) renderFigures(c *catalog.Catalog) {
	type tally struct {
		count, tested int
		sum           float64
	}
	var all tally
	byCategory := map[string]*tally{}
	for _, k := range c.Categories {
		byCategory[k.Slug] = &tally{}
	}
	for _, t := range c.Tools {
		for _, y := range []*tally{&all, byCategory[t.Category]} {
			y.count++
			if t.Score != nil {
				y.tested++
				y.sum += *t.Score
			}
		}
	}
	average := func(y *tally) float64 {
		if y.tested == 0 {
			return 0
		}
		return math.Round(y.sum/float64(y.tested)*100) / 100
	}
	s.categories = render(len(c.Categories), func(i int32) any {
		y := byCategory[c.Categories[i].Slug]
		return catalog.CategoryItem{
			Slug: c.Categories[i].Slug, Label: c.Categories[i].Label, ToolCount: y.count, AvgScore: average(y),
		}
	})
	s.categoryOrder = sortNames(nameKeys(len(c.Categories), func(i int) string { return c.Categories[i].Label }), +1)
	s.stats = newFragment(nil, catalog.Stats{
		ToolsTotal: all.count, ToolsTested: all.tested, ToolsAvgScore: average(&all),
		ToolsRetired: len(c.Retired), ComparisonsTotal: len(s.comparisonBySlug),
	})
}
