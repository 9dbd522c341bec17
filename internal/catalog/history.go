package catalog

import (
	"cmp"
	"slices"
)

// A change is an entry of a history: a PriceChange or a ScoreChange.
type change[E any] interface {
	day() string
	isAutomatic() bool
	key() any          // equal for entries of the same change, whoever wrote them
	startsLike(E) bool // both start from the same values
	isNothing() bool   // the old values are the new ones
	until(later E) E   // this entry and a later one of the same day, as one
}

func (e PriceChange) day() string       { return e.ChangedAt }
func (e PriceChange) isAutomatic() bool { return e.Automatic }

func (e PriceChange) key() any {
	e.Automatic, e.OldDisplay, e.NewDisplay = false, "", ""
	return e
}

func (e PriceChange) startsLike(o PriceChange) bool {
	return e.OldPricing == o.OldPricing && e.OldPrice == o.OldPrice
}

func (e PriceChange) isNothing() bool {
	return e.OldPricing == e.NewPricing && e.OldPrice == e.NewPrice
}

func (e PriceChange) until(later PriceChange) PriceChange {
	e.NewPricing, e.NewPrice = later.NewPricing, later.NewPrice
	e.NewDisplay = later.NewDisplay
	return e
}

// show sets what pages showed before and show since, if one of them is in another currency.
func (e *PriceChange) show(before, since string) {
	if isConverted(before) || isConverted(since) {
		e.OldDisplay, e.NewDisplay = before, since
	}
}

// IsConversion reports whether only the conversion to euros of a price in another currency changed.
func (e *PriceChange) IsConversion() bool {
	if e.OldDisplay == "" || e.OldPricing != e.NewPricing {
		return false
	}
	before, after, ok := e.Asked()
	return e.OldDisplay == e.NewDisplay || ok && before == after
}

func (e ScoreChange) day() string       { return e.ChangedAt }
func (e ScoreChange) isAutomatic() bool { return e.Automatic }

func (e ScoreChange) key() any {
	return [7]any{
		e.ChangedAt, valueOf(e.OldScore), valueOf(e.NewScore), valueOf(e.OldVerifiability), valueOf(e.NewVerifiability),
		valueOf(e.OldObsolescence), valueOf(e.NewObsolescence),
	}
}

func (e ScoreChange) startsLike(o ScoreChange) bool {
	return sameFigure(e.OldScore, o.OldScore) && sameFigure(e.OldVerifiability, o.OldVerifiability) &&
		sameFigure(e.OldObsolescence, o.OldObsolescence)
}

func (e ScoreChange) isNothing() bool {
	return sameFigure(e.OldScore, e.NewScore) && sameFigure(e.OldVerifiability, e.NewVerifiability) &&
		sameFigure(e.OldObsolescence, e.NewObsolescence)
}

// ChangesScore reports whether the score itself changed, not only another figure.
func (e ScoreChange) ChangesScore() bool { return !sameFigure(e.OldScore, e.NewScore) }

func (e ScoreChange) until(later ScoreChange) ScoreChange {
	e.NewScore, e.NewVerifiability, e.NewObsolescence = later.NewScore, later.NewVerifiability, later.NewObsolescence
	e.Note = cmp.Or(later.Note, e.Note)
	return e
}

// isEqual reports whether two entries say the same and were written by the same.
func (e ScoreChange) isEqual(o ScoreChange) bool {
	return e.key() == o.key() && e.Note == o.Note && e.Automatic == o.Automatic
}

// HasDatedPrice reports whether the newest entry of the price history says since when the
// tool has its price. Editors may have written a history that does not lead to it.
func (t *Tool) HasDatedPrice() bool {
	h := t.PriceHistory
	return len(h) > 0 && h[0].NewPricing == t.Pricing && h[0].NewPrice == t.Price
}

// Prices returns the prices that a tool has and had as the changes that led to them, the current one first. Since when
// the oldest one was in force is not known, nor is it for the current one if the history does not lead to it: such a
// change has neither a day nor an old price.
func (t *Tool) Prices() (all []PriceChange) {
	if !t.HasDatedPrice() {
		all = append(all, PriceChange{NewPricing: t.Pricing, NewPrice: t.Price})
	}
	all = append(all, t.PriceHistory...)
	if n := len(t.PriceHistory); n > 0 {
		all = append(all, PriceChange{NewPricing: t.PriceHistory[n-1].OldPricing, NewPrice: t.PriceHistory[n-1].OldPrice})
	}
	return all
}

// HasDatedScore is HasDatedPrice for the score.
func (t *Tool) HasDatedScore() bool {
	h := t.ScoreHistory
	return len(h) > 0 && sameFigure(h[0].NewScore, t.Score) && sameFigure(h[0].NewVerifiability, t.Verifiability) &&
		sameFigure(h[0].NewObsolescence, t.Obsolescence)
}

// extendHistory returns a history, newest first: the stored entries, those written by
// the editors, and now, the change that this publication makes if it is not nil.
//
// The automatic entries of one day are one entry, from the first old values to the
// last new ones, or none if these are equal. A written entry of today that starts like
// it is that entry. One for the same change with another date replaces it: editors may
// date a change themselves. Prices that were announced have their days, and are written, too.
func extendHistory[E change[E]](stored, written []E, now *E, today string) []E {
	if len(stored) == 0 && now == nil {
		return mergeHistory(nil, written)
	}
	if now == nil {
		return mergeHistory(stored, unmatched(stored, written))
	}
	announced := slices.DeleteFunc(unmatched(stored, written), func(e E) bool { return !e.isAutomatic() || e.day() == today })
	if n := len(announced); n > 0 && announced[n-1].startsLike(*now) && announced[0].until(*now).key() == announced[0].key() {
		return mergeHistory(stored, unmatched(stored, written))
	}
	latest := *now
	rest := stored
	if i := slices.IndexFunc(stored, func(e E) bool { return e.isAutomatic() && e.day() == today }); i >= 0 {
		latest = stored[i].until(latest)
		rest = slices.Delete(slices.Clone(stored), i, i+1)
	} else if latest.isNothing() {
		return mergeHistory(stored, unmatched(stored, written))
	}
	written = slices.DeleteFunc(unmatched(rest, written),
		func(e E) bool { return e.day() == today && e.startsLike(latest) })
	dated := slices.ContainsFunc(written, func(e E) bool {
		return e.startsLike(latest) && e.until(latest).key() == e.key() && (len(rest) == 0 || e.day() >= rest[0].day())
	})
	if !latest.isNothing() && !dated {
		rest = slices.Insert(slices.Clone(rest), 0, latest)
	}
	return mergeHistory(rest, written)
}

// OnDay returns the changes of one day in a history as one, from the first old values to
// the last new ones, and reports whether there are any that changed something.
func OnDay[E change[E]](history []E, day string) (one E, ok bool) {
	for _, e := range slices.Backward(history) {
		switch {
		case e.day() != day:
		case ok:
			one = one.until(e)
		default:
			one, ok = e, true
		}
	}
	return one, ok && !one.isNothing()
}

// mergeHistory returns the stored entries and the written ones, newest first. Entries
// of one day keep their order, stored ones first. A list written oldest first is
// reversed. Without stored ones, the result may be the written list itself.
func mergeHistory[E change[E]](stored, written []E) []E {
	if n := len(written); n > 1 && written[0].day() < written[n-1].day() {
		written = slices.Clone(written)
		slices.Reverse(written)
	}
	newest := func(a, b E) int { return cmp.Compare(b.day(), a.day()) }
	if len(stored) == 0 && slices.IsSortedFunc(written, newest) {
		return written
	}
	all := slices.Concat(stored, written)
	slices.SortStableFunc(all, newest)
	return all
}

// unmatched returns the written entries that have no equal among the stored ones, in a
// new slice. Equal entries are matched one to one: a price may go up, down and up again
// in a day.
func unmatched[E change[E]](stored, written []E) []E {
	if len(written) == 0 {
		return nil
	}
	count := map[any]int{}
	for _, e := range stored {
		count[e.key()]++
	}
	var rest []E
	for _, e := range written {
		if count[e.key()] > 0 {
			count[e.key()]--
			continue
		}
		rest = append(rest, e)
	}
	return rest
}
