package snapshot

import "palmares/internal/record"

// SetFeed adds the feed of the records, which must be that of the catalogue. Call it
// before the index is built.
func (s *Snapshot) SetFeed(f *record.Feed) {
	s.Feed = f
	hash := func(i int32) uint64 { return changeHash(f.Changes[i].Kind, f.Changes[i].Slug) }
	if s.before == nil || s.before.Feed == nil {
		s.changes = newTable(len(f.Changes), hash)
		return
	}
	moves := f.Since(s.before.Feed)
	s.changes = s.before.changes.next(&moves, len(f.Changes), hash)
}

func changeHash(kind record.Kind, slug string) uint64 {
	return hashOf(slug) ^ hashOf(string(kind))
}

// Change returns the last change of a record that the public sees, or nil. There must be
// a feed.
func (s *Snapshot) Change(kind record.Kind, slug string) *record.Change {
	i, found := s.changes.find(changeHash(kind, slug), func(i int32) bool {
		return s.Feed.Changes[i].Slug == slug && s.Feed.Changes[i].Kind == kind
	})
	if !found || s.Feed.Changes[i].Deleted {
		return nil
	}
	return &s.Feed.Changes[i]
}
