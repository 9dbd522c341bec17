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
		former.Aliases = withAlias(former.Aliases, t.Slug)
		c.Tools[at] = &former
	}
	for i := range now.Comparisons {
		x := &now.Comparisons[i]
		if c.comparison(x.Slug) != nil {
			continue
		}
		for _, alias := range x.Aliases {
			if former := c.comparison(alias); former != nil && now.comparison(alias) == nil {
				former.Aliases = withAlias(former.Aliases, x.Slug)
				break
			}
		}
	}
	for i := range now.Categories {
		was := &now.Categories[i]
		if c.Category(was.Slug) != nil {
			continue
		}
		for _, alias := range was.Aliases {
			if former := c.Category(alias); former != nil && now.Category(alias) == nil {
				former.Aliases = withAlias(former.Aliases, was.Slug)
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
