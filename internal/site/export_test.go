package site

import "palmares/internal/web"

// ForgetPages empties the caches of finished pages.
func (s *Site) ForgetPages() {
	v := s.current.Load()
	v.pages.answers, v.pages.size = nil, 0
	v.kept = web.NewKept(nil)
}

// LimitCards sets how many bytes of cards are kept.
func (s *Site) LimitCards(most int) { s.cards.most = most }

// KeptCards returns how many bytes of cards are kept.
func (s *Site) KeptCards() int { return s.cards.size }

// KeptPages returns how many finished pages are kept.
func (s *Site) KeptPages() int { return len(s.current.Load().pages.answers) }
