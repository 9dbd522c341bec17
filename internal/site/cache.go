package site

import "palmares/internal/cache"

// pageCacheSize is enough for about 2,000 finished pages. Rendering one costs half a millisecond.
const pageCacheSize = 32 << 20

// newPageCache returns an empty cache of the finished pages of one version, by path.
func newPageCache() *cache.Cache[string, *response] {
	const fields = 200
	return cache.New(pageCacheSize, func(path string, a *response) int {
		return fields + len(path) + cap(a.body) + cap(a.packed)
	})
}

// cachedPage returns the page of a path, which build makes if it is not cached.
func (v *view) cachedPage(path string, build func() (*response, error)) (*response, error) {
	if a, ok := v.pages.Get(path); ok {
		return a, nil
	}
	a, err := build()
	if err == nil && a.location == "" && !a.passing { // anybody can invent addresses that are redirected
		v.pages.Put(path, a)
	}
	return a, err
}
