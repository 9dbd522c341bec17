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
// Several changes of one field on one day are one entry. Each time it is made, changed or withdrawn, it is stored again
// with another position.
type Entry struct {
	Kind   string // of the record, as in Kinds; a retired tool is a tool
	Slug   string // that the record had
	First  string // the oldest slug of the record, which no other one of the kind has
	Name   string // or title, that the record had
	What   What
	Field  string // the name of a plan, the day of an announcement; "" if What says it all
	Old    string // see What; "" if there was nothing
	New    string
	Note   string // why
	Day    string // YYYY-MM-DD, on which it happened: the record's own day if it has one
	At     string // when it was published, as FormatTime returns it; "" if only a record tells it
	Topics []string

	Position  int64 // rises; 0 if the first version told it
	Version   int64 // that told it
	Withdrawn bool  // it was taken back, and nobody is shown it
}

// KeptEntries is how many stored entries a served version has, the last ones.
const KeptEntries = 5000

// A What says what happened in an Entry.
type What string

// The things that happen, with what is old and new in them.
const (
	WhatNew       What = "new"       // a tool without a test appeared
	WhatTest      What = "test"      // days of tests: a tool appeared with a test, got a new one or has none any more
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

// The beginnings of the topics of entries: the oldest slug of a tool or the slug of a category follows.
const (
	ToolTopic     = "outils/"
	CategoryTopic = "categories/"
)

// sponsored is the note of a text that somebody paid for.
const sponsored = "sponsored"

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

// IsOn reports whether the entry is on one of some topics; "" is everything.
func (e *Entry) IsOn(topics []string) bool {
	return slices.ContainsFunc(topics, func(topic string) bool { return topic == "" || slices.Contains(e.Topics, topic) })
}

// Says reports whether two states of an entry tell a reader the same. The price beside an announced price is as old as the
// announcement and makes no difference.
func (e *Entry) Says(o *Entry) bool {
	if e.Withdrawn || o.Withdrawn {
		return e.Withdrawn == o.Withdrawn
	}
	isBeside := e.What == WhatAnnounced && strings.Contains(e.New, "\t")
	return e.Old == o.Old && e.New == o.New && (e.Note == o.Note || isBeside)
}

// A PriceValue is a price in an Entry.
type PriceValue struct {
	Pricing Pricing
	Price   string
	Display string // shown instead; "" means Price, and Converted that it is approximate
}

// Converted is the Display of an amount in euros that only a price in another currency tells.
const Converted = "≈"

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
	return toolEntry(what, t.Slug, ToolKind.First(t), t.Name, t.Category)
}

func toolEntry(what What, slug, first, name, category string) Entry {
	topics := []string{ToolTopic + first, CategoryTopic + category}
	return Entry{Kind: ToolKind.Name, Slug: slug, First: first, Name: name, What: what, Topics: topics}
}

// Entries returns the entries that a tool tells by itself: its histories and days.
func (t *Tool) Entries() (list []Entry) {
	add := func(what What, day, old, now, note string) {
		e := t.entry(what)
		e.Day, e.Old, e.New, e.Note = day, old, now, note
		list = append(list, e)
	}
	price := func(pricing Pricing, price, display string) string {
		if display == "" && t.IsConverted() && !IsFree(price) {
			display = Converted
		}
		return PriceValue{pricing, price, display}.String()
	}
	for i := range t.PriceHistory {
		day := t.PriceHistory[i].ChangedAt
		if i > 0 && day == t.PriceHistory[i-1].ChangedAt {
			continue
		}
		if p, ok := OnDay(t.PriceHistory, day); ok && !p.IsConversion() {
			add(WhatPrice, day, price(p.OldPricing, p.OldPrice, p.OldDisplay), price(p.NewPricing, p.NewPrice, p.NewDisplay), "")
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
		add(WhatTest, t.TestedAt, "", t.TestedAt, "")
	}
	if t.AddedAt != "" && (t.TestedAt == "" || t.TestedAt > t.AddedAt) {
		add(WhatNew, t.AddedAt, "", "", "")
	}
	return list
}

// entry returns an entry about a retired tool.
func (r *Retired) entry(what What) Entry {
	return toolEntry(what, r.Slug, RetiredKind.First(r), r.Name, r.Category)
}

// told returns the entry that an obituary tells; c is its catalogue.
func (r *Retired) told(c *Catalog) Entry {
	e := r.entry(WhatRetired)
	e.New, e.Day = string(r.Reason), r.RetiredAt
	if t := c.Tool(r.Successor); t != nil {
		e.Note = t.Name
	}
	return e
}

// A texter is a record that the chronicle tells as a text.
type texter interface{ text(c *Catalog) text }

// A text is a comparison, an article or a page as far as its entries tell it.
type text struct {
	slug, title string
	day         string // on which it appeared; "" if the record does not say
	words       string // "" if the public does not see it
	note        string
	topics      []string
}

func (x *Comparison) text(c *Catalog) text {
	t := text{slug: x.Slug, title: x.Title, topics: c.topicsOf(x.ToolA, x.ToolB)}
	if x.Published {
		t.words = c.topicsOf(x.Winner)[0] + " " + x.WinnerNote + " " + x.Body
	}
	return t
}

func (a *Article) text(c *Catalog) text {
	t := text{slug: a.Slug, title: a.Title, day: a.Date, words: a.Title + " " + a.Body, topics: c.topicsOf(a.Tools...)}
	if a.Category != "" {
		t.topics = append(t.topics, CategoryTopic+a.Category)
	}
	if a.Sponsored {
		t.note = sponsored
	}
	return t
}

func (p *Page) text(*Catalog) text {
	return text{slug: p.Slug, title: p.Title, words: p.Title + " " + p.Body}
}

// topicsOf returns the topics of something about tools, active or not.
func (c *Catalog) topicsOf(slugs ...string) (topics []string) {
	for _, slug := range slugs {
		if t := c.Tool(slug); t != nil {
			topics = append(topics, t.entry("").Topics...)
		} else if r := c.retired(slug); r != nil {
			topics = append(topics, r.entry("").Topics...)
		} else {
			topics = append(topics, ToolTopic+slug)
		}
	}
	return topics
}

// entry returns an entry about a text of a kind.
func (t *text) entry(k *Kind, first string, what What) Entry {
	return Entry{Kind: k.Name, Slug: t.slug, First: first, Name: t.title, What: what, Note: t.note, Topics: t.topics}
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

// PastEntries returns what the records of a catalogue tell of the time before it was first published, the last days first:
// of a large one no more than lists show.
func (c *Catalog) PastEntries() (all []Entry) {
	for _, t := range c.Tools {
		all = append(all, t.Entries()...)
		if len(all) > 4*KeptEntries {
			all = lastEntries(all)
		}
	}
	for i := range c.Retired {
		r := &c.Retired[i]
		was := Tool{
			Slug: r.Slug, FirstSlug: RetiredKind.First(r), Name: r.Name, Category: r.Category,
			PriceHistory: r.PriceHistory, ScoreHistory: r.ScoreHistory,
		}
		all = append(append(all, r.told(c)), was.Entries()...)
	}
	for i := range c.Articles {
		t := c.Articles[i].text(c)
		e := t.entry(ArticleKind, ArticleKind.First(&c.Articles[i]), WhatText)
		e.Day, e.New = t.day, checksum(t.words)
		all = append(all, e)
	}
	return lastEntries(all)
}

// lastEntries returns the last of many entries, the last days first. At most half of them tell that a tool is new.
func lastEntries(all []Entry) []Entry {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Slug, b.Slug), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
	})
	newcomers := 0
	all = slices.DeleteFunc(all, func(e Entry) bool {
		if e.What == WhatNew {
			newcomers++
		}
		return e.What == WhatNew && newcomers > KeptEntries/2
	})
	return all[:min(len(all), KeptEntries)]
}
