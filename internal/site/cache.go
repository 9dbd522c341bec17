package site

import "sync"

// A pageCache keeps finished pages of one version.
type pageCache struct {
	mu      sync.Mutex
	size    int
	answers map[string]*answer
}

// pageCacheSize bounds the memory for finished pages: about 2,000 of them. A full
// cache is emptied; rendering a page again costs half a millisecond.
const pageCacheSize = 32 << 20

// answerSize is roughly what an entry takes besides its path and body.
const answerSize = 300

// get returns the page at path, which build makes if it is not cached.
func (c *pageCache) get(path string, build func() (*answer, error)) (*answer, error) {
	c.mu.Lock()
	a := c.answers[path]
	c.mu.Unlock()
	if a != nil {
		return a, nil
	}
	a, err := build()
	if err == nil {
		c.put(path, a)
	}
	return a, err
}

func (c *pageCache) put(path string, a *answer) {
	if a.location != "" || a.passing {
		return // anybody can invent addresses that are redirected
	}
	size := cap(a.body) + len(path) + answerSize
	if size > pageCacheSize/8 {
		return // one large page must not evict all others
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size+size > pageCacheSize || c.answers == nil {
		c.answers, c.size = map[string]*answer{}, 0
	}
	if _, ok := c.answers[path]; !ok {
		c.answers[path] = a
		c.size += size
	}
}
