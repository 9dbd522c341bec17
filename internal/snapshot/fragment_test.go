package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// Fragments and tables that follow each other for long have the records of the last list
// and no other, in little more memory than they need.
func TestListsThatFollowEachOtherStayCompact(t *testing.T) {
	type thing struct{ slug, text string }
	random := rand.New(rand.NewPCG(1, 2))
	count := 0
	fresh := func() thing {
		count++
		return thing{fmt.Sprintf("s%06d", random.IntN(1e6)), strings.Repeat(fmt.Sprint(count), 20+random.IntN(100))}
	}
	list := map[string]thing{}
	for len(list) < 3000 {
		x := fresh()
		list[x.slug] = x
	}
	sorted := func() (all []thing) {
		for _, x := range list {
			all = append(all, x)
		}
		slices.SortFunc(all, func(a, b thing) int { return strings.Compare(a.slug, b.slug) })
		return all
	}
	now := sorted()
	item := func(i int32) any { return now[i].text }
	hash := func(i int32) uint64 { return hashOf(now[i].slug) }
	f, table := render(len(now), item), newTable(len(now), hash)
	for step := range 300 {
		var touched []string
		for range random.IntN(120) {
			x := fresh()
			if random.IntN(3) > 0 {
				x.slug = now[random.IntN(len(now))].slug
			}
			list[x.slug] = x
			touched = append(touched, x.slug)
			if gone := now[random.IntN(len(now))].slug; random.IntN(3) == 0 {
				delete(list, gone)
				touched = append(touched, gone)
			}
		}
		var added []thing
		for _, slug := range touched {
			if x, ok := list[slug]; ok && !slices.ContainsFunc(added, func(y thing) bool { return y.slug == slug }) {
				added = append(added, x)
			}
		}
		slices.SortFunc(added, func(a, b thing) int { return strings.Compare(a.slug, b.slug) })
		var m catalog.Moves
		now, m = catalog.Replace(now, added, touched, func(x *thing) string { return x.slug })
		f, table = f.next(&m, len(now), item), table.next(&m, len(now), hash)

		if want := sorted(); !slices.Equal(now, want) {
			t.Fatalf("step %d: the test itself is wrong", step)
		}
		size, live := 0, 0
		for i, x := range now {
			want := string(wire.AppendJSON(nil, x.text))
			at, ok := table.find(hashOf(x.slug), func(k int32) bool { return now[k].slug == x.slug })
			if !ok || int(at) != i {
				t.Fatalf("step %d: %s is found at %d, %v; want %d", step, x.slug, at, ok, i)
			}
			if got := string(f.at(at)); got != want || f.digests[at] != wire.Sum([]byte(want)) {
				t.Fatalf("step %d: %s is %s; want %s", step, x.slug, got, want)
			}
			live += len(want)
		}
		for _, b := range f.blocks {
			size += cap(b)
		}
		if size > live+live/2+blockSize/8 || len(f.blocks) > 40 {
			t.Fatalf("step %d: %d bytes in %d blocks for %d bytes", step, size, len(f.blocks), live)
		}
		if table.taken > len(table.slots)*3/4 {
			t.Fatalf("step %d: %d of %d slots are taken", step, table.taken, len(table.slots))
		}
	}
	if _, ok := table.find(hashOf("zzz"), func(int32) bool { return false }); ok {
		t.Error("found what is not there")
	}
}
