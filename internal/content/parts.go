package content

import (
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// A Part is something in a folder that Read looks at.
type Part struct {
	Path      string // relative to the folder, with forward slashes
	IsFolder  bool
	IsPicture bool
	// Size is how many bytes Read looks at, from the start of the file: none where the
	// name tells everything.
	Size int64
	// FileSize and ModTime are those of the file; zero if Size is.
	FileSize int64
	ModTime  time.Time
}

// A PartError says that something in a folder cannot be copied as a file: a link that
// leads nowhere, a pipe, a file that cannot be read. Read reports a problem about it.
type PartError struct {
	Path string
	Err  error // may be nil
}

func (e *PartError) Error() string { return e.In(problem.English) }

// In returns the sentence in a language.
func (e *PartError) In(language problem.Language) string {
	what := problem.New("part-odd")
	if e.Err != nil {
		what = rootCause(e.Err)
	}
	return problem.New("part-uncopied", strings.ToValidUTF8(e.Path, "?"), what).In(language)
}

func (e *PartError) Unwrap() error { return e.Err }

// Parts lists what Read looks at: a folder that has these parts and nothing else reads
// the same. Folders come before what is in them. Links within the folder are listed as
// what they lead to. What cannot be listed so is a PartError.
func Parts(fsys fs.FS) ([]Part, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, problem.Wrap(err, "content-folder-unreadable", err)
	}
	l := lister{fsys: fsys}
	for _, e := range entries {
		if IsIgnored(e.Name()) {
			continue
		}
		if mustBeFolder, known := expected(e.Name()); known {
			err = l.expected(e.Name(), mustBeFolder)
		} else {
			err = l.stray(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return l.parts, nil
}

// A lister is the state of one call of Parts.
type lister struct {
	fsys  fs.FS
	parts []Part
}

func (l *lister) add(p Part) error {
	if !utf8.ValidString(p.Path) {
		return &PartError{Path: p.Path}
	}
	l.parts = append(l.parts, p)
	return nil
}

// file adds a file of which Read looks at most bytes.
func (l *lister) file(name string, info fs.FileInfo, most int64) error {
	p := Part{Path: name, Size: min(info.Size(), most), IsPicture: strings.HasPrefix(name, imageFolder+"/")}
	if p.Size > 0 {
		p.FileSize, p.ModTime = info.Size(), info.ModTime()
	}
	return l.add(p)
}

// expected adds a top-level entry that the format knows. Read reports a problem for a folder in the place of a file,
// and the other way round.
func (l *lister) expected(name string, mustBeFolder bool) error {
	info, err := fs.Stat(l.fsys, name)
	switch {
	case err != nil:
		return &PartError{name, err}
	case info.IsDir() && mustBeFolder:
		return l.folder(name)
	case info.IsDir():
		return l.add(Part{Path: name, IsFolder: true})
	case !info.Mode().IsRegular():
		return &PartError{Path: name}
	case mustBeFolder:
		return l.add(Part{Path: name})
	}
	return l.file(name, info, info.Size())
}

// folder adds a folder of records, which has no folders, or that of the pictures, which has no links.
func (l *lister) folder(root string) error {
	return fs.WalkDir(l.fsys, root, func(name string, e fs.DirEntry, err error) error {
		hasPictures := root == imageFolder
		switch {
		case err != nil:
			return &PartError{name, err}
		case name != root && IsIgnored(e.Name()) && e.IsDir():
			return fs.SkipDir
		case name != root && IsIgnored(e.Name()):
			return nil
		case e.IsDir():
			err := l.add(Part{Path: name, IsFolder: true})
			if err == nil && name != root && !hasPictures {
				return fs.SkipDir
			}
			return err
		case !hasPictures && path.Ext(name) != ".md":
			return l.add(Part{Path: name})
		case hasPictures && !e.Type().IsRegular():
			return &PartError{Path: name}
		}
		info, err := fs.Stat(l.fsys, name)
		switch {
		case err != nil || !info.Mode().IsRegular():
			return &PartError{name, err}
		case hasPictures:
			return l.file(name, info, info.Size())
		}
		return l.file(name, info, tree.MaxFile+1) // one more says that it is too large
	})
}

// stray adds a top-level entry that the format does not know: what checkStray looks at.
func (l *lister) stray(e fs.DirEntry) error {
	name := e.Name()
	switch ext := strings.ToLower(path.Ext(name)); {
	case e.IsDir():
		err := l.add(Part{Path: name, IsFolder: true})
		if entries, unread := fs.ReadDir(l.fsys, name); err == nil && unread == nil && hasMarkdown(entries) {
			err = l.add(Part{Path: name + "/x.md"})
		}
		return err
	case (ext == ".md" || ext == ".markdown") && e.Type().IsRegular():
		info, err := e.Info()
		if err != nil {
			return &PartError{name, err}
		}
		return l.file(name, info, frontMatterStart)
	}
	return l.add(Part{Path: name})
}
