package evidence

import (
	"strings"

	"palmares/internal/catalog"
)

// Stale is the state of a price that was neither confirmed nor read by somebody for longer than the catalogue allows,
// if nothing else is to be said of its source.
const Stale = "stale"

// Attention are the states of sources that somebody should look at, the most urgent ones first.
var Attention = []string{catalog.Changed, catalog.Gone, catalog.Moved, catalog.Unreadable, Stale}

// A Listed is a source and its proof.
type Listed struct {
	catalog.Proof
	State string // a result, Stale, or "" for nothing to be said
	Price string // as recorded; "" if it is not that of a tool, or not public
	Line  int    // of the proof in its file; 1 if it has none
	tool  *catalog.Tool
}

// List returns every source of a catalogue, which is sorted, with its proof among those of the file, in the order of both.
func List(c *catalog.Catalog, proofs []catalog.Proof, today string) (list []Listed) {
	line := 0
	for _, s := range Sources(c) {
		for line < len(proofs) && s.compare(&proofs[line]) > 0 {
			line++
		}
		if line < len(proofs) && s.compare(&proofs[line]) == 0 {
			list = append(list, newListed(c, &s, proofs[line], line+1, today))
		} else {
			list = append(list, newListed(c, &s, catalog.Proof{}, 1, today))
		}
	}
	return list
}

func newListed(c *catalog.Catalog, s *Source, p catalog.Proof, line int, today string) Listed {
	l := Listed{Proof: p, State: p.Result, Line: line, tool: s.tool}
	l.Slug, l.URL, l.Quote = s.Slug, s.URL, s.Quote
	if !s.IsPrice {
		return l
	}
	l.Price = s.tool.Price
	if l.State == "" || l.State == catalog.Confirmed {
		if known := c.FreshnessOf(s.tool, today); known.Day == "" || known.IsOld {
			l.State = Stale
		}
	}
	return l
}

// Day returns the day of the look; "" if nobody looked.
func (l *Listed) Day() string {
	day, _, _ := strings.Cut(l.CheckedAt, "T")
	return day
}

// NewPrice returns the price that the found words say, in the form of the recorded one; "" if only a person can tell:
// the number of the recorded price is not in the quotation, or more than once, or the found words have a range of
// their own, or the record shows other words than its price, or an announced price is due.
func (l *Listed) NewPrice() string {
	if l.State != catalog.Changed || l.tool == nil || l.tool.PriceDisplay != "" || l.tool.Pricing == "gratuit" ||
		l.tool.PriceCheckedAt > l.Day() {
		return ""
	}
	own, quote, found := catalog.PriceNumber(l.Price), newScript(l.Quote), newScript(l.Found)
	if len(quote.numbers) != len(found.numbers) {
		return ""
	}
	next := ""
	for i, n := range quote.numbers {
		switch {
		case amount(n.value) != amount(own):
		case next != "":
			return ""
		default:
			next = found.numbers[i].value
		}
	}
	_, period, _ := strings.Cut(l.Price, " €/")
	price := euros(amount(next)) + " €/" + period
	if next == "" || amount(next) == 0 || !catalog.IsPrice(price) {
		return ""
	}
	return price
}
