package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

// Snapshots that follow each other for long have the records of the last catalogue and no other.
func TestASnapshotThatFollowsOthersIsThatOfAWholeBuild(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := synthetic.Catalog(300, 1)
	c.Comparisons = nil // which may be of tools that are removed
	now := Build(c, 1, "2026-11-01")
	for step := range uint64(20) {
		next := *c
		next.Categories = slices.Clone(c.Categories)
		slices.Reverse(next.Categories)
		fresh := synthetic.Catalog(40, 2+step)
		var slugs []string
		for i, tool := range fresh.Tools { // some replace a tool, some are new
			if i%2 == 0 {
				tool.Slug = c.Tools[len(c.Tools)*i/len(fresh.Tools)].Slug
			} else {
				tool.Slug = fmt.Sprintf("%s-%d", tool.Slug, step)
			}
			slugs = append(slugs, tool.Slug)
		}
		fresh.Sort()
		for range random.IntN(40) {
			gone := c.Tools[random.IntN(len(c.Tools))].Slug
			if !slices.Contains(slugs, gone) {
				slugs = append(slugs, gone)
			}
		}
		moves := catalog.ToolKind.Replace(&next, c, fresh, slugs)
		now = Next(now, &next, &moves, 2, "2026-11-02", false)
		want := Build(&next, 2, "2026-11-02")
		if diff := cmp.Diff(bodies(want), bodies(now)); diff != "" {
			t.Fatalf("step %d: the bodies differ from those of a whole build:\n%s", step, diff)
		}
		c = &next
	}
}

// bodies returns the responses that a snapshot has.
func bodies(s *Snapshot) map[string]string {
	all := map[string]string{"stats": string(s.Stats().Bytes()), "categories": string(s.Categories().Body().Bytes())}
	whole := Paging{Number: 1, Limit: 1000}
	half := 5.0
	for sort, name := range Sorts {
		for _, k := range append(s.Catalog.Categories, catalog.Category{}) {
			query := ToolQuery{Category: k.Slug, Sort: Sort(sort)}
			all[name+k.Slug] = string(s.Tools(query, whole).Body().Bytes())
			query.ScoreMin, query.ObsolescenceMax = &half, &half
			all[name+k.Slug+" filtered"] = string(s.Tools(query, whole).Body().Bytes())
		}
	}
	all["prices"] = string(s.Prices("", whole).Body().Bytes())
	for _, t := range s.Catalog.Tools {
		tool, _ := s.Tool(t.Slug)
		price, _ := s.Price(t.Slug)
		all[t.Slug] = fmt.Sprintf("%s %x %s", tool.Bytes(), tool.Digest(), price.Bytes())
	}
	return all
}
