package site

// ForgetPages empties the cache of finished pages.
func (s *Site) ForgetPages() {
	c := &s.current.Load().pages
	c.answers, c.size = nil, 0
}

// LimitCards sets how many bytes of cards are kept.
func (s *Site) LimitCards(most int) { s.cards.most = most }

// KeptCards returns how many bytes of cards are kept.
func (s *Site) KeptCards() int { return s.cards.size }

// KeptPages returns how many finished pages are kept.
func (s *Site) KeptPages() int { return len(s.current.Load().pages.answers) }

// TextWidth estimates the width of a name on a map.
var TextWidth = textWidth
