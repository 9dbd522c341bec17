package catalog

import "time"

// An Event is a Change of a past publication. The store records it and never changes
// it; a snapshot holds the latest.
type Event struct {
	ID       string // never used twice
	Type     string // of the Change
	Slug     string
	At       time.Time
	Changed  []string       // as in Change
	Previous map[string]any // as in Change, decoded from JSON; may be nil
	Object   StoredObject   // the item at that time; may be nil

	Categories []string // that its subject has now, or had last
}
