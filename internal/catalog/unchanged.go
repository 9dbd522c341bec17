package catalog

import "slices"

// Unchanged are the tools of a catalogue that the next one has as they are. A large
// catalogue changes little from one publication to the next, so that hardly any tool of
// the previous one must be kept to compare the two.
type Unchanged struct {
	next *Catalog
	is   []bool // by index in next.Tools
}

// NewUnchanged returns no tools yet. next is what Settle compares with, and must be sorted.
func NewUnchanged(next *Catalog) *Unchanged {
	return &Unchanged{next, make([]bool, len(next.Tools))}
}

// Settle adds a tool of the previous catalogue, and reports true, if it is the same in the
// next one. It then completes that one as CarryOver would, or, if isCopy, leaves it as
// KeepPast does. Otherwise it changes nothing. Several tools may be settled at once.
func (u *Unchanged) Settle(prior *Tool, isCopy bool, today string) bool {
	i, found := u.next.find(prior.Slug)
	if !found {
		return false
	}
	written := u.next.Tools[i]
	t := *written
	if !isCopy {
		if len(t.Aliases) > 0 { // with them, more than the tool itself matters
			return false
		}
		before := prior.Past()
		t.carryOver(&before, true, prior, today)
	}
	if t.UpdatedAt != prior.UpdatedAt || !t.equalExceptDate(prior) || !t.hasMarksOf(prior) {
		return false
	}
	// The same histories, without keeping those of prior.
	if slices.Equal(t.PriceHistory, written.PriceHistory) {
		t.PriceHistory = written.PriceHistory
	}
	if slices.EqualFunc(t.ScoreHistory, written.ScoreHistory, ScoreChange.isEqual) {
		t.ScoreHistory = written.ScoreHistory
	}
	if slices.EqualFunc(t.CriteriaHistory, written.CriteriaHistory,
		func(a, b CriteriaChange) bool { return a.Same(b) && a.Automatic == b.Automatic }) {
		t.CriteriaHistory = written.CriteriaHistory
	}
	// Only what carryOver sets: others look for slugs meanwhile.
	written.UpdatedAt, written.PriceHistory, written.ScoreHistory = t.UpdatedAt, t.PriceHistory, t.ScoreHistory
	written.CriteriaHistory, written.AddedAt = t.CriteriaHistory, t.AddedAt
	u.is[i] = true
	return true
}

// hasMarksOf reports whether the histories of prices and scores of two tools are the same, with the
// same automatic entries.
func (t *Tool) hasMarksOf(o *Tool) bool {
	return slices.Equal(t.PriceHistory, o.PriceHistory) &&
		slices.EqualFunc(t.ScoreHistory, o.ScoreHistory, ScoreChange.isEqual)
}

// isEmpty reports whether there are none.
func (u *Unchanged) isEmpty() bool { return u == nil || !slices.Contains(u.is, true) }

// has reports whether the tool of an index in the next catalogue is one of them.
func (u *Unchanged) has(i int) bool { return u != nil && u.is[i] }

func (u *Unchanged) tool(slug string) *Tool {
	if u == nil {
		return nil
	}
	i, found := u.next.find(slug)
	if !found || !u.is[i] {
		return nil
	}
	return u.next.Tools[i]
}
