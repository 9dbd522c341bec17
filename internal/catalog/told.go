package catalog

import (
	"cmp"
	"maps"
	"slices"
)

// A teller compares the catalogue in the morning of a day with the present one.
type teller struct {
	morning, now *Catalog
	at           string
	told, past   []Entry
}

// Told returns what happened to records on the day of an instant: their state before its first publication, compared with
// their state now. changed has the slugs, by kind, of the records that publications of the day changed. An entry that a
// record dates has that day. The last ones, which have no instant, are those that only histories tell and that were not
// there in the morning, or, if they are withdrawn, are not any more. morning.Gone has what was removed before.
func Told(morning, now *Catalog, changed map[*Kind][]string, at string) []Entry {
	w := teller{morning: morning, now: now, at: at}
	w.tellTools(slices.Concat(changed[ToolKind], changed[RetiredKind]))
	for _, k := range WrittenKinds {
		if k.isText {
			w.tellTexts(k, changed[k])
		}
	}
	return slices.Concat(w.told, w.past)
}

func (w *teller) today() string { return w.at[:len("2006-01-02")] }

// tell adds an entry, of today unless it has its day.
func (w *teller) tell(e Entry) {
	e.Day, e.At = cmp.Or(e.Day, w.today()), w.at
	e.Topics = slices.Compact(e.Topics)
	w.told = append(w.told, e)
}

// tellChange adds an entry if it is one.
func (w *teller) tellChange(e Entry) {
	if e.Old != e.New {
		w.tell(e)
	}
}

// A life is what a catalogue has of a tool.
type life struct {
	tool    *Tool
	retired *Retired
}

// lives returns what a catalogue has of the tools that have some slugs in it, by their oldest slugs.
func (c *Catalog) lives(slugs []string) map[string]*life {
	all := map[string]*life{}
	of := func(first string) *life {
		if all[first] == nil {
			all[first] = &life{}
		}
		return all[first]
	}
	for _, slug := range slugs {
		if t := c.Tool(slug); t != nil {
			of(ToolKind.First(t)).tool = t
		}
		if r := c.retired(slug); r != nil {
			of(RetiredKind.First(r)).retired = r
		}
	}
	return all
}

// entry returns an entry about the tool, active or retired.
func (l *life) entry(what What) Entry {
	if l.tool != nil {
		return l.tool.entry(what)
	}
	return l.retired.entry(what)
}

func (w *teller) tellTools(slugs []string) {
	aliases := w.now.aliases()
	before, after := w.morning.lives(slugs), w.now.lives(slugs)
	for _, first := range firstsOf(before, after) {
		switch was, is := cmp.Or(before[first], &life{}), cmp.Or(after[first], &life{}); {
		case is.tool != nil:
			prior := was.tool
			if prior == nil {
				prior = w.tellNewcomer(was, is.tool)
			}
			w.tellTool(prior, is.tool)
			w.tellPlans(prior, is.tool)
			w.tellAnnounced(prior, is.tool)
			w.tellHistory(was.tool, is.tool)
		case is.retired != nil && was.retired == nil:
			e := is.retired.told(w.now)
			if was.tool != nil {
				e.Topics = append(e.Topics, CategoryTopic+was.tool.Category)
			}
			w.tell(e)
		case is.retired != nil:
		case was.tool != nil || was.retired != nil:
			e := was.entry(WhatRemoved)
			e.Old = e.Name
			if t := w.now.Tool(aliases[e.Slug]); t != nil {
				e.New = t.Name
			}
			w.tell(e)
		}
	}
}

// tellNewcomer adds the appearance or the return of a tool, and returns the tool as it was last known: what it had since
// is no news, but for its announcements.
func (w *teller) tellNewcomer(was *life, t *Tool) *Tool {
	prior := *t
	prior.Announced = nil
	last := w.morning.Past[t.Slug]
	if was.retired == nil && last == nil && w.morning.Gone[ToolKind][t.Slug] != ToolKind.First(t) {
		e := t.entry(WhatNew)
		e.Day = t.AddedAt
		if t.TestedAt != "" {
			e.What, e.Day, e.New = WhatTest, t.TestedAt, t.TestedAt
		}
		w.tell(e)
		return &prior
	}
	e := t.entry(WhatRestored)
	e.New = e.Name
	w.tell(e)
	if last != nil {
		prior.Pricing, prior.Price, prior.PriceDisplay, prior.PriceHistory = last.Pricing, last.Price, last.PriceDisplay, last.PriceHistory
		prior.Score, prior.ScoreHistory = last.Score, last.ScoreHistory
	}
	return &prior
}

// tellTool adds the changes of a tool.
func (w *teller) tellTool(prior, t *Tool) {
	add := func(e Entry) {
		e.Topics = append(e.Topics, CategoryTopic+prior.Category)
		w.tellChange(e)
	}
	was := PriceChange{OldPricing: prior.Pricing, OldPrice: prior.Price, NewPricing: t.Pricing, NewPrice: t.Price}
	was.show(prior.PriceDisplay, t.PriceDisplay)
	if !was.isNothing() && !was.IsConversion() {
		e := t.entry(WhatPrice)
		e.Old = PriceValue{was.OldPricing, was.OldPrice, was.OldDisplay}.String()
		e.New = PriceValue{was.NewPricing, was.NewPrice, was.NewDisplay}.String()
		if h := t.PriceHistory; t.HasDatedPrice() && len(unmatched(prior.PriceHistory, h[:1])) > 0 {
			e.Day = h[0].ChangedAt
		}
		add(e)
	}
	score := t.entry(WhatScore)
	score.Old, score.New = figureText(prior.Score), figureText(t.Score)
	if h := t.ScoreHistory; t.HasDatedScore() && len(unmatched(prior.ScoreHistory, h[:1])) > 0 {
		one, _ := OnDay(h, h[0].ChangedAt)
		score.Day, score.Note = one.ChangedAt, one.Note
	}
	add(score)
	if t.TestedAt > prior.TestedAt || t.TestedAt == "" {
		e := t.entry(WhatTest)
		e.Day, e.Old, e.New = t.TestedAt, prior.TestedAt, t.TestedAt
		add(e)
	}
	renamed := t.entry(WhatRenamed)
	renamed.Old, renamed.New = prior.Name, t.Name
	add(renamed)
	if t.TestedAt != "" && t.TestedAt == prior.TestedAt { // a new test brings its text
		e := t.entry(WhatText)
		e.Old, e.New = checksum(prior.Body), checksum(t.Body)
		add(e)
	}
}

// tellHistory adds what the histories of a tool tell otherwise than in the morning, when it was prior, or nil.
func (w *teller) tellHistory(prior, t *Tool) {
	var before []Entry
	if prior != nil {
		before = prior.Entries()
	}
	add := func(list, other []Entry, isGone bool) {
		for _, e := range list {
			isSame := func(o Entry) bool { return o.What == e.What && o.Day == e.Day && (isGone || o.Says(&e)) }
			isHistory := (e.What == WhatPrice || e.What == WhatScore) && e.Day != w.today() // of which the day tells
			if isHistory && !slices.ContainsFunc(other, isSame) {
				e.Withdrawn = isGone
				w.past = append(w.past, e)
			}
		}
	}
	after := t.Entries()
	add(before, after, true)
	add(after, before, false)
}

// tellPlans adds the plans that came and went.
func (w *teller) tellPlans(prior, t *Tool) {
	of := func(list []PlanRow, name string) string {
		i := slices.IndexFunc(list, func(p PlanRow) bool { return p.Name == name })
		if i < 0 {
			return ""
		}
		return list[i].Price
	}
	for _, p := range slices.Concat(prior.Plans, t.Plans) {
		e := t.entry(WhatPlan)
		e.Field, e.Old, e.New = p.Name, of(prior.Plans, p.Name), of(t.Plans, p.Name)
		if e.Old == "" || e.New == "" {
			w.tellChange(e)
		}
	}
}

// Announces returns the entries of all that is announced for a tool, by day; c is its catalogue.
func (t *Tool) Announces(c *Catalog) (list []Entry) {
	now := PriceValue{t.Pricing, t.Price, t.PriceDisplay}
	for i := range t.Announced {
		a, e := &t.Announced[i], t.entry(WhatAnnounced)
		e.Field, e.New = a.From, string(a.Retire)
		if next := c.Tool(a.Successor); next != nil {
			e.Note = next.Name
		}
		if a.Retire == "" {
			e.Note = now.String()
			now = PriceValue{cmp.Or(a.Pricing, now.Pricing), cmp.Or(a.Price, now.Price), a.PriceDisplay}
			e.New = now.String()
		}
		list = append(list, e)
	}
	return list
}

// tellAnnounced adds the announcements that came, changed or went. One whose day has come has happened.
func (w *teller) tellAnnounced(prior, t *Tool) {
	of := func(list []Entry, from string) (value, note string) {
		for i := range list {
			if list[i].Field == from {
				return list[i].New, list[i].Note
			}
		}
		return "", ""
	}
	before, after := prior.Announces(w.morning), t.Announces(w.now)
	for _, a := range slices.Concat(prior.Announced, t.Announced) {
		e := t.entry(WhatAnnounced)
		was, noted := of(before, a.From)
		e.Field, e.Old = a.From, was
		e.New, e.Note = of(after, a.From)
		if e.New == "" {
			e.Note = noted
		}
		happened := slices.ContainsFunc(t.PriceHistory, func(p PriceChange) bool { return p.ChangedAt == a.From })
		if a.From > w.today() && (e.New != "" || !happened) {
			w.tellChange(e)
		}
	}
}

// tellTexts adds the texts of a kind that came, were rewritten or went.
func (w *teller) tellTexts(k *Kind, slugs []string) {
	texts := func(c *Catalog) map[string]text {
		all := map[string]text{}
		for _, slug := range slugs {
			if record := k.find(c, slug); record != nil {
				all[k.First(record)] = record.(texter).text(c)
			}
		}
		return all
	}
	before, after := texts(w.morning), texts(w.now)
	for _, first := range firstsOf(before, after) {
		was, is := before[first], after[first]
		e := is.entry(k, first, WhatText)
		e.Old, e.New = checksum(was.words), checksum(is.words)
		if e.Old == "" {
			e.Day = is.day
		} else if e.New == "" {
			e = was.entry(k, first, WhatRemoved)
			e.Old = e.Name
		}
		e.Topics = slices.Concat(was.topics, is.topics)
		w.tellChange(e)
	}
}

// firstsOf returns the oldest slugs of what is in the morning or now.
func firstsOf[T any](before, after map[string]T) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	return slices.Sorted(maps.Keys(all))
}
