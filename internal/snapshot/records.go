package snapshot

// The website renders records instead of sending JSON. These methods return them
// in the order of the API.

// IDs returns the indexes of the records of a page: in Catalog.Tools for tools and
// prices, in Published for comparisons, and in Catalog.Retired and
// Catalog.Categories for the others. The caller must not modify them.
func (p *Page) IDs() []int32 { return p.ids }
