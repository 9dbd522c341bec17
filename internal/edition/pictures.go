package edition

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/site"
)

// spools holds the pictures of a folder that is read again and again. Each time, only
// pictures that are new are decoded, and come in a spool of their own; a spool is closed
// when the folder uses none of its pictures any more.
type spools struct {
	mu       sync.Mutex
	open     []spool
	pictures map[string]catalog.Picture // of the folder, by the hash of their file
}

type spool struct {
	*content.Pictures
	sources []string
}

// known implements content.Options.Known.
func (s *spools) known(source string) (catalog.Picture, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pictures[source]
	return p, ok
}

// add takes over the pictures of a folder that was just read.
func (s *spools) add(read *content.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := spool{Pictures: read.Pictures}
	now := map[string]catalog.Picture{}
	for _, p := range read.Catalog.Pictures {
		if _, ok := s.pictures[p.Source]; !ok {
			next.sources = append(next.sources, p.Source)
		}
		now[p.Source] = p
	}
	s.pictures = now
	s.open = slices.DeleteFunc(append(s.open, next), func(o spool) bool {
		isUnused := !slices.ContainsFunc(o.sources, func(source string) bool { _, ok := now[source]; return ok })
		if isUnused {
			_ = o.Close() // a temporary file, which the system removes in any case
		}
		return isUnused
	})
}

var errNoPicture = errors.New("the folder has no such picture")

// Read implements site.Pictures.
func (s *spools) Read(ctx context.Context, hash string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		if file, err := o.Pictures.Read(ctx, hash); err == nil {
			return file, nil
		}
	}
	return nil, errNoPicture
}

func (s *spools) close() {
	for _, o := range s.open {
		_ = o.Close() // a temporary file, which the system removes in any case
	}
}

// pictures are those of a view: what was published before, and what the folder has beside it.
type pictures struct {
	spools
	published site.Pictures
	elsewhere func(source string) (catalog.Picture, bool) // finds what was published; may be nil
	base      atomic.Pointer[pictures]                    // of the folder; nil for none
}

// find implements content.Options.Known.
func (p *pictures) find(source string) (catalog.Picture, bool) {
	own, ok := p.known(source)
	if !ok && p.elsewhere != nil {
		return p.elsewhere(source)
	}
	return own, ok
}

// Read implements site.Pictures.
func (p *pictures) Read(ctx context.Context, hash string) ([]byte, error) {
	file, err := p.spools.Read(ctx, hash)
	if base := p.base.Load(); err != nil && base != nil {
		return base.Read(ctx, hash)
	}
	if err != nil && p.published != nil {
		return p.published.Read(ctx, hash)
	}
	return file, err
}
