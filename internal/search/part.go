package search

import "palmares/internal/catalog"

// A Part is a number of consecutive tools of a catalogue that are read one by one, so that
// they need not be in memory. Different parts can be read at the same time.
type Part struct{ builder *builder }

// NewPart returns a Part without tools. c needs only its categories.
func NewPart(c *catalog.Catalog) *Part { return &Part{newBuilder(nil, categoryTexts(c))} }

// Add adds the next tool. Only what is indexed of it is kept.
func (p *Part) Add(t *catalog.Tool) { p.builder.add(t) }

// Join returns the index of all tools of some parts, sorted by slug, and empties the parts. The
// index can only be written, as it does not have the tools.
func Join(c *catalog.Catalog, all ...*Part) *Index {
	joined, tools := make(parts, len(all)), int32(0)
	for i, p := range all {
		b := p.builder
		for range b.ends {
			b.which = append(b.which, tools)
			tools++
		}
		joined[i] = b
	}
	return joined.index(c, joined[0].categories)
}
