// Package content turns a content folder into a catalogue, and back.
//
// A folder holds catalogue.yaml, one Markdown file per record in outils/,
// comparatifs/, cimetiere/ and pages/, records in bulk in outils.jsonl,
// comparatifs.jsonl, cimetiere.jsonl, pages.jsonl, articles.jsonl and auteurs.jsonl, and pictures in images/. YAML front
// matter and JSON lines are first parsed into the same small tree of values (package tree). The rules for a record are written once over that tree, in read.go for the fields
// that the tables of catalog have and in record.go for what they say together, so that the
// two formats cannot diverge and all problems of a folder are reported at once, each with its
// file and line.
//
// Nothing is skipped silently. In the folders of records every entry must be named
// <slug>.md. At the top level, other files are ignored, so that a folder can be a
// repository with a README and scripts, unless they look like misplaced records:
// a .jsonl or .ndjson file, a Markdown file with front matter, a name close to an
// expected one (Outils/, outil.json, catalogue.yml). What IsIgnored names is always
// ignored.
//
// Records may be in their canonical form (package record), which says the same with more
// fields; catalogue.yaml may be the record of the catalogue, on one line.
//
// A byte order mark at the start of a file, CRLF line endings and blank lines
// between JSON lines are accepted. Only plain YAML is accepted: no anchors,
// aliases, tags, merge keys, directives or multiple documents. Symbolic links are
// followed if they stay within the folder and rejected otherwise.
package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	canonical "palmares/internal/record"
)

// The limits of a folder.
const (
	maxRecords = 2_000_000
	// maxFindings is how many problems, and how many warnings, are kept: nobody reads more, and
	// a folder of empty files has one for each.
	maxFindings = 10_000
)

// A Problem is something in a folder that its editors must fix.
type Problem struct {
	File string // relative to the folder, with forward slashes
	Line int    // from 1
	Text problem.Text
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// A Warning is something in a folder that its editors should look at. It stops
// nothing.
type Warning Problem

func (w Warning) String() string { return fmt.Sprintf("%s:%d: warning: %s", w.File, w.Line, w.Text) }

// Options say how to read a folder. The zero value is what a publication needs of
// a folder without pictures.
type Options struct {
	// Progress may be nil; it is called from time to time, never concurrently, with
	// the number of records read so far.
	Progress func(records int)
	// Now says which hours have passed; zero for none of them.
	Now time.Time
	// Today is the UTC day, for warnings about dates; "" for none of them.
	Today string
	// MaxAge is how many days old tests and price checks may be without a warning; 0
	// for any number.
	MaxAge int
	// Drafts keeps drafts in the catalogue. They are read and checked in any case.
	Drafts bool
	// Known returns the result for a picture that was published before, given the
	// SHA-256 of its file in hexadecimal; such a picture is not decoded again. It may
	// be nil.
	Known func(source string) (catalog.Picture, bool)
	// Memory is for a folder that is read again and again. It may be nil.
	Memory *Memory
	// InMemory keeps the pictures in memory, not in a temporary file: for small folders
	// on machines that may have no place for one.
	InMemory bool
	// Elsewhere has the pictures whose files in the folder are empty because they are
	// Known: by path, the SHA-256 that the files would have.
	Elsewhere map[string]string
}

// A Result is what was found in a folder.
type Result struct {
	// Catalog is nil if there are problems, and otherwise sorted and ready for
	// catalog.CarryOver.
	Catalog  *catalog.Catalog
	Problems []Problem // by file and line
	Warnings []Warning // by file and line
	// Pictures holds the bytes of the new pictures of Catalog. Close it.
	Pictures *Pictures
	Proofs   []catalog.Proof          // all that the folder has, also of announced prices
	lines    map[string][]recordLines // by folder
	folder   *folder                  // for With; nil without a memory
}

// Close removes the temporary file behind Pictures.
func (r *Result) Close() error { return r.Pictures.Close() }

// Open opens the folder dir. Links cannot leave it. Close it.
func Open(dir string) (*os.Root, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem.New("no-content-folder", dir)
	case err != nil:
		return nil, problem.Wrap(err, "content-folder-unreadable", err)
	case !info.IsDir():
		return nil, problem.New("not-a-folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, problem.Wrap(err, "content-folder-unreadable", err)
	}
	return root, nil
}

// Read reads the folder dir. An error means that the folder could not be read at
// all; otherwise the result must be closed.
func Read(ctx context.Context, dir string, opts Options) (*Result, error) {
	root, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return ReadFS(ctx, root.FS(), opts)
}

// ReadFS is Read for a folder that is not on disk. fsys decides whether links may
// leave it.
func ReadFS(ctx context.Context, fsys fs.FS, opts Options) (*Result, error) {
	f := &folder{fsys: fsys, progress: opts.Progress, maxRecords: maxRecords, memory: opts.Memory}
	f.days = newDates(opts.Today, opts.MaxAge)
	f.zone = f.catalogue.Zone()
	if !opts.Now.IsZero() {
		f.now = catalog.FormatTime(opts.Now.Add(-settled))
	}
	f.settings.references = noReferences
	r := &Result{Pictures: &Pictures{}}
	if opts.InMemory {
		r.Pictures.inMemory = map[string][]byte{}
	}
	if err := f.read(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	f.memory.replace(f.basis, f.batches)
	if f.memory != nil {
		r.folder = f
	}
	c := f.assemble(f.now)
	if c != nil {
		if err := f.readPictures(ctx, opts, c, r.Pictures); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if len(f.problems) == 0 {
		f.complete(c, opts.Drafts)
	}
	if f.declared == nil { // which warnings and pictures are wanted is not known
		f.warnings = nil
	}
	r.Problems = finish(f.problems, "full-of-problems")
	r.Warnings = finish(f.warnings, moreWarnings)
	if len(f.problems) > 0 {
		return r, r.Close()
	}
	r.Catalog, r.lines, r.Proofs = c, f.lines(), f.proofs
	return r, nil
}

// complete completes a catalogue without problems, and sorts it.
func (f *folder) complete(c *catalog.Catalog, withDrafts bool) {
	f.schedule(c, f.now)
	if withDrafts {
		f.addDrafts(c)
	} else if len(c.Scheduled) > 0 {
		canonical.SettlePictures(c)
	}
	c.Sort()
	if f.hasProofs {
		f.readProofs(c)
	}
}

const moreWarnings = "full-of-warnings"

// keep adds problems or warnings to a list, as far as they are listed.
func keep[T Problem | Warning](list *[]T, more ...T) {
	*list = append(*list, more[:min(len(more), maxFindings-len(*list))]...)
}

// finish sorts a list, and says at its end by a code that it is full.
func finish[T Problem | Warning](list []T, of string) []T {
	sortByPlace(list)
	if len(list) < maxFindings {
		return list
	}
	last := Problem(list[maxFindings-1])
	return append(list, T{last.File, last.Line, problem.New(of, maxFindings)})
}

// sortByPlace sorts problems or warnings by file and line. Those of one line stay in
// the order in which they were found.
func sortByPlace[T Problem | Warning](found []T) {
	slices.SortStableFunc(found, func(x, y T) int {
		a, b := Problem(x), Problem(y)
		return cmp.Or(cmp.Compare(rank(a.File), rank(b.File)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// rank returns the position of a file in the order of the format: top-level files
// first, then, for each kind, the folder and the JSON lines.
func rank(file string) int {
	for i, k := range catalog.WrittenKinds {
		switch {
		case strings.HasPrefix(file, k.Folder+"/"):
			return 2*i + 1
		case file == k.Folder+".jsonl":
			return 2*i + 2
		}
	}
	if strings.HasPrefix(file, imageFolder+"/") {
		return 2*len(catalog.WrittenKinds) + 1
	}
	return 0
}
