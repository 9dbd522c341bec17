package site

// ForgetPages empties the cache of finished pages.
func (s *Site) ForgetPages() {
	c := &s.current.Load().pages
	c.answers, c.size = nil, 0
}
