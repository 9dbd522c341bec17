package site

import (
	"context"
	"fmt"
	"net/http/httptest"
)

// OccupyPages takes all places where pages are made, until the function that it returns is called.
func (s *Site) OccupyPages(ctx context.Context) (leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	cancel() // nobody waits
	var all []func()
	for network := range 256 {
		r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", network)
		if leave, err := s.cfg.Places.Enter(r); err == nil {
			all = append(all, leave)
		}
	}
	return func() {
		for _, leave := range all {
			leave()
		}
	}
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
func (s *Site) LimitCards(most int) { s.cards = newPictureCache(most) }

// CachedCards returns how many bytes of cards are cached.
func (s *Site) CachedCards() int { return s.cards.Size() }

// CachedPages returns how many bytes of finished pages are cached.
func (s *Site) CachedPages() int { return s.current.Load().pages.Size() }
