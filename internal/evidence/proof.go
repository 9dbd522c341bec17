package evidence

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
)

// A LineError is a line of the file of proofs that the program did not write.
type LineError struct {
	Line int
	Text string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %s", catalog.ProofFile, e.Line, e.Text)
}

const (
	maxLine   = 64 << 10
	maxProofs = 500_000
)

// EachProof calls fn with each line of the file of proofs. A line that is no proof, or is dated after today, is a
// LineError: nothing that somebody changed by hand, or left of a conflict, is overwritten.
func EachProof(r io.Reader, today string, fn func(*catalog.Proof)) error {
	var last key
	tomorrow := ""
	if today != "" {
		tomorrow = catalog.DaysBefore(today, -1) // clocks differ
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Bytes()
		if bytes.HasPrefix(line, []byte("<<<<<<<")) || bytes.HasPrefix(line, []byte(">>>>>>>")) || string(line) == "=======" {
			return &LineError{n, "a conflict was not resolved: keep one of the lines of each source, or delete the file and run sources check"}
		}
		var p catalog.Proof
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&p)
		_, end := decoder.Token()
		switch {
		case err != nil, end != io.EOF, !p.IsSound(), tomorrow != "" && p.CheckedAt[:len(tomorrow)] > tomorrow:
			return &LineError{n, "this is not a line that sources check wrote: remove the line, and it writes it again"}
		case n > 1 && compareKeys(last, keyOf(&p)) >= 0:
			return &LineError{n, "the line is out of order, or there twice; remove the line, and sources check writes it again"}
		case n > maxProofs:
			return &LineError{n, fmt.Sprintf("the file has more than %d lines", maxProofs)}
		}
		last = keyOf(&p)
		fn(&p)
	}
	if lines.Err() != nil {
		return &LineError{n, "the line is too long; remove the line, and sources check writes it again"}
	}
	return nil
}

// Load reads the proofs of a folder; a folder without them has none.
func Load(dir, today string) (list []catalog.Proof, err error) {
	file, err := os.Open(filepath.Join(dir, catalog.ProofFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	err = EachProof(file, today, func(p *catalog.Proof) { list = append(list, *p) })
	return list, err
}

// Save replaces the proofs of a folder, all at once.
func Save(dir string, list []catalog.Proof) error {
	slices.SortFunc(list, func(a, b catalog.Proof) int { return compareKeys(keyOf(&a), keyOf(&b)) })
	var b bytes.Buffer
	for i := range list {
		b.Write(line(&list[i]))
	}
	name := filepath.Join(dir, catalog.ProofFile)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, b.Bytes()) {
		return nil
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

// line returns a proof as a line of the file.
func line(p *catalog.Proof) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		panic(err) // it has only texts and a number
	}
	return b.Bytes()
}

// Add adds the proof of a tool's price to a catalogue, which is sorted, in the order of the file. Proofs of other
// sources than the tool has now, or of other words, do not count.
func Add(c *catalog.Catalog, p *catalog.Proof) {
	t := c.Tool(p.Slug)
	if t == nil || !catalog.IsPublic(t.Pricing, t.Price) || t.PriceQuote == "" || p.Quote != t.PriceQuote || p.URL != t.PriceSource {
		return
	}
	c.Proofs = append(c.Proofs, catalog.Proof{
		Slug: t.Slug, URL: t.PriceSource, Quote: t.PriceQuote, Result: p.Result, Found: p.Found, CheckedAt: p.CheckedAt,
		ConfirmedAt: p.ConfirmedAt,
	})
}
