package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
)

// File is the name of the file in a content folder that has the proofs.
const File = catalog.ProofFile

// A Proof is what was last seen of a source, as a line of the file. What others need not write comes last.
type Proof struct {
	Slug        string    `json:"slug"`
	URL         string    `json:"url"`
	FinalURL    string    `json:"final_url"`
	CheckedAt   time.Time `json:"checked_at"`
	Status      int       `json:"status"`
	Result      Result    `json:"result"`
	Found       []Found   `json:"found"`
	TextHash    string    `json:"text_hash"`
	ConfirmedAt time.Time `json:"confirmed_at,omitzero"` // the last time; zero for never
	Price       string    `json:"price,omitempty"`       // what was looked for, as Claim.wanted returns it
	ETag        string    `json:"etag,omitempty"`        // by which the server knows a page that confirmed the price
	NoPlan      bool      `json:"no_plan,omitempty"`     // the page does not name the plan
}

func compareProofs(a, b Proof) int {
	return cmp.Or(strings.Compare(a.Slug, b.Slug), strings.Compare(a.URL, b.URL))
}

// A LineError says what is wrong with a line of the file.
type LineError struct {
	Line int
	Text string
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %s", File, e.Line, e.Text) }

const (
	maxLine   = 64 << 10
	maxProofs = 500_000
)

// ReadProofs reads the file as it may be until a day. A line that is no proof is a LineError: what somebody changed by
// hand, or left of a conflict, is not overwritten.
func ReadProofs(r io.Reader, today string) (list []Proof, err error) {
	err = EachProof(r, today, func(p *Proof) { list = append(list, *p) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// EachProof is ReadProofs for a file of which not everything is kept.
func EachProof(r io.Reader, today string, fn func(*Proof)) error {
	tomorrow := catalog.DaysBefore(today, -1) // clocks differ
	return EachLine(r, func(line []byte) (slug, address string, ok bool) {
		var p Proof
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&p)
		_, end := decoder.Token()
		ok = err == nil && end == io.EOF && p.isSound() && catalog.Day(p.CheckedAt) <= tomorrow
		if ok {
			fn(&p)
		}
		return p.Slug, p.URL, ok
	})
}

// isSound reports whether a proof is one that a look may have made.
func (p *Proof) isSound() bool {
	return slices.Contains(Results, p.Result) && p.Slug != "" && p.URL != "" && !p.CheckedAt.IsZero() && !p.ConfirmedAt.After(p.CheckedAt) &&
		(p.FinalURL == "" || isWeb(p.FinalURL)) && (p.ETag == "" || isTag.MatchString(p.ETag)) &&
		(p.Result != Confirmed || len(p.Found) == 0 || p.showsPrice())
}

// showsPrice reports whether the price that was looked for is among what was found, if it was not in words.
func (p *Proof) showsPrice() bool {
	price, rest, _ := strings.Cut(p.Price, "; ")
	display, _, _ := strings.Cut(rest, "; ")
	number, _, _ := strings.Cut(price, "/")
	if display == "" && strings.HasPrefix(p.Found[0].Amount, number) { // as most do
		return true
	}
	want, ok := (&Claim{Price: price, Display: display}).want()
	return !ok || want.value == 0 || slices.ContainsFunc(p.Found, func(f Found) bool {
		found := findAmounts(f.Amount)
		return len(found) == 1 && found[0].value == want.value && found[0].currency == want.currency
	})
}

// EachLine calls fn with each line of the file; it returns the slug and the address that the line is sorted by, and
// whether it is a proof. Anything that the command did not write is a LineError.
func EachLine(r io.Reader, fn func(line []byte) (slug, address string, ok bool)) error {
	var last [2]string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Bytes()
		if len(line) > 7 && (string(line[:7]) == "<<<<<<<" || string(line[:7]) == ">>>>>>>") || string(line) == "=======" {
			return &LineError{n, "a conflict was not resolved: keep one of the lines of each source, or delete the file and run sources check"}
		}
		slug, address, ok := fn(line)
		switch {
		case !ok:
			return &LineError{n, "this is not a line that sources check wrote: remove the line, and it writes it again"}
		case n > 1 && cmp.Or(strings.Compare(last[0], slug), strings.Compare(last[1], address)) >= 0:
			return &LineError{n, "the line is out of order, or there twice; remove the line, and sources check writes it again"}
		case n > maxProofs:
			return &LineError{n, fmt.Sprintf("the file has more than %d lines", maxProofs)}
		}
		last = [2]string{slug, address}
	}
	if lines.Err() != nil {
		return &LineError{n, "the line is too long; remove the line, and sources check writes it again"}
	}
	return nil
}

// line returns a proof as a line of the file.
func (p *Proof) line() []byte {
	if p.Found == nil {
		p.Found = []Found{}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		panic(err) // it has only text, numbers and times
	}
	return b.Bytes()
}

// Load reads the proofs of a folder; a folder without them has none.
func Load(dir, today string) ([]Proof, error) {
	file, err := os.Open(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadProofs(file, today)
}

// Save replaces the proofs of a folder, all at once.
func Save(dir string, list []Proof) error {
	slices.SortFunc(list, compareProofs)
	var b bytes.Buffer
	for i := range list {
		b.Write(list[i].line())
	}
	name := filepath.Join(dir, File)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, b.Bytes()) {
		return nil
	}
	next, err := os.CreateTemp(dir, "."+File+".*")
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
