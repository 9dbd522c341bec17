package catalog

import (
	"cmp"
	"maps"
	"slices"
)

// CarryOver completes next, which was just read from a folder, with what only the
// previous catalogue knows: the dates of unchanged records that give none, and
// price histories, of which no entry is ever dropped. today is the UTC day of
// publication. Both catalogues must be sorted. next is changed in place; a second
// call changes nothing.
func CarryOver(old, next *Catalog, today string) {
	carryOverTools(old, next, today)
	for i := range next.Comparisons {
		x := &next.Comparisons[i]
		if x.UpdatedAt != "" {
			continue
		}
		x.UpdatedAt = today
		if prior := old.comparison(x.Slug); prior != nil && x.equalExceptDate(prior) {
			x.UpdatedAt = prior.UpdatedAt
		}
	}
}

func carryOverTools(old, next *Catalog, today string) {
	past := maps.Clone(old.PastPrices)
	if past == nil {
		past = map[string][]PriceChange{}
	}
	for i := range old.Tools {
		if t := &old.Tools[i]; len(t.PriceHistory) > 0 && next.Tool(t.Slug) == nil {
			past[t.Slug] = t.PriceHistory
		}
	}

	for i := range next.Tools {
		t := &next.Tools[i]
		prior := old.prior(next, t)
		stored := past[t.Slug]
		delete(past, t.Slug)
		if same := old.Tool(t.Slug); same != nil {
			stored = same.PriceHistory
		}
		for _, alias := range t.Aliases { // the history of a renamed tool follows it
			if former, ok := past[alias]; ok {
				stored = mergeHistory(stored, former)
				delete(past, alias)
			}
		}
		t.PriceHistory = extendHistory(t, prior, stored, today)
		if t.UpdatedAt == "" {
			t.UpdatedAt = today
			if prior != nil && t.equalExceptDate(prior) {
				t.UpdatedAt = prior.UpdatedAt
			}
		}
	}
	next.PastPrices = past
}

// prior returns the tool of c that became t in next: the one with the same slug,
// or the one that was renamed to it; nil if t is new.
func (c *Catalog) prior(next *Catalog, t *Tool) *Tool {
	if p := c.Tool(t.Slug); p != nil {
		return p
	}
	for _, alias := range t.Aliases {
		if p := c.Tool(alias); p != nil && next.Tool(alias) == nil {
			return p
		}
	}
	return nil
}

// extendHistory returns the stored history of a tool with the change made by this
// publication and the entries written by its editors.
func extendHistory(t, prior *Tool, stored []PriceChange, today string) []PriceChange {
	if prior == nil || prior.Pricing == t.Pricing && prior.Price == t.Price {
		return mergeHistory(stored, t.PriceHistory)
	}
	change := PriceChange{
		ChangedAt:  today,
		OldPricing: prior.Pricing, OldPrice: prior.Price,
		NewPricing: t.Pricing, NewPrice: t.Price,
	}
	// An entry by the editors for the same change replaces the automatic one.
	for _, e := range unmatched(stored, t.PriceHistory) {
		dated := change
		dated.ChangedAt = e.ChangedAt
		if e == dated && (len(stored) == 0 || e.ChangedAt >= stored[0].ChangedAt) {
			change = e
		}
	}
	return mergeHistory(slices.Insert(slices.Clone(stored), 0, change), t.PriceHistory)
}

// mergeHistory returns the stored entries and the written ones not among them,
// newest first. Entries of one day keep their order, stored ones first. A list
// written oldest first is reversed.
func mergeHistory(stored, written []PriceChange) []PriceChange {
	if n := len(written); n > 1 && written[0].ChangedAt < written[n-1].ChangedAt {
		written = slices.Clone(written)
		slices.Reverse(written)
	}
	all := slices.Concat(stored, unmatched(stored, written))
	slices.SortStableFunc(all, func(a, b PriceChange) int { return cmp.Compare(b.ChangedAt, a.ChangedAt) })
	return all
}

// unmatched returns the written entries that have no equal among the stored ones.
// Equal entries are matched one to one: a price may go up, down and up again in a
// day.
func unmatched(stored, written []PriceChange) []PriceChange {
	count := map[PriceChange]int{}
	for _, e := range stored {
		count[e]++
	}
	var rest []PriceChange
	for _, e := range written {
		if count[e] > 0 {
			count[e]--
			continue
		}
		rest = append(rest, e)
	}
	return rest
}

func (c *Catalog) comparison(slug string) *Comparison {
	i, found := slices.BinarySearchFunc(c.Comparisons, slug, func(x Comparison, s string) int { return cmp.Compare(x.Slug, s) })
	if !found {
		return nil
	}
	return &c.Comparisons[i]
}

// equalExceptDate reports whether t and o are equal, UpdatedAt aside.
func (t *Tool) equalExceptDate(o *Tool) bool {
	return t.Slug == o.Slug && t.Name == o.Name && t.Domain == o.Domain && t.Category == o.Category &&
		t.ICP == o.ICP && t.Pricing == o.Pricing && t.Price == o.Price && t.Tagline == o.Tagline &&
		t.PriceDisplay == o.PriceDisplay && slices.Equal(t.Plans, o.Plans) && slices.Equal(t.Authors, o.Authors) &&
		t.Logo == o.Logo && t.Image == o.Image && t.PriceHistoryMode == o.PriceHistoryMode && t.ScoreNote == o.ScoreNote &&
		sameFigure(t.Score, o.Score) && sameFigure(t.Verifiability, o.Verifiability) && sameFigure(t.Obsolescence, o.Obsolescence) &&
		t.Tier == o.Tier && t.Mainstream == o.Mainstream &&
		t.CanonicalURL == o.CanonicalURL && t.ReviewURL == o.ReviewURL && t.AlternativesURL == o.AlternativesURL &&
		t.TestedAt == o.TestedAt && t.PriceCheckedAt == o.PriceCheckedAt &&
		slices.Equal(t.Sources, o.Sources) && slices.Equal(t.Aliases, o.Aliases) &&
		slices.EqualFunc(t.PriceHistory, o.PriceHistory, PriceChange.same) &&
		slices.EqualFunc(t.ScoreHistory, o.ScoreHistory, ScoreChange.same) &&
		t.Body == o.Body && t.Draft == o.Draft
}

func (x *Comparison) equalExceptDate(o *Comparison) bool {
	return x.Slug == o.Slug && x.Title == o.Title && x.ToolA == o.ToolA && x.ToolB == o.ToolB &&
		x.Winner == o.Winner && x.WinnerNote == o.WinnerNote && x.Published == o.Published &&
		slices.Equal(x.Authors, o.Authors) && slices.Equal(x.Aliases, o.Aliases) && x.Image == o.Image &&
		x.Body == o.Body && x.Draft == o.Draft
}

func (c *Category) equal(o *Category) bool {
	return c.Slug == o.Slug && c.Label == o.Label && c.Description == o.Description &&
		slices.Equal(c.Aliases, o.Aliases) && c.Position == o.Position
}

// same reports whether two entries say the same, whoever wrote them.
func (e PriceChange) same(o PriceChange) bool {
	o.Automatic = e.Automatic
	return e == o
}

// same reports whether two entries say the same, whoever wrote them.
func (e ScoreChange) same(o ScoreChange) bool {
	return e.ChangedAt == o.ChangedAt && e.Note == o.Note &&
		sameFigure(e.OldScore, o.OldScore) && sameFigure(e.NewScore, o.NewScore) &&
		sameFigure(e.OldVerifiability, o.OldVerifiability) && sameFigure(e.NewVerifiability, o.NewVerifiability) &&
		sameFigure(e.OldObsolescence, o.OldObsolescence) && sameFigure(e.NewObsolescence, o.NewObsolescence)
}

func sameFigure(a, b *float64) bool {
	return a == b || a != nil && b != nil && *a == *b
}
