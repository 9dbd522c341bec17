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
		first := ToolKind.First(&former)
		former.Aliases = withAlias(former.Aliases, t.Slug)
		ToolKind.setFirst(&former, first)
		c.Tools[at] = &former
	}
	for i := range now.Categories {
		moveBack(c, now, now.Categories[i].Slug, now.Categories[i].Aliases, categoryAliases)
	}
	for _, k := range WrittenKinds {
		if k == ToolKind || k.first == nil {
			continue
		}
		firsts := make([]string, k.Len(c))
		for i := range firsts {
			firsts[i] = k.First(k.At(c, i))
		}
		for i := range k.Len(now) {
			record := k.At(now, i)
			moveBack(c, now, k.Slug(record), k.Aliases(record), k.aliasesOf)
		}
		for i, first := range firsts {
			k.setFirst(k.At(c, i), first)
		}
	}
}

// moveBack is MoveBack for a record that may be changed, by its present names. of finds the aliases of a record, nil for none.
func moveBack(c, now *Catalog, slug string, aliases []string, of func(c *Catalog, slug string) *[]string) {
	if of(c, slug) != nil {
		return
	}
	for _, alias := range aliases {
		if kept := of(c, alias); kept != nil && of(now, alias) == nil {
			*kept = withAlias(*kept, slug)
			return
		}
	}
}

func categoryAliases(c *Catalog, slug string) *[]string {
	if own := c.Category(slug); own != nil {
		return &own.Aliases
	}
	return nil
}

func (k *Kind) aliasesOf(c *Catalog, slug string) *[]string {
	if record := k.find(c, slug); record != nil {
		return ValueOf[[]string](k.Fields, Slugs, record)
	}
	return nil
}

// withAlias returns a sorted list of slugs with one more.
func withAlias(aliases []string, slug string) []string {
	i, found := slices.BinarySearch(aliases, slug)
	if found {
		return aliases
	}
	return slices.Insert(slices.Clone(aliases), i, slug)
}
