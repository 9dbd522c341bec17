package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReplaceSaysWhereEveryRecordWent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slugs := rapid.SliceOfDistinct(rapid.StringMatching(`[a-f]{1,2}`), rapid.ID[string])
		list := func(name, tagline string) (tools []*Tool) {
			for _, slug := range slugs.Draw(rt, name) {
				tools = append(tools, &Tool{Slug: slug, Tagline: tagline})
			}
			slices.SortFunc(tools, func(a, b *Tool) int { return strings.Compare(a.Slug, b.Slug) })
			return tools
		}
		old, fresh := list("old", "old"), list("fresh", "new")
		touched := slugs.Draw(rt, "touched")
		for _, tool := range fresh {
			touched = append(touched, tool.Slug)
		}
		got, m := replace(old, fresh, touched, func(t **Tool) string { return (*t).Slug })

		want := map[string]string{}
		for _, tool := range old {
			want[tool.Slug] = "old"
		}
		for _, slug := range touched {
			delete(want, slug)
		}
		for _, tool := range fresh {
			want[tool.Slug] = "new"
		}
		found := map[string]string{}
		for _, tool := range got {
			found[tool.Slug] = tool.Tagline
		}
		if fmt.Sprint(found) != fmt.Sprint(want) || len(got) != len(want) {
			rt.Fatalf("%v; want %v", found, want)
		}
		if !slices.IsSortedFunc(got, func(a, b *Tool) int { return strings.Compare(a.Slug, b.Slug) }) {
			rt.Fatalf("not sorted: %v", got)
		}
		stayed := map[int32]bool{}
		if m.None() {
			for i := range old {
				m.Moved = append(m.Moved, int32(i))
			}
		}
		for i, to := range m.Moved {
			if to >= 0 {
				stayed[to] = true
				if got[to].Slug != old[i].Slug || got[to].Tagline != "old" {
					rt.Fatalf("%v became %v", old[i], got[to])
				}
			}
		}
		for i := range got {
			if stayed[int32(i)] == slices.Contains(m.Fresh, int32(i)) {
				rt.Fatalf("%v: stayed %v, fresh %v", got[i], stayed[int32(i)], m.Fresh)
			}
		}
	})
}
