package snapshot

import "palmares/internal/wire"

import "palmares/internal/catalog"

// Tool is the body of one active tool.
func (s *Snapshot) Tool(slug string) (wire.Body, bool) { return find(&s.tools, s.toolBySlug, slug) }

// Price is the body of the price of one active tool, with its history.
func (s *Snapshot) Price(slug string) (wire.Body, bool) {
	return find(&s.priceCards, s.toolBySlug, slug)
}

// Comparison is the body of one published comparison.
func (s *Snapshot) Comparison(slug string) (wire.Body, bool) {
	return find(&s.matches, s.comparisonBySlug, slug)
}

// Embeddings is the body of the embeddings document of one tool of the top set.
func (s *Snapshot) Embeddings(slug string) (wire.Body, bool) {
	return find(&s.embeddings, s.embeddingsBySlug, slug)
}

// Stats is the body of the figures of the catalogue.
func (s *Snapshot) Stats() wire.Body { return s.stats.body(0) }

// Alias gives the slug of the tool that used to have this one.
func (s *Snapshot) Alias(slug string) (string, bool) {
	now, ok := s.aliases[slug]
	return now, ok
}

// RetiredTool finds an obituary by slug; nil when there is none.
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
