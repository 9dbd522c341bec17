// Package content turns a content folder into a catalogue, and back.
//
// A folder holds catalogue.yaml, one Markdown file per record in outils/,
// comparatifs/ and cimetiere/, and the same records in bulk in outils.jsonl,
// comparatifs.jsonl and cimetiere.jsonl. YAML front matter and JSON lines are
// first made into one small tree of values with their lines; what a record must
// be like is said once, in record.go, over that tree. So the two formats cannot
// drift apart, and every problem of a folder is found in one go, with its place.
//
// Nothing is skipped in silence. In the three folders every entry must be
// <slug>.md. At the top, what is not of the format is left alone, so that a
// folder can be a repository with its README and its scripts, unless it looks
// like a record in the wrong place: a .jsonl or .ndjson file, a Markdown file
// with front matter, a name close to one of the format (Outils/, outil.json,
// catalogue.yml). Names that begin with a dot are never looked at.
//
// A byte order mark at the start of a file, CRLF line ends and blank lines
// between JSON lines are accepted. YAML is its plain core: anchors, aliases,
// tags, merge keys, directives and several documents are refused. A link is
// followed if it stays within the folder, refused otherwise.
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

	"palmares/internal/catalog"
)

// The limits of a folder. YAML has a lower one than the file around it, since
// the parser takes time that grows faster than its input.
const (
	maxFile    = 1 << 20 // bytes, of a Markdown file or a JSON line
	maxYAML    = 64 << 10
	maxDepth   = 10
	maxFields  = 100 // of one mapping; no record has thirty
	maxRecords = 2_000_000
)

// A Problem is one thing in a folder that its editors must mend.
type Problem struct {
	File string // relative to the folder, with forward slashes
	Line int    // from 1
	Text string // a sentence
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Read reads the folder dir. The catalogue is nil if there are problems, and
// otherwise sorted and ready for catalog.CarryOver. The error is only for what
// keeps the folder from being read at all. progress, which may be nil, is told
// now and then how many records have been read; its calls do not overlap.
func Read(ctx context.Context, dir string, progress func(records int)) (*catalog.Catalog, []Problem, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("the content folder %s does not exist", dir)
	case err != nil:
		return nil, nil, fmt.Errorf("the content folder cannot be read: %w", err)
	case !info.IsDir():
		return nil, nil, fmt.Errorf("%s is not a folder; give the folder that holds catalogue.yaml", dir)
	}
	// A root keeps links from leading anywhere else.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("the content folder cannot be read: %w", err)
	}
	defer root.Close()
	return ReadFS(ctx, root.FS(), progress)
}

// ReadFS is Read for a folder that is not on disk. Whether links lead out of
// fsys is for fsys to say.
func ReadFS(ctx context.Context, fsys fs.FS, progress func(records int)) (*catalog.Catalog, []Problem, error) {
	f := &folder{fsys: fsys, progress: progress, maxRecords: maxRecords}
	if err := f.read(ctx); err != nil {
		return nil, nil, err
	}
	c := f.assemble()
	if len(f.problems) > 0 {
		sortProblems(f.problems)
		return nil, f.problems, nil
	}
	c.Sort()
	return c, nil, nil
}

// sortProblems puts problems in the order of the format's files. The problems of
// one line stay in the order in which they were found.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a.File), rank(b.File)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// rank is the place of a file in the order of the format: catalogue.yaml and
// strays, then each kind's folder and its JSON lines.
func rank(file string) int {
	for i, k := range kinds {
		switch {
		case strings.HasPrefix(file, k.folder+"/"):
			return 2*i + 1
		case file == k.folder+".jsonl":
			return 2*i + 2
		}
	}
	return 0
}
