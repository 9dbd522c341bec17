package store

import "palmares/internal/catalog"

// differs reports whether a published tool differs from that of the new catalogue and must
// be kept to compare the two.
func (p *publication) differs(was *catalog.Tool) bool {
	return !p.unchanged.Settle(was, p.opts.Mirror != nil, catalog.Day(p.now))
}
