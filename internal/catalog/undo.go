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
	for _, k := range WrittenKinds {
		for i := range k.Len(now) {
			record := k.At(now, i)
			slug := k.Slug(record)
			if k.find(c, slug) != nil || k == ToolKind && (c.retired(slug) != nil || aliases[slug] != "") {
				continue
			}
			for _, alias := range k.Aliases(record) {
				if at, found := k.Find(c, alias); found && k.find(now, alias) == nil {
					k.addAlias(c, at, slug)
					break
				}
			}
		}
	}
	for i := range now.Categories {
		own := &now.Categories[i]
		for _, alias := range own.Aliases {
			if former := c.Category(alias); former != nil && now.Category(alias) == nil && c.Category(own.Slug) == nil {
				former.Aliases = withAlias(former.Aliases, own.Slug)
				break
			}
		}
	}
}

// addAlias gives the record at an index of c one more alias. Tools may be shared with other catalogues.
func (k *Kind) addAlias(c *Catalog, at int, slug string) {
	if k == ToolKind {
		own := *c.Tools[at]
		c.Tools[at] = &own
	}
	record := k.At(c, at)
	first := k.First(record)
	*ValueOf[[]string](k.Fields, Slugs, record) = withAlias(k.Aliases(record), slug)
	k.setFirst(record, first)
}

// withAlias returns a sorted list of slugs with one more.
func withAlias(aliases []string, slug string) []string {
	i, found := slices.BinarySearch(aliases, slug)
	if found {
		return aliases
	}
	return slices.Insert(slices.Clone(aliases), i, slug)
}
