// Package content turns a content folder into a catalogue, and back.
//
// A folder holds catalogue.yaml, one Markdown file per record in a folder for each kind, such as outils/, records in
// bulk in files such as outils.jsonl, and pictures in images/. YAML front matter and JSON lines are first parsed into
// the same small tree of values (package tree). The rules for a record are written once over that tree, so that the
// two formats cannot diverge and all problems of a folder are reported at once, each with its file and line: in
// text.go and given.go the rules of values by their form, in read.go the reading of fields by the tables of catalog,
// in kinds.go, tool.go and settings.go the rules of fields together, in instant.go the rules of records together.
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
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

const maxRecords = 2_000_000

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
	f.basis = basis{days: newDates(opts.Today, opts.MaxAge), zone: f.catalogue.Zone()}
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
	now := f.assemble()
	if now != nil {
		if err := f.readPictures(ctx, opts, now.catalog, r.Pictures); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if len(f.problems) == 0 {
		now.complete(opts.Drafts)
	}
	if f.declared == nil { // which warnings and pictures are wanted is not known
		f.warnings = nil
	}
	r.Problems = finish(f.problems, "full-of-problems")
	r.Warnings = finish(f.warnings, moreWarnings)
	if len(f.problems) > 0 {
		return r, r.Close()
	}
	r.Catalog, r.lines, r.Proofs = now.catalog, f.batches.lines(), f.proofs
	return r, nil
}
