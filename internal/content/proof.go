package content

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/evidence"
	canonical "palmares/internal/record"
)

// readProofs reads what was seen of prices.
func (f *folder) readProofs() {
	file, err := f.fsys.Open(catalog.ProofFile)
	if err != nil {
		f.problem(catalog.ProofFile, 1, "the file cannot be read: %s", rootCause(err))
		return
	}
	defer file.Close()
	if f.isCopy {
		f.readProofRecords(file)
		return
	}
	err = evidence.EachProof(file, func(p *evidence.Proof) { f.seen = append(f.seen, p.Seen()) })
	if wrong, ok := errors.AsType[*evidence.LineError](err); ok {
		f.problem(catalog.ProofFile, wrong.Line, "%s", wrong.Text)
	}
}

// readProofRecords reads what was seen of prices in its canonical form.
func (f *folder) readProofRecords(file io.Reader) {
	var decoder canonical.Decoder
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, f.maxLine)
	for n := 1; lines.Scan(); n++ {
		var p catalog.Proof
		if _, err := decoder.Decode(canonical.Proof, lines.Bytes(), &p); err != nil || !isProof(&p) {
			f.problem(catalog.ProofFile, n, "this is not what was seen of a price: upgrade the older of the two servers")
		}
		f.catalogue.Proofs = append(f.catalogue.Proofs, p)
	}
	if lines.Err() != nil {
		f.problem(catalog.ProofFile, len(f.catalogue.Proofs)+1, "the line is too long")
	}
}

func isProof(p *catalog.Proof) bool {
	return catalog.IsSlug(p.Slug) && slices.Contains(catalog.ProofResults, p.Result) && isPageURL(p.URL) &&
		catalog.IsTime(p.CheckedAt) && (p.ConfirmedAt == "" && p.Result != catalog.Confirmed || catalog.IsTime(p.ConfirmedAt))
}

// writeProofs writes what was seen of prices, as far as it is known.
func (w *folderWriter) writeProofs() error {
	list, err := evidence.Proofs(w.catalogue.Proofs)
	if err != nil || len(list) == 0 {
		return err
	}
	return evidence.Save(w.dir, list)
}
