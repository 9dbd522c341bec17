package snapshot

import "palmares/internal/record"

// A changeKey names a record of the feed.
type changeKey struct {
	kind record.Kind
	slug string
}

// SetFeed adds the feed of the records, which must be that of the catalogue. Call it
// before the index is built.
func (s *Snapshot) SetFeed(f *record.Feed) {
	s.Feed = f
	s.changes = make(map[changeKey]int32, len(f.Changes))
	for i := range f.Changes {
		s.changes[changeKey{f.Changes[i].Kind, f.Changes[i].Slug}] = int32(i)
	}
}

// Change returns the last change of a record that the public sees, or nil. There must be
// a feed.
func (s *Snapshot) Change(kind record.Kind, slug string) *record.Change {
	i, found := s.changes[changeKey{kind, slug}]
	if !found || s.Feed.Changes[i].Deleted {
		return nil
	}
	return &s.Feed.Changes[i]
}
