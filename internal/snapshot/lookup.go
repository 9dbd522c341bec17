package snapshot

import (
	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// Tool returns the body of one active tool.
func (s *Snapshot) Tool(slug string) (wire.Body, bool) {
	i, ok := s.toolIndex(slug)
	if !ok {
		return wire.Body{}, false
	}
	return s.tools.body(i), true
}

// toolIndex returns the index of an active tool.
func (s *Snapshot) toolIndex(slug string) (int32, bool) {
	return s.toolBySlug.find(hashOf(slug), func(i int32) bool { return s.Catalog.Tools[i].Slug == slug })
}

// tool returns the active tool with the given slug, or nil.
func (s *Snapshot) tool(slug string) *catalog.Tool {
	i, ok := s.toolIndex(slug)
	if !ok {
		return nil
	}
	return s.Catalog.Tools[i]
}

// Price returns the body of the price of one active tool, with its history.
func (s *Snapshot) Price(slug string) (wire.Body, bool) {
	i, ok := s.toolIndex(slug)
	if !ok {
		return wire.Body{}, false
	}
	return s.priceDetails.body(i), true
}

// Comparison returns the body of one published comparison.
func (s *Snapshot) Comparison(slug string) (wire.Body, bool) {
	return find(&s.comparisonDetails, s.comparisonBySlug, slug)
}

// Embeddings returns the embeddings document of one tool of the top set.
func (s *Snapshot) Embeddings(slug string) (wire.Body, bool) {
	return find(&s.embeddings, s.embeddingsBySlug, slug)
}

// Stats returns the body of the figures of the catalogue.
func (s *Snapshot) Stats() wire.Body { return s.stats.body(0) }

// RetiredTool returns the retired tool with the given slug, or nil.
func (s *Snapshot) RetiredTool(slug string) *catalog.Retired {
	i, ok := s.retiredBySlug[slug]
	if !ok {
		return nil
	}
	return &s.Catalog.Retired[i]
}

func find(from *fragments, bySlug map[string]int32, slug string) (wire.Body, bool) {
	i, ok := bySlug[slug]
	if !ok {
		return wire.Body{}, false
	}
	return from.body(i), true
}
