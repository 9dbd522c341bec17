package snapshot

import (
	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// Tool returns the body of one active tool.
func (s *Snapshot) Tool(slug string) (wire.Body, bool) {
	i, ok := s.Catalog.IndexOf(slug)
	return find(s.tools, int32(i), ok)
}

// Price returns the body of the price of one active tool, with its history.
func (s *Snapshot) Price(slug string) (wire.Body, bool) {
	i, ok := s.Catalog.IndexOf(slug)
	return find(s.priceDetails, int32(i), ok)
}

// Comparison returns the body of one published comparison.
func (s *Snapshot) Comparison(slug string) (wire.Body, bool) {
	i, ok := s.comparisonBySlug[slug]
	return find(s.comparisonDetails, i, ok)
}

// Embeddings returns the embeddings document of one tool of the top set.
func (s *Snapshot) Embeddings(slug string) (wire.Body, bool) {
	i, ok := s.embeddingsBySlug[slug]
	return find(s.embeddings, i, ok)
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

func find(from fragments, i int32, ok bool) (wire.Body, bool) {
	if !ok {
		return wire.Body{}, false
	}
	return from.at(i).body(), true
}
