package snapshot

import (
	"math"

	"palmares/internal/record"
)

// SetFeed adds the feed of the records, which must be that of the catalogue. Call it
// before the index is built.
func (s *Snapshot) SetFeed(f *record.Feed) {
	s.Feed = f
	s.changes = map[record.Kind]map[string]int32{}
	for i := range f.Changes {
		kind := f.Changes[i].Kind
		if s.changes[kind] == nil {
			s.changes[kind] = make(map[string]int32, record.Count(s.Catalog, kind))
		}
		s.changes[kind][f.Changes[i].Slug] = int32(i)
	}
}

// FirstSlug returns the slug that a record had first here, given its former ones. Without a feed, any of these counts.
func (s *Snapshot) FirstSlug(kind record.Kind, slug string, former []string) string {
	if s.Feed == nil && len(former) > 0 {
		return former[0]
	}
	first := int32(math.MaxInt32)
	for _, alias := range former {
		i, found := s.changes[kind][alias]
		if found && i < first && s.Feed.Changes[i].Deleted {
			slug, first = alias, i
		}
	}
	return slug
}

// Change returns the last change of a record that the public sees, or nil. There must be
// a feed.
func (s *Snapshot) Change(kind record.Kind, slug string) *record.Change {
	i, found := s.changes[kind][slug]
	if !found || s.Feed.Changes[i].Deleted {
		return nil
	}
	return &s.Feed.Changes[i]
}
