// Package snapshot is the read model: one published catalogue, indexed and
// rendered, in memory.
//
// A Snapshot is immutable. A request loads one from Live, once, and its whole
// response comes from it, so that no response mixes two versions and no read waits
// for a database. Most work is done when the snapshot is built: every record is
// rendered to JSON, every order is a list of records, and every filter is a bitmap
// over such a list. A page is then a slice of a list whose rendered records are
// concatenated, at a cost that hardly depends on the size of the catalogue.
package snapshot

import (
	"context"
	"math"
	"strconv"
	"sync"

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

	// UpdatedAt and Version as header values, to save allocations.
	UpdatedAtHeader, VersionHeader []string

	// Events are the latest changes, of all and of each category, newest first, for feeds;
	// nil for a catalogue that is not stored. Set them before the snapshot is served.
	Events []catalog.Event

	// Index finds tools by words; nil before BuildIndex.
	Index *search.Index

	// PriceChanges returns the changes of all prices, newest first. They are sorted once.
	PriceChanges func() []PriceChange

	feed    *record.Feed // nil if there is none
	changes map[record.Kind]map[string]int32

	tools       fragments // one per tool, in the order of Catalog.Tools
	prices      fragments
	comparisons fragments // one per published comparison, in the order of Published
	retired     fragments
	embeddings  fragments // one per tool of the top set
	categories  fragments
	stats       fragments // one

	embeddingsList fragments // one
	embeddingsSlug string    // of a tool that has one, or ""

	priceDetails      fragments // prices with their history
	comparisonDetails fragments // comparisons with both scores

	toolBySlug       map[string]int32
	comparisonBySlug map[string]int32 // index in comparisons
	retiredBySlug    map[string]int32
	embeddingsBySlug map[string]int32
	aliases          map[string]string // of tools
	pictures         map[string]string // extensions by hash, smaller versions included

	comparisonAliases map[string]string

	toolOrders       map[string]*[sortCount]order // by category, "" for all
	comparisonOrders map[string][]int32
	retiredOrders    map[retiredKey][]int32
	categoryOrder    []int32
}

// NeverUpdated is the date of a feed that has never been published.
const NeverUpdated = "1970-01-01"

// Build indexes and renders a catalogue, which must be complete (see
// catalog.CarryOver) and must not change afterwards.
func Build(c *catalog.Catalog, version int64, updatedAt string) *Snapshot {
	s := &Snapshot{
		Catalog: c, Version: version, UpdatedAt: updatedAt,
		UpdatedAtHeader: []string{updatedAt}, VersionHeader: []string{strconv.FormatInt(version, 10)},

		toolBySlug:       make(map[string]int32, len(c.Tools)),
		comparisonBySlug: make(map[string]int32, len(c.Comparisons)),
		retiredBySlug:    make(map[string]int32, len(c.Retired)),
		embeddingsBySlug: map[string]int32{},
		aliases:          map[string]string{},
		pictures:         map[string]string{},

		comparisonAliases: map[string]string{},
	}
	s.PriceChanges = sync.OnceValue(func() []PriceChange { return priceChanges(c) })
	for _, p := range c.Pictures {
		s.pictures[p.Hash] = p.Ext
		for _, small := range p.Variants {
			s.pictures[small.Hash] = small.Ext
		}
	}
	ordered := make(chan struct{})
	go func() { // independent of the rendering below, and about as long
		defer close(ordered)
		s.toolOrders = orderTools(c)
	}()
	s.renderTools(c)
	s.renderEmbeddings(c)
	s.renderComparisons(c)
	s.renderRetired(c)
	s.renderFigures(c)
	<-ordered
	return s
}

// BuildIndex builds the search index. Call it before the snapshot is served, so that a
// version can be searched as soon as it is seen. It returns the context's error, and
// changes nothing, if the context ends first.
func (s *Snapshot) BuildIndex(ctx context.Context) error {
	index, err := search.Build(ctx, s.Catalog)
	if err != nil {
		return err
	}
	s.Index = index
	return nil
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

func (s *Snapshot) renderTools(c *catalog.Catalog) {
	n := len(c.Tools)
	s.tools, s.prices, s.priceDetails = newFragments(n), newFragments(n), newFragments(n)
	for i := range c.Tools {
		t := &c.Tools[i]
		s.tools.add(c.ToolItem(t))
		s.prices.add(t.PriceItem())
		s.priceDetails.add(t.PriceDetail())
		s.toolBySlug[t.Slug] = int32(i)
		for _, alias := range t.Aliases {
			s.aliases[alias] = t.Slug
		}
	}
	s.tools.clip()
	s.prices.clip()
	s.priceDetails.clip()
}

func (s *Snapshot) renderComparisons(c *catalog.Catalog) {
	s.comparisons, s.comparisonDetails = newFragments(len(c.Comparisons)), newFragments(len(c.Comparisons))
	var public []*catalog.Comparison
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if !x.Published {
			continue
		}
		s.comparisonBySlug[x.Slug] = s.comparisons.count()
		s.comparisons.add(c.ComparisonItem(x))
		s.comparisonDetails.add(c.ComparisonDetail(x))
		for _, alias := range x.Aliases {
			s.comparisonAliases[alias] = x.Slug
		}
		public = append(public, x)
	}
	s.comparisonOrders = orderComparisons(c, public)
}

func (s *Snapshot) renderRetired(c *catalog.Catalog) {
	s.retired = newFragments(len(c.Retired))
	for i := range c.Retired {
		s.retiredBySlug[c.Retired[i].Slug] = int32(i)
		s.retired.add(c.Retired[i].Item())
	}
	s.retiredOrders = orderRetired(c)
}

func (s *Snapshot) renderFigures(c *catalog.Catalog) {
	type tally struct {
		count, tested int
		sum           float64
	}
	var all tally
	byCategory := map[string]*tally{}
	for i := range c.Categories {
		byCategory[c.Categories[i].Slug] = &tally{}
	}
	for i := range c.Tools {
		t := &c.Tools[i]
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
	s.categories = newFragments(len(c.Categories))
	for _, cat := range c.Categories {
		y := byCategory[cat.Slug]
		s.categories.add(catalog.CategoryItem{Slug: cat.Slug, Label: cat.Label, ToolCount: y.count, AvgScore: average(y)})
	}
	s.categoryOrder = orderCategories(c)
	s.stats = newFragments(1)
	s.stats.add(catalog.Stats{
		ToolsTotal: all.count, ToolsTested: all.tested, ToolsAvgScore: average(&all),
		ToolsRetired: len(c.Retired), ComparisonsTotal: len(s.comparisonBySlug),
	})
}
