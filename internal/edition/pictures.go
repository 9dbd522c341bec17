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

// pictures are those of a view. Of a folder that is read again and again, only pictures that are new are decoded, and
// come in a spool of their own; a spool is closed when the folder uses none of its pictures any more.
type pictures struct {
	published site.Pictures                               // what was published before; nil for nothing
	elsewhere func(source string) (catalog.Picture, bool) // finds what was published; may be nil
	base      atomic.Pointer[pictures]                    // of the folder; nil for none

	mu   sync.Mutex
	open []spool
	own  map[string]catalog.Picture // of the folder, by the hash of their file
}

type spool struct {
	*content.Pictures
	sources []string
}

// add takes over the pictures of a folder that was just read.
func (p *pictures) add(read *content.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := spool{Pictures: read.Pictures}
	now := map[string]catalog.Picture{}
	for _, x := range read.Catalog.Pictures {
		if _, ok := p.own[x.Source]; !ok {
			next.sources = append(next.sources, x.Source)
		}
		now[x.Source] = x
	}
	p.own = now
	p.open = slices.DeleteFunc(append(p.open, next), func(o spool) bool {
		isUnused := !slices.ContainsFunc(o.sources, func(source string) bool { _, ok := now[source]; return ok })
		if isUnused {
			_ = o.Close() // a temporary file, which the system removes in any case
		}
		return isUnused
	})
}

func (p *pictures) close() {
	for _, o := range p.open {
		_ = o.Close() // a temporary file, which the system removes in any case
	}
}

// find implements content.Options.Known.
func (p *pictures) find(source string) (catalog.Picture, bool) {
	p.mu.Lock()
	own, ok := p.own[source]
	p.mu.Unlock()
	if !ok && p.elsewhere != nil {
		return p.elsewhere(source)
	}
	return own, ok
}

var errNoPicture = errors.New("the folder has no such picture")

// Read implements site.Pictures.
func (p *pictures) Read(ctx context.Context, hash string) ([]byte, error) {
	p.mu.Lock()
	for _, o := range p.open {
		if file, err := o.Pictures.Read(ctx, hash); err == nil {
			p.mu.Unlock()
			return file, nil
		}
	}
	p.mu.Unlock()
	if base := p.base.Load(); base != nil {
		return base.Read(ctx, hash)
	}
	if p.published != nil {
		return p.published.Read(ctx, hash)
	}
	return nil, errNoPicture
}
