package snapshot

import (
	"palmares/internal/catalog"
	"palmares/internal/record"
)

// SetFeed adds the feed of the records, which must be that of the catalogue. Call it
// before the index is built.
func (s *Snapshot) SetFeed(f *record.Feed) {
	s.feed = f
	hash := func(i int32) uint64 { return changeHash(f.Changes[i].Kind, f.Changes[i].Slug) }
	if s.before == nil || s.before.feed == nil {
		s.changes = newTable(len(f.Changes), hash)
		return
	}
	moves := f.Since(s.before.feed)
	s.changes = s.before.changes.next(&moves, len(f.Changes), hash)
}

func changeHash(kind record.Kind, slug string) uint64 {
	return hashOf(slug) ^ hashOf(string(kind))
}

// HasDataset reports whether the publisher gives the catalogue away in bulk.
func (s *Snapshot) HasDataset() bool { return s.Catalog.Settings.Dataset != catalog.DatasetOff }

// Feed returns the feed of the records; nil if there is none.
func (s *Snapshot) Feed() *record.Feed { return s.feed }

// Change returns the last change of a record that the public sees, or nil. There must be
// a feed.
func (s *Snapshot) Change(kind record.Kind, slug string) *record.Change {
	i, found := s.changes.find(changeHash(kind, slug), func(i int32) bool {
		return s.feed.Changes[i].Slug == slug && s.feed.Changes[i].Kind == kind
	})
	if !found || s.feed.Changes[i].Deleted {
		return nil
	}
	return &s.feed.Changes[i]
}
