package content

import (
	"errors"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/evidence"
	canonical "palmares/internal/record"
)

// readProofs reads what was seen of prices, as far as it is of the prices of a catalogue, which is sorted.
func (f *folder) readProofs(c *catalog.Catalog) {
	file, err := f.fsys.Open(catalog.ProofFile)
	if err != nil {
		f.problem(catalog.ProofFile, 1, "the file cannot be read: %s", rootCause(err))
		return
	}
	defer file.Close()
	var decoder canonical.Decoder
	tomorrow := catalog.DaysBefore(f.days.today, -1) // clocks differ; "" without a day
	err = evidence.EachLine(file, func(line []byte) (slug, address string, ok bool) {
		var p catalog.Proof
		_, err := decoder.Decode(canonical.Proof, line, &p)
		if err != nil || !isProof(&p) || tomorrow != "" && p.CheckedAt[:len(tomorrow)] > tomorrow {
			return "", "", false
		}
		evidence.Add(c, &p, line)
		return p.Slug, p.URL, true
	})
	if wrong, ok := errors.AsType[*evidence.LineError](err); ok {
		f.problem(catalog.ProofFile, wrong.Line, "%s", wrong.Text)
	}
}

func isProof(p *catalog.Proof) bool {
	return catalog.IsSlug(p.Slug) && slices.Contains(catalog.ProofResults, p.Result) && isURL(p.URL) &&
		catalog.IsTime(p.CheckedAt) && (p.ConfirmedAt == "" && p.Result != catalog.Confirmed || catalog.IsTime(p.ConfirmedAt) && p.ConfirmedAt <= p.CheckedAt)
}

// writeProofs writes what was seen of prices, as far as it is known.
func (w *folderWriter) writeProofs() error {
	list, err := evidence.Proofs(w.catalogue)
	if err != nil || len(list) == 0 {
		return err
	}
	return evidence.Save(w.dir, list)
}
