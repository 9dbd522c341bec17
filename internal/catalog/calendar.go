package catalog

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"
)

// An Announcement is a change of a tool that its maker has announced. A price changes by itself on
// its day; a tool is retired when its obituary is published.
type Announcement struct {
	From           string  `json:"from"` // YYYY-MM-DD, in the zone of the catalogue
	Pricing        Pricing `json:"pricing,omitempty"`
	Price          string  `json:"price,omitempty"`
	PriceDisplay   string  `json:"price_display,omitempty"`
	PriceSource    string  `json:"price_source,omitempty"` // URL or ""
	PriceQuote     string  `json:"price_quote,omitempty"`
	PriceCheckedAt string  `json:"price_checked_at,omitempty"`
	Retire         Reason  `json:"retire,omitempty"`    // "" for a change of the price
	Successor      string  `json:"successor,omitempty"` // slug or ""
	Source         string  `json:"source,omitempty"`    // URL or ""
}

// A Scheduled is a record that is not public before its hour.
type Scheduled struct {
	Due     string // in UTC, as FormatTime returns it
	Record  any    // a pointer to a record of one of WrittenKinds
	Problem string // why it is not public although its hour has passed; "" for none
}

// Name returns the name of the file of the record without its suffix: pages/tarifs.
func (s *Scheduled) Name() string {
	k := KindOf(s.Record)
	return k.Folder + "/" + k.Slug(s.Record)
}

// CompareScheduled returns what was scheduled, scheduled otherwise and cancelled between two lists,
// by name and hour. What was due by now has happened.
func CompareScheduled(old, next []Scheduled, now time.Time) (r RecordChanges) {
	before := map[string]*Scheduled{}
	name := func(s *Scheduled) string { return s.Name() + " (" + s.Due + ")" }
	for i := range old {
		before[name(&old[i])] = &old[i]
	}
	for i := range next {
		s := &next[i]
		if prior := before[name(s)]; prior == nil {
			r.Added = append(r.Added, name(s))
		} else if !isSame(KindOf(s.Record).Fields, s.Record, prior.Record) {
			r.Changed = append(r.Changed, name(s))
		}
		delete(before, name(s))
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if before[key].Due > FormatTime(now) {
			r.Removed = append(r.Removed, key)
		}
	}
	return r
}

// A Planned is something that is to come.
type Planned struct {
	Due     string `json:"due"`     // in UTC, as FormatTime returns it
	Name    string `json:"record"`  // as Scheduled.Name returns it
	What    string `json:"what"`    // that happens then
	Problem string `json:"problem"` // why it does not; "" for none
}

// Planned returns what is to come, by hour and name.
func (c *Catalog) Planned() (list []Planned) {
	for i := range c.Scheduled {
		s := &c.Scheduled[i]
		list = append(list, Planned{s.Due, s.Name(), "published", s.Problem})
	}
	for name, end := range c.ends() {
		if *end != "" {
			list = append(list, Planned{*end, name, "unpublished", ""})
		}
	}
	zone := c.Zone()
	for _, t := range c.Tools {
		for i := range t.Announced {
			a := &t.Announced[i]
			p := Planned{FormatTime(FirstMinute(a.From, zone)), "outils/" + t.Slug, "", ""}
			switch {
			case a.Retire == "":
				p.What = "price " + cmp.Or(a.Price, a.PriceDisplay, string(a.Pricing))
			case slices.ContainsFunc(c.Scheduled, func(s Scheduled) bool { return s.Name() == "cimetiere/"+t.Slug }):
				continue // the obituary is listed itself
			default:
				p.What, p.Problem = "retired", "there is no cimetiere/"+t.Slug+".md with publish_at"
			}
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Planned) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// ends yields the names of the records that may end, with their hours, which may be "".
func (c *Catalog) ends() iter.Seq2[string, *string] {
	return func(yield func(string, *string) bool) {
		for _, k := range WrittenKinds {
			for i := range k.Len(c) {
				end := ValueOf[string](k.Fields, Time, k.At(c, i))
				if end == nil {
					break // no record of the kind ends
				}
				if !yield(k.Folder+"/"+k.Slug(k.At(c, i)), end) {
					return
				}
			}
		}
	}
}

// NextDue returns when something happens by itself next; "" for never.
func (c *Catalog) NextDue() string {
	for _, p := range c.Planned() {
		if p.Problem == "" {
			return p.Due
		}
	}
	return ""
}

// Advance makes everything happen that is due at an instant, and reports whether there was anything.
// What no longer fits the catalogue stays scheduled, with its problem. Records are replaced, never
// changed in place, and c is sorted afterwards.
func (c *Catalog) Advance(at time.Time) bool {
	due := FormatTime(at)
	if next := c.NextDue(); next == "" || next > due {
		return false
	}
	c.Scheduled = slices.Clone(c.Scheduled)
	SortScheduled(c.Scheduled)
	left := c.Scheduled[:0:0]
	for _, s := range c.Scheduled {
		if s.Due <= due {
			s.Problem = c.refuses(s.Record)
		}
		if s.Due > due || s.Problem != "" {
			left = append(left, s)
		} else {
			c.Put(s.Record)
		}
	}
	c.Scheduled = left
	for _, k := range WrittenKinds {
		if slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Form == Time }) {
			k.keep(c, func(record any) bool {
				end := *ValueOf[string](k.Fields, Time, record)
				return end == "" || end > due
			})
		}
	}
	zone := c.Zone()
	for i, t := range c.Tools {
		c.Tools[i] = t.advance(at, zone)
	}
	c.SettleProofs()
	return true
}

// SortScheduled sorts records by their hours. Those of one hour are in the order of Kinds.
func SortScheduled(list []Scheduled) {
	rank := func(s *Scheduled) int { return slices.Index(Kinds, KindOf(s.Record)) }
	slices.SortFunc(list, func(a, b Scheduled) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Name(), b.Name()))
	})
}

// refuses returns why a record cannot be public, "" if it can.
func (c *Catalog) refuses(record any) (problem string) {
	switch r := record.(type) {
	case *Tool:
		if c.retired(r.Slug) != nil {
			return "the tool was retired meanwhile"
		}
		if c.Category(r.Category) == nil {
			return "its category " + r.Category + " is not declared any more"
		}
	case *Comparison:
		for _, side := range []string{r.ToolA, r.ToolB} {
			if t := c.Tool(side); r.Published && (t == nil || t.Score == nil) {
				return side + " is not an active, tested tool any more"
			}
		}
	case *Retired:
		if c.Category(r.Category) == nil {
			return "its category " + r.Category + " is not declared any more"
		}
		for i := range c.Comparisons {
			if x := &c.Comparisons[i]; x.Published && (x.ToolA == r.Slug || x.ToolB == r.Slug) {
				return "comparatifs/" + x.Slug + " still compares the tool"
			}
		}
	}
	return ""
}

// Put adds a record, as Scheduled has it, to a sorted catalogue, instead of that of the same
// slug, and instead of the tool if it is retired.
func (c *Catalog) Put(record any) {
	if r, ok := record.(*Retired); ok {
		c.Tools = slices.DeleteFunc(c.Tools, func(t *Tool) bool { return t.Slug == r.Slug })
	}
	KindOf(record).put(c, record)
}

// Add adds such a record, unless it is nil, to a catalogue that is not sorted.
func (c *Catalog) Add(record any) {
	if record != nil {
		KindOf(record).add(c, record)
	}
}

// ForgetAnnounced deletes the announced prices that stored, the catalogue so far, has had by an instant,
// from tools whose files have other prices than the one before: what was written since counts.
func (c *Catalog) ForgetAnnounced(stored *Catalog, at time.Time) {
	zone := c.Zone()
	for i, t := range c.Tools {
		if prior := stored.prior(c, t); t.hasDue(at, zone) && prior != nil {
			c.Tools[i] = t.forgetAnnounced(prior.PriceHistory, at, zone)
		}
	}
}

func (t *Tool) forgetAnnounced(history []PriceChange, at time.Time, zone *time.Location) *Tool {
	next := *t
	next.Announced = nil
	pricing, price := t.Pricing, t.Price
	for _, a := range t.Announced {
		if a.isDue(at, zone) {
			i := slices.IndexFunc(history, func(e PriceChange) bool { return e.ChangedAt <= a.From }) // newest first
			if i >= 0 && history[i].tells(&a) && (history[i].OldPricing != pricing || history[i].OldPrice != price) {
				continue
			}
			pricing, price = cmp.Or(a.Pricing, pricing), cmp.Or(a.Price, price)
		}
		next.Announced = append(next.Announced, a)
	}
	return &next
}

// tells reports whether an entry of a history is what was announced.
func (e *PriceChange) tells(a *Announcement) bool {
	return e.NewPricing == cmp.Or(a.Pricing, e.OldPricing) && e.NewPrice == cmp.Or(a.Price, e.OldPrice)
}

// HasAnnounced reports whether an announced price is in effect at an instant.
func (c *Catalog) HasAnnounced(at time.Time) bool {
	zone := c.Zone()
	return slices.ContainsFunc(c.Tools, func(t *Tool) bool { return t.hasDue(at, zone) })
}

func (t *Tool) hasDue(at time.Time, zone *time.Location) bool {
	return slices.ContainsFunc(t.Announced, func(a Announcement) bool { return a.isDue(at, zone) })
}

func (a *Announcement) isDue(at time.Time, zone *time.Location) bool {
	return a.Retire == "" && !FirstMinute(a.From, zone).After(at)
}

// advance returns the tool with the announced prices that are in effect at an instant. The entries of
// its history have the announced days.
func (t *Tool) advance(at time.Time, zone *time.Location) *Tool {
	if !t.hasDue(at, zone) {
		return t
	}
	next := *t
	next.Announced = nil
	for _, a := range t.Announced {
		if !a.isDue(at, zone) {
			next.Announced = append(next.Announced, a)
			continue
		}
		was := PriceChange{
			ChangedAt: a.From, Automatic: true, OldPricing: next.Pricing, OldPrice: next.Price,
			NewPricing: cmp.Or(a.Pricing, next.Pricing), NewPrice: cmp.Or(a.Price, next.Price),
		}
		was.show(cmp.Or(next.DisplayBefore, next.PriceDisplay), a.PriceDisplay)
		next.Pricing, next.Price, next.PriceDisplay, next.DisplayBefore = was.NewPricing, was.NewPrice, a.PriceDisplay, ""
		if !was.isNothing() { // and the former quotation says the former price
			next.PriceHistory = mergeHistory([]PriceChange{was}, next.PriceHistory)
			next.PriceSource, next.PriceQuote = cmp.Or(a.PriceSource, next.PriceSource), a.PriceQuote
			next.PriceCheckedAt = cmp.Or(a.PriceCheckedAt, next.PriceCheckedAt)
		}
		if next.UpdatedAt != "" {
			next.UpdatedAt = max(next.UpdatedAt, a.From)
		}
	}
	return &next
}

// Clone returns a catalogue that Advance and Put may change without changing c.
func (c *Catalog) Clone() *Catalog {
	next := *c
	for _, k := range WrittenKinds {
		k.keep(&next, func(any) bool { return true })
	}
	return &next
}
