package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A Proof is the last look at the source of a price: whether the words that a person marked still stand there. It is a
// line of ProofFile and, without what only the next look needs, a record of its own: to look at a price is no change
// of the tool.
type Proof struct {
	Slug        string `json:"slug"` // of the tool, or of the obituary
	URL         string `json:"url"`  // of the source
	FinalURL    string `json:"final_url"`
	CheckedAt   string `json:"checked_at"`    // as FormatTime returns it
	Status      int    `json:"status"`        // of HTTP; 0 if there was no response
	Why         string `json:"why,omitempty"` // the page was not read; "" if it was
	Result      string `json:"result"`        // one of ProofResults
	Quote       string `json:"quote"`         // the words that were looked for
	Found       string `json:"found"`         // the words that stood there instead; the same ones, if they are in several blocks
	TextHash    string `json:"text_hash"`
	ConfirmedAt string `json:"confirmed_at,omitempty"` // the last time that the words stood there; "" for never
	ETag        string `json:"etag,omitempty"`         // of a page that confirmed them
}

// ProofFile is the file of a content folder that has the proofs.
const ProofFile = "preuves.jsonl"

// The results of a look.
const (
	Confirmed  = "confirmed"  // the words stand there
	Changed    = "changed"    // they do, with other numbers
	Moved      = "moved"      // the address leads elsewhere, where they do not stand
	Gone       = "gone"       // there is no such page
	Unreadable = "unreadable" // a person must look
)

// ProofResults are the results of a look.
var ProofResults = []string{Confirmed, Changed, Moved, Gone, Unreadable}

// ProofFields are the fields of a *Proof that its record has.
var ProofFields = []Field{
	NewField("slug", OwnSlug, Required, func(p *Proof) any { return &p.Slug }),
	oneOf(NewField("result", Enum, Required, func(p *Proof) any { return &p.Result }), "", ProofResults...),
	NewField("checked_at", Time, Required, func(p *Proof) any { return &p.CheckedAt }),
	NewField("confirmed_at", Time, 0, func(p *Proof) any { return &p.ConfirmedAt }),
	NewField("url", Link, Required, func(p *Proof) any { return &p.URL }),
	NewField("quote", Quote, 0, func(p *Proof) any { return &p.Quote }),
	NewField("found", Prose, 0, func(p *Proof) any { return &p.Found }),
}

// The lengths of a quotation, in characters.
const (
	MinQuote = 3
	MaxQuote = 300
)

// IsSound reports whether a proof is one that a look may have made.
func (p *Proof) IsSound() bool {
	isBroken := strings.ContainsFunc(p.Found+p.Why, func(r rune) bool { return unicode.IsControl(r) && r != '\n' })
	return IsSlug(p.Slug) && p.URL != "" && IsTime(p.CheckedAt) && slices.Contains(ProofResults, p.Result) && !isBroken &&
		(p.ConfirmedAt == "" && p.Result != Confirmed || IsTime(p.ConfirmedAt) && p.ConfirmedAt <= p.CheckedAt)
}

// IsOf reports whether a proof is of the price of a tool: of its source, and of the words that are quoted now.
func (p *Proof) IsOf(t *Tool) bool {
	return p.Slug == t.Slug && p.URL == t.PriceSource && p.Quote == t.PriceQuote && p.Quote != ""
}

// CompareProofs orders proofs as their file does. Proofs that it takes for equal are of one source.
func CompareProofs(a, b Proof) int {
	return cmp.Or(cmp.Compare(a.Slug, b.Slug), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Quote, b.Quote))
}

// SettleProofs drops the proofs that are not of the price of a tool: it is no longer there, or quotes other words.
func (c *Catalog) SettleProofs() {
	c.Proofs = slices.DeleteFunc(slices.Clone(c.Proofs), func(p Proof) bool {
		t := c.Tool(p.Slug)
		return t == nil || !p.IsOf(t)
	})
}

// confirmed returns the proof of the price of a tool, if it ever confirmed that; nil if not. A quotation that does not
// have the amount says nothing of it: the price changed, and the quotation did not. The catalogue must be sorted.
func (c *Catalog) confirmed(t *Tool) *Proof {
	p := find(c.Proofs, t.Slug, func(p *Proof) string { return p.Slug })
	if p == nil || p.ConfirmedAt == "" || !p.IsOf(t) || !IsQuoted(p.Quote, t.Pricing, t.Price, t.PriceDisplay) {
		return nil
	}
	return p
}

func (p *Proof) confirmedOn() string { return p.ConfirmedAt[:len(time.DateOnly)] }

// Freshness is how the price of a tool is known.
type Freshness struct {
	Day   string // the last one on which the price was as recorded, YYYY-MM-DD; "" if nothing is known
	Proof *Proof // of the price on that day; nil if somebody read it
	IsOld bool   // the day is longer ago than the catalogue allows, or the source is known to say otherwise since
}

// FreshnessOf returns how the price of a tool is known on a day: by the later one of what somebody
// read and what was seen at its source. A price that is not public has nothing but its quotation.
func (c *Catalog) FreshnessOf(t *Tool, today string) (f Freshness) {
	if t.PriceQuote == "" && !IsPublic(t.Pricing, t.Price) {
		return f
	}
	f.Day = t.CheckedAt()
	if p := c.confirmed(t); p != nil && p.confirmedOn() >= f.Day {
		f.Day, f.Proof, f.IsOld = p.confirmedOn(), p, p.Result != Confirmed && p.Result != Unreadable
	}
	maxAge := defaultPriceMaxAge
	if days := c.Settings.PriceMaxAge; days != nil {
		maxAge = int(*days)
	}
	f.IsOld = f.IsOld || f.Day != "" && f.Day < DaysBefore(today, maxAge)
	return f
}

// CheckedAt returns the day on which somebody read the price; "" if that was before it changed, or is not said.
func (t *Tool) CheckedAt() string {
	if len(t.PriceHistory) > 0 && t.PriceHistory[0].ChangedAt > t.PriceCheckedAt {
		return ""
	}
	return t.PriceCheckedAt
}

// defaultPriceMaxAge is how many days a price is taken for current if catalogue.yaml does not say.
const defaultPriceMaxAge = 90

// DaysBefore returns the day that is some days before another one.
func DaysBefore(day string, days int) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return t.AddDate(0, 0, -days).Format(time.DateOnly)
}

// ConfirmedPrices is how many prices a catalogue, or a category of it, has, and how many of them
// were found as they are recorded at their sources within 30 and 90 days.
type ConfirmedPrices struct {
	Prices   int `json:"prices"`
	Within30 int `json:"confirmed_30_days"`
	Within90 int `json:"confirmed_90_days"`
}

// ConfirmedPrices counts the prices that are confirmed on a day, in all and by category. What
// somebody read does not count, and neither does what a later look did not find again.
func (c *Catalog) ConfirmedPrices(today string) (all ConfirmedPrices, byCategory map[string]ConfirmedPrices) {
	byCategory = map[string]ConfirmedPrices{}
	month, quarter := DaysBefore(today, 30), DaysBefore(today, 90)
	for _, t := range c.Tools {
		if !IsPublic(t.Pricing, t.Price) {
			continue
		}
		n := byCategory[t.Category]
		n.Prices++
		if p := c.confirmed(t); p != nil && p.Result == Confirmed {
			n.Within30 += count(p.confirmedOn() >= month)
			n.Within90 += count(p.confirmedOn() >= quarter)
		}
		byCategory[t.Category] = n
	}
	for _, n := range byCategory {
		all.Prices, all.Within30, all.Within90 = all.Prices+n.Prices, all.Within30+n.Within30, all.Within90+n.Within90
	}
	return all, byCategory
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
