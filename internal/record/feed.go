package record

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// A Change is the last change of a record that is or was public.
type Change struct {
	Position  int64 // in the feed
	Version   int64 // of the publication that made it
	At        string
	Kind      *catalog.Kind
	Slug      string
	Deleted   bool
	RenamedTo string  // for a deleted record, the slug that is now used instead; "" for none
	Hash      string  // of the record; "" if it is deleted
	Size      int     // of the record in bytes
	Images    []Image // of the record

	// When the record became public for the first time, by any slug; 0 and "" if it is not known.
	FirstPosition int64
	FirstAt       string
}

// A Feed holds the last change of every record that is or was public, so that whoever
// follows it from any position, at any time, ends with an exact copy of the catalogue. A
// publication makes the next one; a Feed itself never changes.
type Feed struct {
	ID      string   // of the database; a position means something in one feed only
	Format  int      // of the records that were hashed
	Last    int64    // the highest position that was ever used
	State   string   // see State
	Changes []Change // by position, one per record
}

type key struct {
	kind *catalog.Kind
	slug string
}

// First returns the feed of a catalogue that has had none.
func First(id string, c *catalog.Catalog, version int64, at string) *Feed {
	empty := &Feed{ID: id, Format: Format}
	first, _ := empty.After(c, version, at)
	return first
}

// After returns the feed after the publication of next, which is sorted and complete, and
// what the publication added to it: one change with a new position for each record that
// the public now sees differently.
//
// A record that the public no longer sees is deleted, whatever became of it; its change
// stays for ever, and follows the record that has its slug as an alias.
func (f *Feed) After(next *catalog.Catalog, version int64, at string) (after *Feed, added []Change) {
	s := f.Step(next, version, at)
	for i := range f.Changes {
		s.Before(&f.Changes[i])
	}
	var document []byte
	for _, kind := range catalog.Kinds {
		for r := range Each(next, kind) {
			images := r.Images(next)
			document = r.Append(document[:0], images)
			if c := s.Next(r, document); c != nil {
				c.Images = images
				added = append(added, *c)
			}
		}
	}
	deleted, after := s.Finish()
	for _, c := range deleted {
		added = append(added, *c)
	}
	after.Changes = f.With(added)
	return after, added
}

// A Step is After for a feed of many changes, which need not be in memory: Before takes
// those of the feed before, Next each record that the public sees now, kinds in their order
// and records by slug, and Finish ends it.
type Step struct {
	feed    Feed // the next one, without its changes
	version int64
	at      string
	aliases map[key]string // the current slugs
	before  map[key]*known
	former  map[key]*known // by current slug, of records that had another one; nil before the first Next
	alive   []stateLine
	ended   []string // names of pages and articles
}

// A known is what a step must know of a change of the feed before.
type known struct {
	position      int64
	hash          string
	deleted       bool
	isAlive       bool // the public still sees the record
	renamedTo     string
	firstPosition int64
	firstAt       string
}

// Step begins a publication of next. It does not use f.Changes.
func (f *Feed) Step(next *catalog.Catalog, version int64, at string) *Step {
	return &Step{
		feed: Feed{ID: f.ID, Format: Format, Last: f.Last}, version: version, at: at,
		aliases: aliasesOf(next), before: map[key]*known{}, ended: next.Ended,
	}
}

// Before adds a change of the feed before.
func (s *Step) Before(c *Change) {
	s.before[key{c.Kind, c.Slug}] = &known{
		position: c.Position, hash: c.Hash, deleted: c.Deleted, renamedTo: c.RenamedTo, firstPosition: c.FirstPosition, firstAt: c.FirstAt,
	}
}

// Next adds a record that the public sees now, given its canonical form. It returns the
// change, without Images, or nil if the public saw the same before.
func (s *Step) Next(r Record, canonical []byte) *Change {
	if s.former == nil {
		s.former = s.formerSlugs()
	}
	k := key{r.Kind, r.Slug}
	hash := Hash(canonical)
	s.alive = append(s.alive, stateLine{r.Kind, r.Slug, hash})
	was := s.before[k]
	if was != nil {
		was.isAlive = true
	}
	if was == nil || was.deleted {
		was = cmp.Or(s.former[k], was)
	} else if was.hash == hash {
		return nil
	}
	c := s.add(&Change{Kind: r.Kind, Slug: r.Slug, Hash: hash, Size: len(canonical)})
	c.FirstPosition, c.FirstAt = c.Position, s.at
	if was != nil {
		c.FirstPosition, c.FirstAt = was.firstPosition, was.firstAt
	}
	return c
}

func (s *Step) add(c *Change) *Change {
	s.feed.Last++
	c.Position, c.Version, c.At = s.feed.Last, s.version, s.at
	return c
}

// formerSlugs returns, by current slug, what is known of the records that had another one:
// of several, the one that became public first.
func (s *Step) formerSlugs() map[key]*known {
	former := map[key]*known{}
	for alias, slug := range s.aliases {
		was := s.before[alias]
		if was == nil || was.deleted {
			continue
		}
		current := key{alias.kind, slug}
		if other := former[current]; other == nil || was.firstPosition < other.firstPosition {
			former[current] = was
		}
	}
	return former
}

// Finish returns the changes of the records that the public no longer sees, of those deleted before
// whose slug has become, or is no longer, an alias, and of pages and articles that had ended before they were
// first published here; and the feed after the publication, without its changes.
func (s *Step) Finish() (deleted []*Change, after *Feed) {
	for k, was := range s.before {
		renamedTo := s.aliases[k]
		if !was.isAlive && (!was.deleted || was.renamedTo != renamedTo) {
			c := &Change{
				Position: math.MaxInt64, Kind: k.kind, Slug: k.slug, Deleted: true, RenamedTo: renamedTo,
				FirstPosition: was.firstPosition, FirstAt: was.firstAt,
			}
			if was.deleted {
				c.Position = was.position
			}
			deleted = append(deleted, c)
		}
	}
	for _, name := range s.ended {
		folder, slug, _ := strings.Cut(name, "/")
		k := key{catalog.KindIn(folder), slug}
		if s.before[k] == nil {
			deleted = append(deleted, &Change{Kind: k.kind, Slug: slug, Deleted: true, FirstPosition: s.feed.Last + 1, FirstAt: s.at})
		}
	}
	// The former slugs of a record keep their order, the first one first.
	slices.SortFunc(deleted, func(a, b *Change) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), byName(a.Kind, a.Slug, b.Kind, b.Slug))
	})
	for _, c := range deleted {
		s.add(c)
	}
	s.feed.State = stateOf(s.alive)
	return deleted, &s.feed
}

// byName is the order of the lines of a state: neither kinds nor slugs have a byte as low
// as NUL.
func byName(kind *catalog.Kind, slug string, other *catalog.Kind, otherSlug string) int {
	return cmp.Or(strings.Compare(kind.Name, other.Name), strings.Compare(slug, otherSlug))
}

// aliasesOf returns the current slugs of the records that have aliases.
func aliasesOf(c *catalog.Catalog) map[key]string {
	aliases := map[key]string{}
	for _, kind := range catalog.WrittenKinds {
		for i := range kind.Len(c) {
			record := kind.At(c, i)
			for _, alias := range kind.Aliases(record) {
				if kind.IsPublic(record) {
					aliases[key{kind, alias}] = kind.Slug(record)
				}
			}
		}
	}
	return aliases
}

type stateLine struct {
	kind *catalog.Kind
	slug string
	hash string
}

// State returns the state of a copy of a catalogue: the SHA-256 of the lines
// "kind NUL slug NUL hash LF" of all records, in byte order. Deleted ones do not count.
func State(changes []Change) string {
	var alive []stateLine
	for i := range changes {
		if c := &changes[i]; !c.Deleted {
			alive = append(alive, stateLine{c.Kind, c.Slug, c.Hash})
		}
	}
	return stateOf(alive)
}

func stateOf(alive []stateLine) string {
	slices.SortFunc(alive, func(a, b stateLine) int { return byName(a.kind, a.slug, b.kind, b.slug) })
	sum := sha256.New()
	var line []byte
	for i := range alive {
		l := &alive[i]
		line = fmt.Appendf(line[:0], "%s\x00%s\x00%s\n", l.kind.Name, l.slug, l.hash)
		sum.Write(line)
	}
	return hashText(sum.Sum(nil))
}

// From returns the changes after a position, oldest first. The caller must not modify
// them.
func (f *Feed) From(after int64) []Change {
	i, _ := slices.BinarySearchFunc(f.Changes, after+1,
		func(c Change, position int64) int { return cmp.Compare(c.Position, position) })
	return f.Changes[i:]
}

// With returns the feed after changes, which have the positions after f.Last: each
// replaces that of the same record.
func (f *Feed) With(changes []Change) []Change {
	if len(changes) == 0 {
		return f.Changes
	}
	replaced := make(map[key]bool, len(changes))
	for i := range changes {
		replaced[key{changes[i].Kind, changes[i].Slug}] = true
	}
	next := make([]Change, 0, len(f.Changes)+len(changes))
	for i := range f.Changes {
		if c := &f.Changes[i]; !replaced[key{c.Kind, c.Slug}] {
			next = append(next, *c)
		}
	}
	return append(next, changes...)
}
