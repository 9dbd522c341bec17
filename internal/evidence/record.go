package evidence

import (
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
)

// Seen is what the catalogue keeps of a proof, and the amount that was found first, which is the one
// that was looked for if it was found at all.
type Seen struct {
	catalog.Proof
	amount string
}

// Seen returns what the catalogue keeps of a proof.
func (p *Proof) Seen() Seen {
	s := Seen{Proof: catalog.Proof{Slug: p.Slug, Result: string(p.Result), CheckedAt: catalog.FormatTime(p.CheckedAt), URL: p.URL}}
	if !p.ConfirmedAt.IsZero() {
		s.ConfirmedAt = catalog.FormatTime(p.ConfirmedAt)
	}
	if len(p.Found) > 0 {
		s.amount = p.Found[0].Amount
	}
	return s
}

// Records returns what was seen of the prices of a catalogue, which is sorted, given what was seen by
// slug: of several sources of a tool, the newest look. Sources that a tool no longer has do not count, nor
// does what confirmed another price than the one that is recorded now.
func Records(c *catalog.Catalog, seen []Seen) (list []catalog.Proof) {
	for i := range seen {
		s := &seen[i]
		t := c.Tool(s.Slug)
		if t == nil || !catalog.IsPublic(t.Pricing, t.Price) || !s.isAt(PriceSources(t)) || s.isOfAnother(t) {
			continue
		}
		p := s.Proof
		p.URL = withoutFragment(p.URL)
		if n := len(list); n > 0 && list[n-1].Slug == p.Slug {
			if list[n-1].CheckedAt >= p.CheckedAt {
				continue
			}
			list = list[:n-1]
		}
		list = append(list, p)
	}
	return slices.Clip(list)
}

// isAt reports whether something was seen at one of some addresses.
func (s *Seen) isAt(sources []string) bool {
	return slices.ContainsFunc(sources, func(source string) bool { return withoutFragment(source) == withoutFragment(s.URL) })
}

func withoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}

// isOfAnother reports whether what confirmed a price found another amount than the one that is recorded
// now. What says in words that something is free has none.
func (s *Seen) isOfAnother(t *catalog.Tool) bool {
	if s.Result != catalog.Confirmed {
		return false
	}
	found := findAmounts(s.amount)
	want, ok := (&Claim{Price: t.Price, Display: t.PriceDisplay}).want()
	return len(found) > 0 && (!ok || found[0].value != want.value || found[0].currency != want.currency)
}

// Proofs returns records as proofs, of which nothing else is known.
func Proofs(records []catalog.Proof) (list []Proof, err error) {
	for _, r := range records {
		p := Proof{Slug: r.Slug, URL: r.URL, Result: Result(r.Result), Found: []Found{}}
		p.CheckedAt, err = catalog.ParseTime(r.CheckedAt, time.UTC)
		if err == nil && r.ConfirmedAt != "" {
			p.ConfirmedAt, err = catalog.ParseTime(r.ConfirmedAt, time.UTC)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}
