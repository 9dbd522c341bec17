package site

import "palmares/internal/web"

// ForgetPages empties the caches of finished pages.
func (s *Site) ForgetPages() {
	v := s.current.Load()
	v.pages, v.responses = newPageCache(), web.NewResponses()
}

// LimitCards sets how many bytes of cards are cached.
func (s *Site) LimitCards(most int) { s.cards = newPictureCache(most, cardDrawings) }

// CachedCards returns how many bytes of cards are cached.
func (s *Site) CachedCards() int { return s.cards.files.Size() }

// CachedPages returns how many bytes of finished pages are cached.
func (s *Site) CachedPages() int { return s.current.Load().pages.Size() }
