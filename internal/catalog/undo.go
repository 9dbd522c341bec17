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
	names := func(of *Catalog) func(string) *[]string {
		return func(slug string) *[]string {
			if own := of.Category(slug); own != nil {
				return &own.Aliases
			}
			return nil
		}
	}
	for i := range now.Categories {
		moveBack(now.Categories[i].Slug, now.Categories[i].Aliases, names(c), names(now))
	}
	firsts := make([]string, len(c.Articles))
	for i, a := range c.Articles {
		firsts[i] = firstOf(a.Slug, a.FirstSlug, a.Aliases)
	}
	for _, k := range WrittenKinds {
		if k != ToolKind && k.Has(Slugs) {
			k.moveBack(c, now)
		}
	}
	for i := range c.Articles {
		a := &c.Articles[i]
		a.FirstSlug = keepFirst(firsts[i], "", nil, a.Slug, a.Aliases)
	}
}

// moveBack is MoveBack for a kind of records that may be changed.
func (k *Kind) moveBack(c, now *Catalog) {
	names := func(of *Catalog) func(string) *[]string {
		return func(slug string) *[]string {
			if record := k.find(of, slug); record != nil {
				return ValueOf[[]string](k.Fields, Slugs, record)
			}
			return nil
		}
	}
	for i := range k.Len(now) {
		moveBack(k.Slug(k.At(now, i)), k.Aliases(k.At(now, i)), names(c), names(now))
	}
}

// moveBack is MoveBack for a record by its present names, given the aliases of records by their slugs before and now,
// nil for none.
func moveBack(slug string, aliases []string, before, now func(slug string) *[]string) {
	if before(slug) != nil {
		return
	}
	for _, alias := range aliases {
		if kept := before(alias); kept != nil && now(alias) == nil {
			*kept = withAlias(*kept, slug)
			return
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
