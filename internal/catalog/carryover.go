package catalog

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// CarryOver completes next, which was just read from a folder, with what only the
// previous catalogue knows: the dates of unchanged records that give none, and the
// histories of prices and scores. today is the UTC day of publication. Both catalogues
// must be sorted. next is changed in place; a second call changes nothing.
func CarryOver(old, next *Catalog, today string) {
	carryOverTools(old, next, today)
	for i := range next.Retired {
		next.remember(&next.Retired[i])
	}
	for _, k := range WrittenKinds {
		if k.first != nil && k != RetiredKind {
			k.identify(old, next)
		}
	}
	for i := range next.Comparisons {
		x := &next.Comparisons[i]
		if x.UpdatedAt != "" {
			continue
		}
		x.UpdatedAt = today
		if prior := old.Comparison(x.Slug); prior != nil && isSame(ComparisonFields, x, prior, "updated_at") {
			x.UpdatedAt = prior.UpdatedAt
		}
	}
}

// remember completes a retired tool with what it last had: its score and price if its editors give
// neither, and each list that they do not give.
func (c *Catalog) remember(r *Retired) {
	r.PriceHistory, r.ScoreHistory = mergeHistory(nil, r.PriceHistory), mergeHistory(nil, r.ScoreHistory)
	last, known := c.Past[r.Slug]
	if !known {
		return
	}
	r.FirstSlug = last.FirstSlug
	if r.LastScore == nil && r.LastPrice == "" {
		r.LastScore = last.Score
		if IsPublic(last.Pricing, last.Price) {
			r.LastPrice = last.Price
		}
	}
	if len(r.PriceHistory) == 0 {
		r.PriceHistory = slices.Clone(last.PriceHistory)
		for i := range r.PriceHistory {
			r.PriceHistory[i].Automatic = false // nothing is added to it any more
		}
	}
	if len(r.ScoreHistory) == 0 {
		r.ScoreHistory = slices.Clone(last.ScoreHistory)
		for i := range r.ScoreHistory {
			r.ScoreHistory[i].Automatic = false
		}
	}
	if own := c.Category(r.Category); own != nil && len(r.Usages) == 0 {
		r.Usages = slices.DeleteFunc(slices.Clone(last.Usages), func(u string) bool { return !own.HasUsage(u) })
	}
}

// pastTools returns what is kept of inactive tools: those of old, and the tools of old
// that next has not.
func pastTools(old, next *Catalog) map[string]*Tool {
	past := maps.Clone(old.Past)
	if past == nil {
		past = map[string]*Tool{}
	}
	for i := range old.Tools {
		if t := old.Tools[i]; next.Tool(t.Slug) == nil {
			past[t.Slug] = t.Past()
		}
	}
	return past
}

func carryOverTools(old, next *Catalog, today string) {
	past := pastTools(old, next)
	for i := range next.Tools {
		t := next.Tools[i]
		prior := old.prior(next, t)
		before := past[t.Slug]
		delete(past, t.Slug)
		if prior == t { // see Settle
			continue
		}
		if prior != nil && prior.Slug != t.Slug { // another tool had this slug
			before = nil
		}
		if same := old.Tool(t.Slug); same != nil {
			before = same
		}
		for _, alias := range t.Aliases { // the histories of a renamed tool follow it
			former, ok := past[alias]
			if !ok || !old.follows(prior, alias) {
				continue
			}
			delete(past, alias)
			if before == nil {
				before = former
				continue
			}
			merged := *before
			before = &merged
			before.PriceHistory = mergeHistory(before.PriceHistory, unmatched(before.PriceHistory, former.PriceHistory))
			before.ScoreHistory = mergeHistory(before.ScoreHistory, unmatched(before.ScoreHistory, former.ScoreHistory))
			before.CriteriaHistory = mergeHistory(before.CriteriaHistory,
				unmatched(before.CriteriaHistory, former.CriteriaHistory))
		}
		if t.AddedAt == "" && prior == nil && before == nil && old.Name != "" {
			t.AddedAt = today
		}
		t.carryOver(before, prior, today)
	}
	next.Past = past
}

// carryOver completes a tool, given what is known of it from before and the tool that it
// was; both may be nil.
func (t *Tool) carryOver(before, prior *Tool, today string) {
	known := before != nil
	if !known {
		before = &Tool{}
	}
	t.extendPrices(before, known, today)
	t.extendScores(before, known, today)
	t.extendCriteria(before, known, today)
	if prior != nil {
		t.AddedAt = cmp.Or(t.AddedAt, prior.AddedAt)
		ToolKind.setFirst(t, ToolKind.First(prior))
	}
	if t.UpdatedAt == "" {
		t.UpdatedAt = today
		if prior != nil && isSame(ToolFields, t, prior, "updated_at", "affiliate_url") { // money moves no date
			t.UpdatedAt = prior.UpdatedAt
		}
	}
}

// identify gives the records of a kind in next their oldest slugs. A record that was there, also under another slug or
// before it was removed, keeps its own; no other one ever gets the same.
func (k *Kind) identify(old, next *Catalog) {
	if old.Name == "" {
		return
	}
	isUsed, fresh := map[string]bool{}, []any(nil)
	for i := range k.Len(next) {
		record := k.At(next, i)
		prior := k.prior(old, next, record)
		if prior == nil {
			fresh = append(fresh, record)
			continue
		}
		if prior != record { // see Settle
			k.setFirst(record, k.First(prior))
		}
		isUsed[k.First(record)] = true
	}
	gone := old.gone(k)
	maps.DeleteFunc(gone, func(_, first string) bool { return isUsed[first] }) // it is back
	for _, first := range gone {
		isUsed[first] = true
	}
	for _, record := range fresh {
		first := k.First(record)
		for _, slug := range append([]string{k.Slug(record)}, k.Aliases(record)...) {
			if own, isBack := gone[slug]; isBack {
				first = own
				delete(isUsed, own)
				break
			}
		}
		for n, base := 2, first; isUsed[first]; n++ {
			first = base + "-" + strconv.Itoa(n)
		}
		isUsed[first] = true
		k.setFirst(record, first)
	}
}

// gone returns the oldest slugs of the records of a kind that c does not have any more, by their last slugs.
func (c *Catalog) gone(k *Kind) map[string]string {
	gone := map[string]string{}
	maps.Copy(gone, c.Gone[k])
	if k == ToolKind {
		for i := range c.Retired {
			gone[c.Retired[i].Slug] = RetiredKind.First(&c.Retired[i])
		}
		for slug, t := range c.Past {
			gone[slug] = cmp.Or(t.FirstSlug, slug)
		}
	}
	return gone
}

// Settle returns the tool of c, the next catalogue, in the place of prior, one of the previous catalogue, if the
// two are the same, and otherwise prior: a large catalogue changes little from one publication to the next, so
// that hardly any tool of the previous one must be kept to compare the two. What both catalogues share is
// completed as CarryOver would, or left as it is if isExact. c must be sorted; several tools may be
// settled at once.
func (c *Catalog) Settle(prior *Tool, isExact bool, today string) *Tool {
	written := c.Tool(prior.Slug)
	if written == nil {
		return prior
	}
	t := *written
	if !isExact {
		if len(t.Aliases) > 0 { // with them, more than the tool itself matters
			return prior
		}
		t.carryOver(prior, prior, today)
	}
	if t.UpdatedAt != prior.UpdatedAt || !t.equalExceptDate(prior) || !t.hasMarksOf(prior) {
		return prior
	}
	// The same histories, without keeping those of prior.
	if slices.Equal(t.PriceHistory, written.PriceHistory) {
		t.PriceHistory = written.PriceHistory
	}
	if slices.EqualFunc(t.ScoreHistory, written.ScoreHistory, ScoreChange.isEqual) {
		t.ScoreHistory = written.ScoreHistory
	}
	if slices.EqualFunc(t.CriteriaHistory, written.CriteriaHistory,
		func(a, b CriteriaChange) bool { return a.key() == b.key() && a.Automatic == b.Automatic }) {
		t.CriteriaHistory = written.CriteriaHistory
	}
	// Only what carryOver sets: others look for slugs meanwhile.
	written.UpdatedAt, written.PriceHistory, written.ScoreHistory = t.UpdatedAt, t.PriceHistory, t.ScoreHistory
	written.CriteriaHistory, written.AddedAt, written.FirstSlug = t.CriteriaHistory, t.AddedAt, t.FirstSlug
	return written
}

// hasMarksOf reports whether the histories of prices and scores of two tools are the same, with the
// same automatic entries.
func (t *Tool) hasMarksOf(o *Tool) bool {
	return slices.Equal(t.PriceHistory, o.PriceHistory) &&
		slices.EqualFunc(t.ScoreHistory, o.ScoreHistory, ScoreChange.isEqual)
}

// follows reports whether the histories of alias, an inactive tool, follow the tool
// that was prior in c: when it is renamed, and when an alias for a tool that c no
// longer has is added. They do not if it absorbs a tool that c still has, or a retired
// one.
func (c *Catalog) follows(prior *Tool, alias string) bool {
	return prior == nil || prior.Slug == alias ||
		c.Tool(alias) == nil && !slices.Contains(prior.Aliases, alias) && c.retired(alias) == nil
}

// prior returns the tool of c that became t in next: the one with the same slug,
// or the one that was renamed to it; nil if t is new.
func (c *Catalog) prior(next *Catalog, t *Tool) *Tool {
	p, _ := ToolKind.prior(c, next, t).(*Tool)
	return p
}

// prior is Catalog.prior for a record of the kind.
func (k *Kind) prior(c, next *Catalog, record any) any {
	if p := k.find(c, k.Slug(record)); p != nil {
		return p
	}
	for _, alias := range k.Aliases(record) {
		if p := k.find(c, alias); p != nil && k.find(next, alias) == nil {
			return p
		}
	}
	return nil
}

// Past returns what is kept of a tool once it is inactive.
func (t *Tool) Past() *Tool {
	past := &Tool{DisplayBefore: t.DisplayBefore}
	for i := range ToolFields {
		if f := &ToolFields[i]; f.Use.Has(Kept) {
			reflect.ValueOf(f.of(past)).Elem().Set(reflect.ValueOf(f.of(t)).Elem())
		}
	}
	ToolKind.setFirst(past, ToolKind.First(t))
	return past
}

// IsKept reports whether a field of a tool is kept once it is inactive.
func IsKept(field string) bool {
	return slices.ContainsFunc(ToolFields, func(f Field) bool { return f.Name == field && f.Use.Has(Kept) })
}

// extendPrices completes the price history of t with what is known of it from before.
func (t *Tool) extendPrices(before *Tool, known bool, today string) {
	now := &PriceChange{
		ChangedAt:  today,
		OldPricing: before.Pricing, OldPrice: before.Price,
		NewPricing: t.Pricing, NewPrice: t.Price,
		Automatic: true,
	}
	shown := cmp.Or(before.DisplayBefore, before.PriceDisplay)
	now.show(shown, t.PriceDisplay)
	if known && now.isNothing() && now.OldDisplay != now.NewDisplay && isConverted(shown) {
		t.DisplayBefore = shown // a change that is recorded when the price is converted, too
	}
	stored := before.PriceHistory
	if !known {
		now = nil
	}
	if t.PriceHistoryMode == HistoryReplace {
		stored, now = replaceHistory(before.PriceHistoryMode, stored, t.PriceHistory, now, today)
	}
	t.PriceHistory = extendHistory(stored, t.PriceHistory, now, today)
}

// replaceHistory returns what is left of the stored entries and of the change of a publication, if
// the written entries are the whole history. was is what they were before.
func replaceHistory[E change[E]](was HistoryMode, stored, written []E, now *E, today string) ([]E, *E) {
	if was != HistoryReplace {
		return nil, nil // this change is in the list, or nowhere
	}
	return unlisted(stored, written, today), now
}

// unlisted returns the automatic entries that were added since the file replaces the
// history, except those it lists by now. Those of today stay automatic: they may still
// change.
func unlisted[E change[E]](stored, written []E, today string) []E {
	automatic := slices.DeleteFunc(slices.Clone(stored), func(e E) bool { return !e.isAutomatic() })
	var kept []E
	listed := unmatched(automatic, written)
	rest := unmatched(listed, written) // the written entries that are automatic ones
	for _, e := range automatic {
		i := slices.IndexFunc(rest, func(o E) bool { return o.key() == e.key() })
		if i >= 0 && e.day() != today {
			rest = slices.Delete(rest, i, i+1)
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

func (t *Tool) extendScores(before *Tool, known bool, today string) {
	var now *ScoreChange
	if known {
		now = &ScoreChange{
			ChangedAt: today,
			OldScore:  before.Score, NewScore: t.Score,
			OldVerifiability: before.Verifiability, NewVerifiability: t.Verifiability,
			OldObsolescence: before.Obsolescence, NewObsolescence: t.Obsolescence,
			Note: t.ScoreNote, Automatic: true,
		}
	}
	// The file may correct the notes of the changes that it lists.
	stored := slices.Clone(before.ScoreHistory)
	for i := range stored {
		e := &stored[i]
		at := slices.IndexFunc(t.ScoreHistory, func(written ScoreChange) bool { return written.key() == e.key() })
		if at < 0 || t.ScoreHistory[at].Note == e.Note {
			continue
		}
		e.Note = t.ScoreHistory[at].Note
		if now != nil && e.Automatic && e.ChangedAt == today {
			now.Note = ""
		}
	}
	if t.ScoreHistoryMode == HistoryReplace {
		stored, now = replaceHistory(before.ScoreHistoryMode, stored, t.ScoreHistory, now, today)
	}
	t.ScoreHistory = extendHistory(stored, t.ScoreHistory, now, today)
}

func (t *Tool) extendCriteria(before *Tool, known bool, today string) {
	var now *CriteriaChange
	if known {
		now = &CriteriaChange{ChangedAt: today, Automatic: true}
		now.Old, now.New = differences(slices.Concat(before.Criteria, t.Criteria), before.Criteria.Of, t.Criteria.Of)
	}
	t.CriteriaHistory = extendHistory(before.CriteriaHistory, t.CriteriaHistory, now, today)
}

// Comparison returns the comparison of a slug, or nil. The catalogue must be sorted.
func (c *Catalog) Comparison(slug string) *Comparison {
	return find(c.Comparisons, slug, func(x *Comparison) string { return x.Slug })
}

// equalExceptDate reports whether t and o are equal, UpdatedAt aside.
func (t *Tool) equalExceptDate(o *Tool) bool { return isSame(ToolFields, t, o, "updated_at") }

// same reports whether two pictures are served the same. Their files may differ in
// what is never served.
func (p Picture) same(o Picture) bool {
	return p.Path == o.Path && p.Hash == o.Hash && p.Ext == o.Ext && p.Width == o.Width && p.Height == o.Height &&
		slices.Equal(p.Variants, o.Variants)
}

func sameFigure(a, b *float64) bool {
	return a == b || a != nil && b != nil && *a == *b
}
