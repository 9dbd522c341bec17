package content

import (
	"errors"

	"palmares/internal/catalog"
)

// readProofs adds the proofs of the prices of a catalogue, which is sorted. Proofs of other sources than a tool has now,
// or of other words, do not count.
func (f *folder) readProofs(c *catalog.Catalog) {
	proofs, err := LoadProofs(f.fsys, f.days.today)
	if wrong, ok := errors.AsType[*ProofError](err); ok {
		f.tell(catalog.ProofFile, wrong.Line, wrong.Text)
	} else if err != nil {
		f.problem(catalog.ProofFile, 1, "file-unreadable", rootCause(err))
	}
	f.proofs = proofs
	for i := range proofs {
		p := &proofs[i]
		if t := c.Tool(p.Slug); t != nil && p.IsOf(t) {
			c.Proofs = append(c.Proofs, catalog.Proof{
				Slug: t.Slug, URL: t.PriceSource, Quote: t.PriceQuote, Result: p.Result, Found: p.Found, CheckedAt: p.CheckedAt,
				ConfirmedAt: p.ConfirmedAt,
			})
		}
	}
}
