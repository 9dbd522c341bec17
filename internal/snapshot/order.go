package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"palmares/internal/catalog"
)

// A Sort is an order of the list of tools.
type Sort int

// The orders of the list of tools, the default first.
const (
	ScoreDesc Sort = iota
	ScoreAsc
	NameAsc
	NameDesc
	sortCount
)

// Sorts holds the wire name of each Sort.
var Sorts = [sortCount]string{"score_desc", "score_asc", "name_asc", "name_desc"}

// An order is a sorted list of tools (indexes in the catalogue), with the data to
// filter it.
type order struct {
	ids          []int32
	score        levels // at least
	obsolescence levels // at most: the figures are negated
}

// orderTools computes every order, of all tools and of each category, from the orders of
// all tools.
func orderTools(c *catalog.Catalog, x *columns, all [sortCount][]int32) map[string]*[sortCount]order {
	sizes := make([]int, len(c.Categories))
	for _, category := range x.category {
		sizes[category]++
	}
	scores := newFigures(x.score)
	negated := make([]float64, len(x.obsolescence))
	for i, o := range x.obsolescence {
		negated[i] = -o
	}
	obsolescences := newFigures(negated)

	orders := map[string]*[sortCount]order{"": {}}
	byNumber := make([]*[sortCount]order, len(c.Categories))
	for i := range c.Categories {
		byNumber[i] = &[sortCount]order{}
		orders[c.Categories[i].Slug] = byNumber[i]
	}
	var wait sync.WaitGroup
	for sort, ids := range all {
		wait.Go(func() {
			for k, size := range sizes {
				byNumber[k][sort].ids = make([]int32, 0, size)
			}
			for _, i := range ids {
				o := &byNumber[x.category[i]][sort]
				o.ids = append(o.ids, i)
			}
			orders[""][sort].ids = ids
			for _, sorts := range orders {
				o := &sorts[sort]
				o.score, o.obsolescence = scores.levels(o.ids), obsolescences.levels(o.ids)
			}
		})
	}
	wait.Wait()
	return orders
}

// sortTools returns all tools in every order, and sets x.name. Names are compared by the French
// collation, with accents and case last; ties are broken by slug, which is the
// order of the catalogue.
func sortTools(c *catalog.Catalog, x *columns) (all [sortCount][]int32) {
	names, isSame := sortNames(x.name, func(i int) string { return c.Tools[i].Name })
	all[NameAsc] = names
	all[NameDesc] = make([]int32, 0, len(names))
	for end := len(names); end > 0; { // those of one name stay in the order of their slugs
		first := end - 1
		for first > 0 && isSame(names[first-1], names[end-1]) {
			first--
		}
		all[NameDesc] = append(all[NameDesc], names[first:end]...)
		end = first
	}
	scores := newFigures(x.score)
	all[ScoreDesc] = scores.sort(names, -1)
	all[ScoreAsc] = scores.sort(names, +1)
	return all
}

// nextSorts is sortTools for the catalogue that follows that of before.
func nextSorts(c *catalog.Catalog, x *columns, before [sortCount][]int32, m *catalog.Moves) (all [sortCount][]int32) {
	one, other := newKeys(), newKeys()
	for sort, direction := range map[Sort]int{NameAsc: +1, NameDesc: -1} {
		all[sort] = insert(before[sort], m, func(a, b int32) int {
			order := cmp.Compare(x.name[a], x.name[b])
			if order == 0 {
				order = bytes.Compare(one.of(c.Tools[a].Name), other.of(c.Tools[b].Name))
			}
			return cmp.Or(direction*order, cmp.Compare(a, b))
		})
	}
	place := make([]int32, len(c.Tools)) // by tool, in the order of names
	for at, i := range all[NameAsc] {
		place[i] = int32(at)
	}
	for sort, direction := range map[Sort]float64{ScoreDesc: -1, ScoreAsc: +1} {
		all[sort] = insert(before[sort], m, func(a, b int32) int {
			p, q := direction*x.score[a], direction*x.score[b]
			switch {
			case p < q, q != q && p == p: // those without a score come last
				return -1
			case p > q, p != p && q == q:
				return +1
			}
			return cmp.Compare(place[a], place[b])
		})
	}
	return all
}

// insert returns a sorted list with other numbers for its records, without those that are
// gone, and with the fresh ones.
func insert(sorted []int32, m *catalog.Moves, compare func(a, b int32) int) []int32 {
	if m.None() {
		return sorted
	}
	fresh := slices.Clone(m.Fresh)
	slices.SortFunc(fresh, compare)
	// The fresh ones are inserted from the end, so that one list is enough.
	next := make([]int32, 0, len(sorted)+len(fresh))
	for _, i := range sorted {
		if to := m.Moved[i]; to >= 0 {
			next = append(next, to)
		}
	}
	rest := len(next)
	next = next[:rest+len(fresh)]
	for len(fresh) > 0 {
		last := fresh[len(fresh)-1]
		at := sort.Search(rest, func(k int) bool { return compare(next[k], last) > 0 })
		copy(next[at+len(fresh):], next[at:rest])
		next[at+len(fresh)-1] = last
		rest, fresh = at, fresh[:len(fresh)-1]
	}
	return next
}

// keys are collation keys of names, one at a time.
type keys struct {
	french *collate.Collator
	buf    collate.Buffer
}

func newKeys() *keys { return &keys{french: collate.New(language.French)} }

// of returns the key of a name, until the next one is asked for.
func (k *keys) of(name string) []byte {
	k.buf.Reset()
	return k.french.KeyFromString(&k.buf, name)
}

// keyPrefix returns the first eight bytes of a collation key, which most comparisons end
// with.
func keyPrefix(key []byte) uint64 {
	var prefix [8]byte
	copy(prefix[:], key)
	return binary.BigEndian.Uint64(prefix[:])
}

// sortNames sets the prefixes of the keys of names, and returns the order of the names, those
// that are equal by number, and what reports whether two are equal.
func sortNames(prefixes []uint64, name func(i int) string) (ids []int32, isSame func(a, b int32) bool) {
	n := len(prefixes)
	type sorted struct {
		prefix     uint64
		start, end uint32
		id         int32
	}
	k := newKeys()
	var text []byte // all keys
	list := make([]sorted, n)
	for i := range list {
		key := k.of(name(i))
		prefixes[i] = keyPrefix(key)
		list[i] = sorted{prefixes[i], uint32(len(text)), uint32(len(text) + len(key)), int32(i)}
		text = append(text, key...)
	}
	slices.SortFunc(list, func(a, b sorted) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return cmp.Or(bytes.Compare(text[a.start:a.end], text[b.start:b.end]), cmp.Compare(a.id, b.id))
	})
	ids = make([]int32, n)
	group := make([]int32, n) // by name; equal names have the same
	for at, x := range list {
		ids[at], group[x.id] = x.id, int32(at)
		if at > 0 {
			if before := list[at-1]; bytes.Equal(text[x.start:x.end], text[before.start:before.end]) {
				group[x.id] = group[before.id]
			}
		}
	}
	return ids, func(a, b int32) bool { return group[a] == group[b] }
}

// orderComparisons returns the published comparisons, newest first, by category:
// a comparison is in the categories of both its tools.
func (s *Snapshot) orderComparisons(public []*catalog.Comparison) map[string][]int32 {
	ids := make([]int32, len(public))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(public[b].UpdatedAt, public[a].UpdatedAt) })
	orders := map[string][]int32{"": ids}
	for _, i := range ids {
		a, b := s.tool(public[i].ToolA).Category, s.tool(public[i].ToolB).Category
		orders[a] = append(orders[a], i)
		if a != b {
			orders[b] = append(orders[b], i)
		}
	}
	return orders
}

// A retiredKey is one combination of filters over the retired tools, "" for none.
type retiredKey struct {
	category string
	reason   catalog.Reason
}

func orderRetired(c *catalog.Catalog) map[retiredKey][]int32 {
	ids := make([]int32, len(c.Retired))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(c.Retired[b].RetiredAt, c.Retired[a].RetiredAt) })
	orders := map[retiredKey][]int32{}
	for _, i := range ids {
		r := &c.Retired[i]
		for _, key := range []retiredKey{{}, {category: r.Category}, {reason: r.Reason}, {r.Category, r.Reason}} {
			orders[key] = append(orders[key], i)
		}
	}
	return orders
}

func orderCategories(c *catalog.Catalog) []int32 {
	ids, _ := sortNames(make([]uint64, len(c.Categories)), func(i int) string { return c.Categories[i].Label })
	return ids
}
