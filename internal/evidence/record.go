package evidence

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/catalog"
)

// Add adds to a catalogue, which is sorted, what was seen of the price of a tool, given its line and in the order of
// the file: of several sources of a tool, the newest look. Sources that a tool no longer has do not count, nor
// does what confirmed another price than the one that is recorded now.
func Add(c *catalog.Catalog, p *catalog.Proof, line []byte) {
	t := c.Tool(p.Slug)
	if t == nil || !catalog.IsPublic(t.Pricing, t.Price) || p.ConfirmedAt != "" && isOfAnother(line, t) {
		return
	}
	address, isSource := withoutFragment(p.URL), false
	for _, source := range PriceSources(t) {
		plain := withoutFragment(source)
		if plain == address {
			address, isSource = plain, true // one text for both
		}
	}
	n := len(c.Proofs)
	isSecond := n > 0 && c.Proofs[n-1].Slug == t.Slug
	if !isSource || isSecond && c.Proofs[n-1].CheckedAt >= p.CheckedAt {
		return
	}
	if isSecond {
		c.Proofs = c.Proofs[:n-1]
	}
	kept := catalog.Proof{Slug: t.Slug, Result: p.Result, CheckedAt: p.CheckedAt, ConfirmedAt: p.ConfirmedAt, URL: address}
	if kept.ConfirmedAt == kept.CheckedAt {
		kept.ConfirmedAt = kept.CheckedAt // one text for both
	}
	c.Proofs = append(c.Proofs, kept)
}

func withoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}

const priceField = `,"price":`

// isOfAnother reports whether a line says that another price was looked for than the one that is recorded now, or
// that of another plan.
// No text of a line can look like a field, because its quotation marks are escaped.
func isOfAnother(line []byte, t *catalog.Tool) bool {
	_, rest, isSaid := bytes.Cut(line, []byte(priceField))
	price, err := jsontext.AppendQuote(nil, claimOf(t).wanted())
	return isSaid && (err != nil || !bytes.HasPrefix(rest, price))
}

// wanted returns all that is looked for, as a line keeps it: the price, what pages show instead, the plan.
func (c *Claim) wanted() string {
	return strings.TrimRight(c.Price+"; "+c.Display+"; "+c.Hint, "; ")
}

// Proofs returns the records of a catalogue as proofs, of which nothing else is known.
func Proofs(c *catalog.Catalog) (list []Proof, err error) {
	for _, r := range c.Proofs {
		p := Proof{Slug: r.Slug, URL: r.URL, Result: Result(r.Result)}
		if t := c.Tool(r.Slug); t != nil && r.Result == catalog.Confirmed {
			p.Price = claimOf(t).wanted()
		}
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
