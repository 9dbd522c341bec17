package snapshot

import (
	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// Tool returns the body of one active tool.
func (s *Snapshot) Tool(slug string) (wire.Body, bool) { return s.ofTool(s.tools, slug) }

// Price returns the body of the price of one active tool, with its history.
func (s *Snapshot) Price(slug string) (wire.Body, bool) {
	return s.ofTool(s.priceDetails, slug)
}

// Comparison returns the body of one published comparison.
func (s *Snapshot) Comparison(slug string) (wire.Body, bool) {
	return find(s.comparisonDetails, s.comparisonBySlug, slug)
}

// Embeddings returns the embeddings document of one tool of the top set.
func (s *Snapshot) Embeddings(slug string) (wire.Body, bool) {
	return find(s.embeddings, s.embeddingsBySlug, slug)
}

// Stats returns the body of the figures of the catalogue.
func (s *Snapshot) Stats() wire.Body { return s.stats.body() }

// RetiredTool returns the retired tool with the given slug, or nil.
func (s *Snapshot) RetiredTool(slug string) *catalog.Retired {
	i, ok := s.retiredBySlug[slug]
	if !ok {
		return nil
	}
	return &s.Catalog.Retired[i]
}

// ofTool returns what there is about a tool among what is rendered of all.
func (s *Snapshot) ofTool(from fragments, slug string) (wire.Body, bool) {
	i, ok := s.Catalog.IndexOf(slug)
	if !ok {
		return wire.Body{}, false
	}
	return from.at(int32(i)).body(), true
}

func find(from fragments, bySlug map[string]int32, slug string) (wire.Body, bool) {
	i, ok := bySlug[slug]
	if !ok {
		return wire.Body{}, false
	}
	return from.at(i).body(), true
}
