package snapshot

import (
	"palmares/internal/catalog"
	"palmares/internal/record"
)

// SetFeed adds the feed of the records, which must be that of the catalogue. Call it
// before the index is built.
func (s *Snapshot) SetFeed(f *record.Feed) {
	s.Feed = f
	s.changes = map[*catalog.Kind]map[string]int32{}
	for i := range f.Changes {
		kind := f.Changes[i].Kind
		if s.changes[kind] == nil {
			s.changes[kind] = make(map[string]int32, kind.Len(s.Catalog))
		}
		s.changes[kind][f.Changes[i].Slug] = int32(i)
	}
}

// Change returns the last change of a record that the public sees, or nil. There must be
// a feed.
func (s *Snapshot) Change(kind *catalog.Kind, slug string) *record.Change {
	i, found := s.changes[kind][slug]
	if !found || s.Feed.Changes[i].Deleted {
		return nil
	}
	return &s.Feed.Changes[i]
}
