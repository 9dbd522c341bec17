package catalog

import (
	"slices"
	"time"
)

// Forget removes what is due at an instant from records: what they announce, and when they end.
func (c *Catalog) Forget(at time.Time, zone *time.Location) {
	for _, t := range c.Tools {
		t.Announced = slices.DeleteFunc(t.Announced, func(a Announcement) bool { return !FirstMinute(a.From, zone).After(at) })
	}
	for _, end := range c.ends() {
		if *end <= FormatTime(at) {
			*end = ""
		}
	}
}

// MoveBack makes records of c, which has what an earlier version had, aliases of what now calls
// them: whoever has their present addresses finds them under the former ones again. Both catalogues
// must be sorted.
func (c *Catalog) MoveBack(now *Catalog) {
	aliases := c.aliases()
	for _, t := range now.Tools {
		if c.Tool(t.Slug) != nil || c.retired(t.Slug) != nil || aliases[t.Slug] != "" {
			continue
		}
		i := slices.IndexFunc(t.Aliases, func(a string) bool { return c.Tool(a) != nil && now.Tool(a) == nil })
		if i < 0 {
			continue
		}
		at, _ := c.find(t.Aliases[i])
		former := *c.Tools[at]
		first := firstOf(former.Slug, former.FirstSlug, former.Aliases)
		former.Aliases = withAlias(former.Aliases, t.Slug)
		former.FirstSlug = keepFirst(first, "", nil, former.Slug, former.Aliases)
		c.Tools[at] = &former
	}
	moveBack(now.Comparisons, c.Comparison, now.Comparison, func(x *Comparison) (string, *[]string) { return x.Slug, &x.Aliases })
	moveBack(now.Categories, c.Category, now.Category, func(x *Category) (string, *[]string) { return x.Slug, &x.Aliases })
	moveBack(now.Pages, c.Page, now.Page, func(x *Page) (string, *[]string) { return x.Slug, &x.Aliases })
	firsts := make([]string, len(c.Articles))
	for i, a := range c.Articles {
		firsts[i] = firstOf(a.Slug, a.FirstSlug, a.Aliases)
	}
	moveBack(now.Articles, c.Article, now.Article, func(x *Article) (string, *[]string) { return x.Slug, &x.Aliases })
	for i := range c.Articles {
		a := &c.Articles[i]
		a.FirstSlug = keepFirst(firsts[i], "", nil, a.Slug, a.Aliases)
	}
}

// moveBack is MoveBack for one kind of record, given what finds one before and now, and its names.
func moveBack[T any](list []T, before, now func(slug string) *T, names func(*T) (string, *[]string)) {
	for i := range list {
		slug, aliases := names(&list[i])
		if before(slug) != nil {
			continue
		}
		for _, alias := range *aliases {
			former := before(alias)
			if former != nil && now(alias) == nil {
				_, kept := names(former)
				*kept = withAlias(*kept, slug)
				break
			}
		}
	}
}

// withAlias returns a sorted list of slugs with one more.
func withAlias(aliases []string, slug string) []string {
	i, found := slices.BinarySearch(aliases, slug)
	if found {
		return aliases
	}
	return slices.Insert(slices.Clone(aliases), i, slug)
}
