package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// An Entry of the chronicle is one thing that happened to a record, for whoever reads the site, its feeds or its mails.
// Several changes of one field on one day are one entry.
type Entry struct {
	Kind  string // of the record, as in Kinds
	Slug  string // that the record had
	First string // the oldest slug of the record
	Name  string // or title, that the record had
	What  What
	Field string // the name of a plan, the day of an announcement; "" if What says it all
	Old   string // see What; "" if there was nothing
	New   string
	Note  string // why
	Day   string // YYYY-MM-DD, on which it happened: the record's own day if it has one
	At    string // when it was published, as FormatTime returns it; "" if only a record tells it

	FirstPosition int64 // 0 if only a record tells it
	Position      int64 // rises whenever the entry is made, merged or withdrawn
	Withdrawn     bool  // it was taken back, and nobody is shown it

	// How it changes a stored entry: see Merge.
	IsStep    bool // Old is the value before this publication, not before the day
	IsAmended bool // it is nothing without a stored one
	IsDaily   bool // it is withdrawn only on the day on which it was last published
}

// KeptEntries is how many stored entries a served version has, the last ones. Records tell their past besides.
const KeptEntries = 5000

// A What says what happened in an Entry.
type What string

// The things that happen, with what is old and new in them.
const (
	WhatNew       What = "new"       // a tool without a test appeared
	WhatTest      What = "test"      // a tool appeared with a test, to newcomer, or got a new one
	WhatScore     What = "score"     // figures; Note is the reason
	WhatPrice     What = "price"     // a PriceValue
	WhatPlan      What = "plan"      // the price of a plan that came or went
	WhatAnnounced What = "announced" // a PriceValue (Note is the present one) or a Reason (Note is the successor), for the day in Field
	WhatRenamed   What = "renamed"   // names
	WhatRemoved   What = "removed"   // from the name, to that of the tool that absorbed it
	WhatRetired   What = "retired"   // to a Reason; Note is the name of the successor
	WhatRestored  What = "restored"  // to the name
	WhatText      What = "text"      // checksums of a comparison, an article, a page or the review of a tested tool
)

// sponsored is the note of a text that somebody paid for.
const sponsored = "sponsored"

// newcomer is the new value of a test with which a tool appeared.
const newcomer = "newcomer"

// ID returns the name of the entry in feeds, which never changes.
func (e *Entry) ID() string {
	parts := []string{e.Kind, e.First, string(e.What)}
	if e.Field != "" {
		parts = append(parts, url.PathEscape(e.Field))
	}
	return strings.Join(append(parts, e.Day), "/")
}

// IsUrgent reports whether those who follow at once are told.
func (e *Entry) IsUrgent() bool {
	return slices.Contains([]What{WhatPrice, WhatAnnounced, WhatRetired, WhatRestored}, e.What)
}

// A PriceValue is a price in an Entry.
type PriceValue struct {
	Pricing Pricing
	Price   string
	Display string // shown instead; "" means Price
}

func (p PriceValue) String() string {
	return strings.TrimSuffix(string(p.Pricing)+"\t"+p.Price+"\t"+p.Display, "\t")
}

// ParsePrice returns the value that a text of an Entry has.
func ParsePrice(text string) PriceValue {
	parts := append(strings.Split(text, "\t"), "", "", "")
	return PriceValue{Pricing(parts[0]), parts[1], parts[2]}
}

// firstOf returns the oldest slug of a record: the recorded one, or else one of its former ones.
func firstOf(slug, first string, aliases []string) string {
	if len(aliases) > 0 {
		return cmp.Or(first, aliases[0])
	}
	return cmp.Or(first, slug)
}

// entry returns an entry about a tool without its day.
func (t *Tool) entry(what What) Entry {
	return Entry{Kind: ToolKind.Name, Slug: t.Slug, First: firstOf(t.Slug, t.FirstSlug, t.Aliases), Name: t.Name, What: what}
}

// Entries returns the entries that a tool tells by itself: its histories and days.
func (t *Tool) Entries() (list []Entry) {
	add := func(what What, day, old, now, note string) {
		e := t.entry(what)
		e.Day, e.Old, e.New, e.Note = day, old, now, note
		list = append(list, e)
	}
	for i := range t.PriceHistory {
		day := t.PriceHistory[i].ChangedAt
		if i > 0 && day == t.PriceHistory[i-1].ChangedAt {
			continue
		}
		if p, ok := OnDay(t.PriceHistory, day); ok && !p.IsConversion() {
			add(WhatPrice, day, PriceValue{p.OldPricing, p.OldPrice, p.OldDisplay}.String(),
				PriceValue{p.NewPricing, p.NewPrice, p.NewDisplay}.String(), "")
		}
	}
	for i := range t.ScoreHistory {
		day := t.ScoreHistory[i].ChangedAt
		if i > 0 && day == t.ScoreHistory[i-1].ChangedAt {
			continue
		}
		if s, ok := OnDay(t.ScoreHistory, day); ok && s.ChangesScore() {
			add(WhatScore, day, figureText(s.OldScore), figureText(s.NewScore), s.Note)
		}
	}
	if t.TestedAt != "" {
		add(WhatTest, t.TestedAt, "", "", "")
	}
	if t.AddedAt != "" && (t.TestedAt == "" || t.TestedAt > t.AddedAt) {
		add(WhatNew, t.AddedAt, "", "", "")
	}
	return list
}

// Entries returns the entry that an obituary tells; c is its catalogue.
func (r *Retired) Entries(c *Catalog) []Entry {
	e := Entry{
		Kind: RetiredKind.Name, Slug: r.Slug, First: r.Slug, Name: r.Name, What: WhatRetired, New: string(r.Reason), Day: r.RetiredAt,
	}
	if t := c.Tool(r.Successor); t != nil {
		e.Note = t.Name
	}
	return []Entry{e}
}

// Entries returns the entry that an article tells.
func (a *Article) Entries() []Entry {
	e := Entry{
		Kind: ArticleKind.Name, Slug: a.Slug, First: firstOf(a.Slug, a.FirstSlug, a.Aliases), Name: a.Title, What: WhatText, Day: a.Date,
	}
	if a.Sponsored {
		e.Note = sponsored
	}
	return []Entry{e}
}

func figureText(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// checksum returns a value for a text that is equal for equal texts; "" for none.
func checksum(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
	return hex.EncodeToString(sum[:8])
}

// chronicle adds the entries of a publication on a day. A first one has none: its records tell the past.
func (d *Diff) chronicle(old, next *Catalog, today string) {
	if old.Name == "" {
		return
	}
	tools := d.Of(ToolKind)
	for _, slug := range slices.Concat(tools.Added, tools.Changed) {
		t := next.Tool(slug)
		prior := old.prior(next, t)
		if prior == nil {
			prior = d.tellNewcomer(old, t, today)
		}
		d.tellTool(prior, t, today)
		d.tellPlans(prior, t, today)
		d.tellAnnounced(next, prior, t, today)
	}
	if len(tools.Removed) > 0 {
		aliases := next.aliases()
		for _, slug := range slices.Concat(Removals(old, next), absorbed(old, next)) {
			e := old.Tool(slug).entry(WhatRemoved)
			e.Old = e.Name
			if t := next.Tool(aliases[slug]); t != nil {
				e.New = t.Name
			}
			d.tell(e, today)
		}
	}
	d.tellRetired(old, next, today)
	for _, k := range WrittenKinds {
		if k.text != nil {
			d.tellTexts(k, old, next, today)
		}
	}
}

// tell adds an entry of a day, from the value before this publication.
func (d *Diff) tell(e Entry, today string) {
	e.Day, e.IsStep = today, true
	d.Entries = append(d.Entries, e)
}

// tellNewcomer adds the appearance or the return of a tool, and returns the tool as it was last known: what it had since
// is no news, but for its announcements.
func (d *Diff) tellNewcomer(old *Catalog, t *Tool, today string) *Tool {
	prior := *t
	prior.Announced = nil
	past, isKnown := old.Past[t.Slug]
	if !isKnown && old.retired(t.Slug) == nil {
		e := t.entry(WhatNew)
		e.Day, e.New = cmp.Or(t.AddedAt, today), newcomer
		if t.TestedAt != "" {
			e.What, e.Day = WhatTest, t.TestedAt
		}
		d.Entries = append(d.Entries, e)
		return &prior
	}
	e := t.entry(WhatRestored)
	e.New = e.Name
	d.tell(e, today)
	if isKnown {
		prior.Pricing, prior.Price, prior.PriceDisplay, prior.PriceHistory = past.Pricing, past.Price, past.PriceDisplay, past.PriceHistory
		prior.Score, prior.ScoreHistory = past.Score, past.ScoreHistory
	}
	return &prior
}

// tellTool adds the changes of a tool that was published before.
func (d *Diff) tellTool(prior, t *Tool, today string) {
	before, after := prior.Entries(), t.Entries()
	was := PriceChange{OldPricing: prior.Pricing, OldPrice: prior.Price, NewPricing: t.Pricing, NewPrice: t.Price}
	was.show(prior.PriceDisplay, t.PriceDisplay)
	price := t.entry(WhatPrice)
	price.Old = PriceValue{was.OldPricing, was.OldPrice, was.OldDisplay}.String()
	price.New = PriceValue{was.NewPricing, was.NewPrice, was.NewDisplay}.String()
	if was.isNothing() || was.IsConversion() {
		price.New = price.Old
	}
	d.tellHistory(before, after, price, today)
	score := t.entry(WhatScore)
	score.Old, score.New, score.Note = figureText(prior.Score), figureText(t.Score), t.ScoreNote
	d.tellHistory(before, after, score, today)
	test := t.entry(WhatTest)
	if test.Day = t.TestedAt; t.TestedAt < prior.TestedAt {
		test.Day, test.Withdrawn, test.IsAmended, test.IsDaily = prior.TestedAt, true, true, true
	}
	if t.TestedAt != prior.TestedAt {
		d.Entries = append(d.Entries, test)
	}
	if t.Name != prior.Name {
		e := t.entry(WhatRenamed)
		e.Old, e.New = prior.Name, t.Name
		d.tell(e, today)
	}
	if t.TestedAt != "" && t.TestedAt == prior.TestedAt && t.Body != "" { // a new test brings its text
		e := t.entry(WhatText)
		e.Old, e.New = checksum(prior.Body), checksum(t.Body)
		d.tellChange(e, today)
	}
}

// tellChange adds an entry if it is one.
func (d *Diff) tellChange(e Entry, today string) {
	if e.Old != e.New {
		d.tell(e, today)
	}
}

// tellHistory adds what changed in the entries that a tool tells of its price or its score, before and after.
// step is the change of the value itself, which histories need not tell: an undo leaves them as they were.
func (d *Diff) tellHistory(before, after []Entry, step Entry, today string) {
	isChanged, isTold := step.Old != step.New, false
	find := func(list []Entry, e *Entry) *Entry {
		i := slices.IndexFunc(list, func(o Entry) bool { return o.What == e.What && o.Day == e.Day })
		if i < 0 {
			return nil
		}
		return &list[i]
	}
	newest := &step
	if i := slices.IndexFunc(after, func(e Entry) bool { return e.What == step.What }); i >= 0 {
		newest = &after[i]
	}
	for _, e := range after {
		was := find(before, &e)
		if e.What != step.What || was != nil && was.Old == e.Old && was.New == e.New && was.Note == e.Note {
			continue
		}
		isNow := isChanged && e.New == step.New && !isTold && e == *newest
		e.IsAmended = !isNow
		if isNow || was != nil {
			d.Entries = append(d.Entries, e)
		}
		isTold = isTold || isNow
	}
	for _, e := range before {
		if e.What == step.What && find(after, &e) == nil {
			e.Withdrawn, e.IsAmended, e.IsDaily = true, true, isChanged
			d.Entries = append(d.Entries, e)
			isTold = isTold || e.Day == today
		}
	}
	if isChanged {
		step.IsAmended = isTold
		d.tell(step, today)
	}
}

// tellPlans adds the plans that came and went.
func (d *Diff) tellPlans(prior, t *Tool, today string) {
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
		e.IsAmended = e.Old != "" && e.New != "" // only the price of one that came on this day
		d.tellChange(e, today)
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
func (d *Diff) tellAnnounced(c *Catalog, prior, t *Tool, today string) {
	of := func(tool *Tool, from string) (value, note string) {
		for _, e := range tool.Announces(c) {
			if e.Field == from {
				return e.New, e.Note
			}
		}
		return "", ""
	}
	for _, a := range slices.Concat(prior.Announced, t.Announced) {
		e := t.entry(WhatAnnounced)
		e.Field = a.From
		e.Old, _ = of(prior, a.From)
		e.New, e.Note = of(t, a.From)
		happened := slices.ContainsFunc(t.PriceHistory, func(p PriceChange) bool { return p.ChangedAt == a.From })
		if a.From > today && (e.New != "" || !happened) {
			d.tellChange(e, today)
		}
	}
}

func (d *Diff) tellRetired(old, next *Catalog, today string) {
	retired := d.Of(RetiredKind)
	for _, slug := range slices.Concat(retired.Added, retired.Changed) {
		e := next.retired(slug).Entries(next)[0]
		if prior := old.retired(slug); prior != nil { // whose day may have been wrong
			e.Day, e.IsAmended = prior.RetiredAt, true
		}
		d.Entries = append(d.Entries, e)
	}
	for _, slug := range retired.Removed {
		e := old.retired(slug).Entries(old)[0]
		e.Withdrawn, e.IsAmended, e.IsDaily = true, true, true
		d.Entries = append(d.Entries, e)
		if next.Tool(slug) == nil {
			d.tell(Entry{Kind: e.Kind, Slug: slug, First: slug, Name: e.Name, What: WhatRemoved, Old: e.Name}, today)
		}
	}
}

// A text is a comparison, an article or a page as far as its entries tell it.
type text struct {
	slug, first, title string
	aliases            []string
	day                string // on which it appeared; "" if the record does not say
	words              string // "" if the public does not see it
	note               string
}

func (x *Comparison) text() text {
	t := text{slug: x.Slug, title: x.Title, aliases: x.Aliases}
	if x.Published {
		t.words = x.Winner + " " + x.WinnerNote + " " + x.Body
	}
	return t
}

func (a *Article) text() text {
	t := text{slug: a.Slug, first: a.FirstSlug, title: a.Title, aliases: a.Aliases, day: a.Date, words: a.Title + " " + a.Body}
	if a.Sponsored {
		t.note = sponsored
	}
	return t
}

func (p *Page) text() text {
	return text{slug: p.Slug, title: p.Title, aliases: p.Aliases, words: p.Title + " " + p.Body}
}

// tellTexts adds the texts of a kind that came, were rewritten or went.
func (d *Diff) tellTexts(k *Kind, old, next *Catalog, today string) {
	changed := d.Of(k)
	find := func(c *Catalog, slugs ...string) (found text) {
		for _, slug := range slugs {
			if record := k.find(c, slug); record != nil && found.slug == "" {
				found = k.text(record)
			}
		}
		return found
	}
	former := map[string]bool{} // slugs of the texts of next
	for i := range k.Len(next) {
		for _, alias := range k.Aliases(k.At(next, i)) {
			former[alias] = len(changed.Removed) > 0
		}
	}
	for _, slug := range slices.Concat(changed.Added, changed.Changed, changed.Removed) {
		now := find(next, slug)
		was := find(old, append([]string{slug}, now.aliases...)...)
		if now.slug == "" && former[slug] {
			continue
		}
		known := cmp.Or(now.slug, was.slug)
		e := Entry{Kind: k.Name, Slug: known, First: firstOf(known, now.first, now.aliases), Name: cmp.Or(now.title, was.title), What: WhatText}
		e.Old, e.New, e.Note = checksum(was.words), checksum(now.words), now.note
		switch {
		case was.words == "" && now.day != "":
			e.Day = now.day
			d.Entries = append(d.Entries, e)
			continue
		case was.words != "" && now.words == "":
			e.What, e.First, e.Old = WhatRemoved, firstOf(known, was.first, was.aliases), e.Name
		}
		d.tellChange(e, today)
	}
}

// Merge returns the entry to store on a day, given the stored one with the same id, or nil. isNews reports whether it gets
// the next position, and isStored whether anything is to be stored.
func (e Entry) Merge(stored *Entry, today string) (next Entry, isNews, isStored bool) {
	if stored == nil {
		isNews = !e.IsAmended && (!e.IsStep || e.Old != e.New)
		return e, isNews, isNews
	}
	isSame := stored.Old == e.Old && stored.New == e.New && !stored.Withdrawn && !e.Withdrawn
	if isSame && !e.IsStep && !e.IsAmended && (e.What == WhatText || e.What == WhatRetired) && stored.At < today {
		e.Day = today // it happened again, after it had been taken back
		return e, true, true
	}
	next = *stored
	switch {
	case e.Withdrawn && e.IsDaily && !strings.HasPrefix(stored.At, today):
	case e.Withdrawn:
		next.Withdrawn = true
	case e.IsStep && e.New == stored.Old:
		next.Withdrawn = true
	default:
		next.Slug, next.Name, next.New, next.Note, next.Withdrawn = e.Slug, e.Name, e.New, e.Note, false
		if !e.IsStep {
			next.Old = e.Old
		}
	}
	isNews = next.Old != stored.Old || next.New != stored.New || next.Withdrawn != stored.Withdrawn
	return next, isNews, next != *stored
}

// Answers reports whether this entry only takes back another one of its record that was published on the same day. Both
// are then nothing, but for a retirement, which stands.
func (e *Entry) Answers(other *Entry) bool {
	isSame := e.First == other.First || e.Slug == other.Slug
	switch {
	case e.What == WhatRestored:
		return isSame && (other.What == WhatRetired || other.What == WhatRemoved && other.Kind == e.Kind)
	case e.What == WhatRetired:
		return isSame && other.What == WhatRestored
	case e.Kind != other.Kind:
		return false
	case e.What == WhatRemoved:
		return isSame && (other.New == newcomer || other.What == WhatText && other.Old == "" && other.Kind != ToolKind.Name)
	}
	return isSame && other.What == WhatRemoved && (e.New == newcomer || e.What == WhatText && e.Old == "")
}
