package site

import (
	"errors"

	"palmares/internal/cache"
)

// pageCacheSize is enough for about 2,000 finished pages. Rendering one costs half a millisecond.
const pageCacheSize = 32 << 20

// newPageCache returns an empty cache of the finished pages of one version, by path.
func newPageCache() *cache.Cache[string, *response] {
	const fields = 200
	return cache.New(pageCacheSize, func(path string, a *response) int {
		return fields + len(path) + cap(a.body)
	})
}

var errNotCached = errors.New("the page is not to be cached")

// cachedPage returns the page of a path, which build makes if it is not cached: once, for all who ask
// for it meanwhile. Redirects, which depend on more than the path and which anybody can cause, and
// passing pages are made for each of them.
func (v *view) cachedPage(path string, build func() (*response, error)) (*response, error) {
	var own *response
	a, err := v.pages.Load(path, func() (*response, error) {
		a, err := build()
		if err == nil && (a.location != "" || a.passing) {
			own = a
			return nil, errNotCached
		}
		return a, err
	})
	switch {
	case !errors.Is(err, errNotCached):
		return a, err
	case own != nil:
		return own, nil
	}
	return build()
}
