package snapshot

import (
	"palmares/internal/catalog"
	"palmares/internal/record"
)

// SetFeed adds the feed of the records, which must be that of the catalogue. Call it
// before the snapshot is served.
func (s *Snapshot) SetFeed(f *record.Feed) {
	s.feed, s.changes = f, map[record.Kind]map[string]int32{}
	for _, kind := range record.Kinds {
		s.changes[kind] = map[string]int32{}
	}
	for i := range f.Changes {
		s.changes[f.Changes[i].Kind][f.Changes[i].Slug] = int32(i)
	}
}

// HasDataset reports whether the publisher gives the catalogue away in bulk.
func (s *Snapshot) HasDataset() bool { return s.Catalog.Settings.Dataset != catalog.DatasetOff }

// Feed returns the feed of the records; nil if there is none.
func (s *Snapshot) Feed() *record.Feed { return s.feed }

// Change returns the last change of a record that the public sees, or nil. There must be
// a feed.
func (s *Snapshot) Change(kind record.Kind, slug string) *record.Change {
	i, found := s.changes[kind][slug]
	if !found || s.feed.Changes[i].Deleted {
		return nil
	}
	return &s.feed.Changes[i]
}
