package record

import (
	"cmp"
	"crypto/sha256"
	"hash"
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
	Kind      Kind
	Slug      string
	Deleted   bool
	RenamedTo string  // for a deleted record, the slug that is now used instead; "" for none
	Hash      string  // of the record; "" if it is deleted
	Size      int     // of the record in bytes
	Images    []Image // of the record

	// When the record became public, the last time that it did, by any slug; 0 and "" if it
	// is not known or the record is deleted.
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
	kind Kind
	slug string
}

// A Step is a publication, as a feed sees it.
type Step struct {
	Old, Next *catalog.Catalog // both sorted and complete
	Version   int64            // of Next
	At        string
	// Touched reports whether a record differs between the two. Where it wrongly says so
	// nothing happens. It is not asked about changes of the URL, of the dataset and of
	// pictures, which change records that did not change themselves.
	Touched func(kind Kind, slug string) bool
}

// First returns the feed of a catalogue that has had none.
func First(id string, c *catalog.Catalog, version int64, at string) *Feed {
	empty := &Feed{ID: id, Format: Format}
	first, _ := empty.After(Step{Old: &catalog.Catalog{}, Next: c, Version: version, At: at})
	return first
}

// After returns the feed after a publication, and what the publication added to it: one
// change with a new position for each record that the public now sees differently.
//
// A record that the public no longer sees is deleted, whatever became of it; its change
// stays for ever, and follows the record that has its slug as an alias.
func (f *Feed) After(s Step) (next *Feed, added []Change) {
	a := f.Advance(s)
	for i := range f.Changes {
		a.Add(&f.Changes[i])
	}
	next, _ = a.Finish(func(c *Change) error { // which never fails
		added = append(added, *c)
		return nil
	})
	next.Changes = f.With(added)
	return next, added
}

// An Advance is After for a feed of many changes, of which it keeps few: Add takes those of
// the feed before, and Finish gives those that the publication adds, one by one.
type Advance struct {
	Step
	id         string
	format     int
	last       int64 // position that was used
	emit       func(*Change) error
	aliases    map[key]string
	everything bool // may have other bytes than before

	// The digests of the records that the public now sees, by index in Next; zero for those
	// that may have changed.
	digests map[Kind][]digest

	before []Change // of the feed before, of other records
	alive  []bool   // by index in before: the public sees the record
}

// Advance begins a publication. It does not use f.Changes.
func (f *Feed) Advance(s Step) *Advance {
	a := &Advance{Step: s, id: f.ID, format: f.Format, last: f.Last, aliases: aliasesOf(s.Next), digests: map[Kind][]digest{}}
	a.everything = a.changesEverything()
	for _, kind := range Kinds {
		a.digests[kind] = make([]digest, Count(s.Next, kind))
	}
	return a
}

// Add adds a change of the feed before. Those of records that stay as they are, nearly all
// in most publications, are not kept.
func (a *Advance) Add(c *Change) {
	i, isLive := find(a.Next, c.Kind, c.Slug)
	if hash, ok := parseHash(c.Hash); ok && isLive && !c.Deleted && !a.everything && !a.mayDiffer(c) && a.aliases[key{c.Kind, c.Slug}] == "" {
		a.digests[c.Kind][i] = hash
		return
	}
	a.before = append(a.before, *c)
}

// Finish passes the changes that the publication adds to emit, by position, and returns
// the feed after it, without its changes. It stops when emit returns an error.
func (a *Advance) Finish(emit func(*Change) error) (*Feed, error) {
	a.emit, a.alive = emit, make([]bool, len(a.before))
	if err := a.addLive(); err != nil {
		return nil, err
	}
	if err := a.addDeleted(); err != nil {
		return nil, err
	}
	h := newStateHash()
	for _, kind := range slices.Sorted(slices.Values(Kinds)) {
		for i, d := range a.digests[kind] {
			if isLive(a.Next, kind, i) {
				h.add(kind, slugAt(a.Next, kind, i), d.String())
			}
		}
	}
	return &Feed{ID: a.id, Format: Format, Last: a.last, State: h.state()}, nil
}

func (a *Advance) add(c *Change) error {
	a.last++
	c.Position, c.Version, c.At = a.last, a.Version, a.At
	return a.emit(c)
}

// addLive adds the records that the public now sees, or sees differently.
func (a *Advance) addLive() error {
	known := make(map[key]int, len(a.before))
	for i := range a.before {
		known[key{a.before[i].Kind, a.before[i].Slug}] = i
	}
	former := a.formerSlugs(known)
	var buf []byte
	for kind, i := range live(a.Next) {
		if a.digests[kind][i] != (digest{}) {
			continue
		}
		slug := slugAt(a.Next, kind, i)
		at, isKnown := known[key{kind, slug}]
		wasAlive := isKnown && !a.before[at].Deleted
		if isKnown {
			a.alive[at] = true
		}
		record := recordAt(a.Next, kind, i)
		images := record.Images(a.Next)
		buf = record.Append(buf[:0], images)
		sum := digest(sha256.Sum256(buf))
		a.digests[kind][i] = sum
		hash := sum.String()
		if wasAlive && a.before[at].Hash == hash {
			continue
		}
		c := &Change{Kind: kind, Slug: slug, Hash: hash, Size: len(buf), Images: images}
		before := former[key{kind, slug}]
		if wasAlive {
			before = &a.before[at]
		}
		if before != nil {
			c.FirstPosition, c.FirstAt = before.FirstPosition, before.FirstAt
		} else {
			c.FirstPosition, c.FirstAt = a.last+1, a.At
		}
		if err := a.add(c); err != nil {
			return err
		}
	}
	return nil
}

// formerSlugs returns, by present slug, the changes of the records that had another one: of
// several, that of the one that became public first.
func (a *Advance) formerSlugs(known map[key]int) map[key]*Change {
	former := map[key]*Change{}
	for alias, slug := range a.aliases {
		at, ok := known[alias]
		if !ok || a.before[at].Deleted {
			continue
		}
		present := key{alias.kind, slug}
		if other := former[present]; other == nil || a.before[at].FirstPosition < other.FirstPosition {
			former[present] = &a.before[at]
		}
	}
	return former
}

// changesEverything reports whether any record may have other bytes than before.
func (a *Advance) changesEverything() bool {
	heads := func(c *catalog.Catalog) bool { return c.Settings.Dataset == catalog.DatasetHead }
	return a.format != Format || a.Old.URL != a.Next.URL || heads(a.Old) != heads(a.Next)
}

// mayDiffer reports whether a record may have other bytes than before. Encoding all of
// them would make a small publication as slow as a large one.
func (a *Advance) mayDiffer(c *Change) bool {
	return a.Touched(c.Kind, c.Slug) ||
		slices.ContainsFunc(c.Images, func(i Image) bool { return a.Next.Pictures[i.Path].Hash != i.SHA256 })
}

// addDeleted adds the records that the public no longer sees, and those deleted before
// whose slug has become, or is no longer, an alias.
func (a *Advance) addDeleted() error {
	var deleted []*Change
	for i := range a.before {
		was := &a.before[i]
		renamedTo := a.aliases[key{was.Kind, was.Slug}]
		if a.alive[i] || was.Deleted && was.RenamedTo == renamedTo {
			continue
		}
		deleted = append(deleted, &Change{Kind: was.Kind, Slug: was.Slug, Deleted: true, RenamedTo: renamedTo})
	}
	slices.SortFunc(deleted, byName)
	for _, c := range deleted {
		if err := a.add(c); err != nil {
			return err
		}
	}
	return nil
}

// byName is the order of the lines of a state: neither kinds nor slugs have a byte as low
// as NUL.
func byName(a, b *Change) int {
	if a.Kind != b.Kind {
		return strings.Compare(string(a.Kind), string(b.Kind))
	}
	return strings.Compare(a.Slug, b.Slug)
}

// aliasesOf returns the current slugs of the records that have aliases.
func aliasesOf(c *catalog.Catalog) map[key]string {
	aliases := map[key]string{}
	for i := range c.Tools {
		for _, alias := range c.Tools[i].Aliases {
			aliases[key{Tool, alias}] = c.Tools[i].Slug
		}
	}
	for i := range c.Comparisons {
		if x := &c.Comparisons[i]; isLive(c, Comparison, i) {
			for _, alias := range x.Aliases {
				aliases[key{Comparison, alias}] = x.Slug
			}
		}
	}
	return aliases
}

// State returns the state of a copy of a catalogue: the SHA-256 of the lines
// "kind NUL slug NUL hash LF" of all records, in byte order. Deleted ones do not count.
func State(changes []Change) string {
	alive := make([]*Change, 0, len(changes))
	for i := range changes {
		if !changes[i].Deleted {
			alive = append(alive, &changes[i])
		}
	}
	slices.SortFunc(alive, byName)
	h := newStateHash()
	for _, c := range alive {
		h.add(c.Kind, c.Slug, c.Hash)
	}
	return h.state()
}

// A stateHash hashes the lines of a state.
type stateHash struct {
	hash.Hash
	line []byte
}

func newStateHash() *stateHash { return &stateHash{Hash: sha256.New()} }

func (h *stateHash) add(kind Kind, slug, hash string) {
	h.line = append(append(h.line[:0], kind...), 0)
	h.line = append(append(h.line, slug...), 0)
	h.line = append(append(h.line, hash...), '\n')
	h.Write(h.line)
}

func (h *stateHash) state() string { return digest(h.Sum(nil)).String() }

// From returns the changes after a position, oldest first. The caller must not modify
// them.
func (f *Feed) From(after int64) []Change {
	i, _ := slices.BinarySearchFunc(f.Changes, after+1, func(c Change, position int64) int { return cmp.Compare(c.Position, position) })
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

// Since says how the changes of an earlier feed became those of f.
func (f *Feed) Since(earlier *Feed) catalog.Moves {
	m := catalog.Moves{Moved: make([]int32, len(earlier.Changes))}
	next := 0
	add := func(before int64) {
		for ; next < len(f.Changes) && f.Changes[next].Position < before; next++ {
			m.Fresh = append(m.Fresh, int32(next))
		}
	}
	for i := range earlier.Changes {
		position := earlier.Changes[i].Position
		add(position)
		if m.Moved[i] = -1; next < len(f.Changes) && f.Changes[next].Position == position {
			m.Moved[i] = int32(next)
			next++
		}
	}
	add(math.MaxInt64)
	return m
}
