package content

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A ProofError is a line of the file of proofs that the program did not write.
type ProofError struct {
	Line int
	Text problem.Text
}

func (e *ProofError) Error() string {
	return fmt.Sprintf("%s:%d: %s", catalog.ProofFile, e.Line, e.Text)
}

const (
	maxLine   = 64 << 10
	maxProofs = 500_000
)

// LoadProofs reads the proofs of a folder; a folder without them has none. A line that is no proof, or is dated after
// today, is a ProofError: nothing that somebody changed by hand, or left of a conflict, is overwritten.
func LoadProofs(folder fs.FS, today string) (list []catalog.Proof, err error) {
	file, err := folder.Open(catalog.ProofFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tomorrow := ""
	if today != "" {
		tomorrow = catalog.DaysBefore(today, -1) // clocks differ
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	n := 1
	fail := func(code string) ([]catalog.Proof, error) { return nil, &ProofError{n, problem.New(code, maxProofs)} }
	for ; lines.Scan(); n++ {
		line := lines.Bytes()
		if bytes.HasPrefix(line, []byte("<<<<<<<")) || bytes.HasPrefix(line, []byte(">>>>>>>")) || string(line) == "=======" {
			return fail("proof-conflict")
		}
		var p catalog.Proof
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&p)
		_, end := decoder.Token()
		switch {
		case err != nil, end != io.EOF, !p.IsSound(), tomorrow != "" && p.CheckedAt[:len(tomorrow)] > tomorrow:
			return fail("no-proof")
		case n > 1 && catalog.CompareProofs(list[n-2], p) >= 0:
			return fail("proof-out-of-order")
		case n > maxProofs:
			return fail("too-many-proofs")
		}
		list = append(list, p)
	}
	if lines.Err() != nil {
		return fail("proof-too-long")
	}
	return list, nil
}

// SaveProofs replaces the proofs of a folder, all at once. Without any there is no file.
func SaveProofs(dir string, list []catalog.Proof) error {
	slices.SortFunc(list, catalog.CompareProofs)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for i := range list {
		if err := encoder.Encode(&list[i]); err != nil {
			return err
		}
	}
	name := filepath.Join(dir, catalog.ProofFile)
	old, err := os.ReadFile(name)
	switch {
	case len(list) == 0 && errors.Is(err, fs.ErrNotExist), err == nil && bytes.Equal(old, b.Bytes()):
		return nil
	case len(list) == 0:
		return os.Remove(name)
	}
	next, err := os.CreateTemp(dir, "."+catalog.ProofFile+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(b.Bytes())
	err = errors.Join(err, next.Chmod(0o644), next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

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
