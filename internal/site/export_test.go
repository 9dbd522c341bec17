package site

import "context"

// OccupyPages takes all the room for pages that are made, until the function that it returns is called.
func (s *Site) OccupyPages(ctx context.Context) (leave func(), err error) {
	const all = 1 << 30
	return func() { s.making.Leave(all) }, s.making.Enter(ctx, all)
}

// MakePage returns a page of the served version from the cache, or makes it.
func (s *Site) MakePage(path string, location string, made func()) (to string) {
	a, err := s.current.Load().cachedPage(path, func() (*response, error) {
		made()
		return &response{body: []byte(path), location: location}, nil
	})
	if err != nil {
		panic(err)
	}
	return a.location
}

// LimitCards sets how many bytes of cards are cached.
func (s *Site) LimitCards(most int) { s.cards = newPictureCache(most, cardDrawings) }

// CachedCards returns how many bytes of cards are cached.
func (s *Site) CachedCards() int { return s.cards.files.Size() }

// CachedPages returns how many bytes of finished pages are cached.
func (s *Site) CachedPages() int { return s.current.Load().pages.Size() }
