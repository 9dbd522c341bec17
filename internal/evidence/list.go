package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
)

// Stale is the state of a price that was neither confirmed nor read by somebody for longer than the
// catalogue allows, if there is nothing else to be said of its source.
const Stale = "stale"

// Attention are the states of sources that somebody should look at, the most urgent ones first.
var Attention = []string{string(Changed), string(Gone), string(Moved), string(Unreadable), Stale}

// A Listed is a source and what was last seen of it.
type Listed struct {
	Slug        string    `json:"slug"`
	URL         string    `json:"url"`
	State       string    `json:"state"`           // a result, Stale, or "" for nothing to be said
	Price       string    `json:"price,omitempty"` // as recorded
	Hint        string    `json:"hint,omitempty"`  // the plan, as recorded
	NoPlan      bool      `json:"no_plan,omitempty"`
	FinalURL    string    `json:"final_url,omitempty"`
	CheckedAt   time.Time `json:"checked_at,omitzero"`
	ConfirmedAt time.Time `json:"confirmed_at,omitzero"`
	Found       []Found   `json:"found"`
	Line        int       `json:"-"` // of its proof; 1 if it has none
	source      *Source
	isFormer    bool // another price was looked for, or another plan
}

// EachListed calls fn with every source of a catalogue, which is sorted, and what the folder's file of
// proofs says of it, in the order of both. It holds one proof at a time.
func EachListed(c *catalog.Catalog, folder fs.FS, today string, fn func(*Listed)) error {
	rest, line := Sources(c), 0
	next := func(p *Proof, line int) {
		fn(newListed(c, &rest[0], p, line, today))
		rest = rest[1:]
	}
	file, err := folder.Open(File)
	if err == nil {
		defer file.Close()
		err = EachProof(file, today, func(p *Proof) {
			line++
			for len(rest) > 0 {
				order := cmp.Or(strings.Compare(rest[0].Slug, p.Slug), strings.Compare(rest[0].URL, p.URL))
				if order == 0 {
					next(p, line)
				}
				if order >= 0 {
					return
				}
				next(&Proof{Found: []Found{}}, 1)
			}
		})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for len(rest) > 0 {
		next(&Proof{Found: []Found{}}, 1)
	}
	return nil
}

func newListed(c *catalog.Catalog, s *Source, p *Proof, line int, today string) *Listed {
	l := &Listed{
		Slug: s.Slug, URL: s.URL, State: string(p.Result), FinalURL: p.FinalURL,
		CheckedAt: p.CheckedAt, ConfirmedAt: p.ConfirmedAt, Found: p.Found, Line: line, source: s,
	}
	if s.IsPrice {
		l.Price, l.Hint, l.isFormer = s.Price, s.Hint, p.Price != "" && p.Price != s.wanted()
		l.NoPlan = p.NoPlan && !l.isFormer
	}
	if p.Result == Changed && (!s.IsPrice || l.isTakenOver()) || p.Result == Confirmed && l.isFormer {
		l.State = ""
	}
	if s.IsPrice && (l.State == "" || p.Result == Confirmed) {
		if known := c.FreshnessOf(s.tool, today); known.Day == "" || known.IsOld {
			l.State = Stale
		}
	}
	return l
}

// isTakenOver reports whether somebody read the price on the day of the look or later, and recorded one
// that the look had found.
func (l *Listed) isTakenOver() bool {
	want, ok := l.source.want()
	return ok && l.source.tool.PriceCheckedAt >= l.Day() && slices.ContainsFunc(l.Found, func(f Found) bool {
		found := findAmounts(f.Amount)
		return len(found) == 1 && found[0].price == want
	})
}

// Day returns the day of the look.
func (l *Listed) Day() string { return catalog.Day(l.CheckedAt) }

// Recordable returns an amount that was found as a price of the catalogue that can take the place of the recorded
// one; "" if only a person can tell what it means: something is not said on the page, the record has
// words of its own for its price or an announced one that is in effect, or somebody has read or changed it since.
func (l *Listed) Recordable(f Found) string {
	s := l.source
	want, ok := s.want()
	found := findAmounts(f.Amount)
	if !ok || l.isFormer || l.State != string(Changed) || s.Pricing == "gratuit" || s.Display != "" || s.tool.PriceCheckedAt > l.Day() || len(found) != 1 ||
		slices.ContainsFunc(s.tool.Announced, func(a catalog.Announcement) bool { return a.From <= l.Day() }) {
		return ""
	}
	is := found[0].price
	isRange := slices.ContainsFunc(findAmounts(f.Text), func(a amount) bool { return a.isRange && a.value == is.value })
	if is == want || is.currency != "EUR" || is.value == 0 || isRange {
		return ""
	}
	_, period, _ := strings.Cut(s.Price, " €/")
	if is.units != want.units {
		period = periodOf(is.units)
	}
	price := euros(is.value) + " €/" + period
	if !catalog.IsPrice(price) {
		return ""
	}
	return price
}

// periodOf returns units as the period of a price, the time last; "" if one of them is not a word of ours, or if
// there is no time.
func periodOf(units string) string {
	list := strings.Split(units, "/")
	slices.SortStableFunc(list, func(a, b string) int {
		switch {
		case isTime(a) == isTime(b):
			return 0
		case isTime(a):
			return 1
		}
		return -1
	})
	isOdd := slices.ContainsFunc(list, func(unit string) bool { return unitWords[unit] != unit || unit == once })
	if isOdd || !isTime(list[len(list)-1]) {
		return ""
	}
	return strings.Join(list, "/")
}

// euros returns an amount in French notation.
func euros(tenThousandths int64) string {
	whole, rest := fmt.Sprint(tenThousandths/10_000), fmt.Sprintf("%04d", tenThousandths%10_000)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + " " + whole[i:]
	}
	switch {
	case rest == "0000":
		return whole
	case strings.HasSuffix(rest, "00"):
		return whole + "," + rest[:2]
	}
	return whole + "," + rest
}
