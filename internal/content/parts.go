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
	p := Part{Path: name, Size: min(info.Size(), most)}
	if p.Size > 0 {
		p.FileSize, p.ModTime = info.Size(), info.ModTime()
	}
	return l.add(p)
}

// expected adds a top-level entry that the format knows.
func (l *lister) expected(name string, mustBeFolder bool) error {
	info, err := fs.Stat(l.fsys, name)
	switch {
	case err != nil:
		return &PartError{name, err}
	case info.Mode().IsRegular() && mustBeFolder:
		return l.add(Part{Path: name}) // Read reports a problem for it
	case info.Mode().IsRegular():
		return l.file(name, info, info.Size())
	case !info.IsDir():
		return &PartError{Path: name}
	}
	switch {
	case name == imageFolder:
		return l.images()
	case mustBeFolder:
		return l.records(name)
	}
	return l.add(Part{Path: name, IsFolder: true}) // Read reports a problem for it
}

func (l *lister) records(folder string) error {
	entries, err := fs.ReadDir(l.fsys, folder)
	if err != nil {
		return &PartError{folder, err}
	}
	if err := l.add(Part{Path: folder, IsFolder: true}); err != nil {
		return err
	}
	for _, e := range entries {
		name := folder + "/" + e.Name()
		switch {
		case IsIgnored(e.Name()):
			continue
		case e.IsDir():
			err = l.add(Part{Path: name, IsFolder: true})
		case path.Ext(name) != ".md":
			err = l.add(Part{Path: name})
		default:
			var info fs.FileInfo
			info, err = fs.Stat(l.fsys, name)
			if err != nil || !info.Mode().IsRegular() {
				return &PartError{name, err}
			}
			err = l.file(name, info, tree.MaxFile+1) // one more says that it is too large
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) images() error {
	return fs.WalkDir(l.fsys, imageFolder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &PartError{name, err}
		case name != imageFolder && IsIgnored(e.Name()):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return l.add(Part{Path: name, IsFolder: true})
		case !e.Type().IsRegular():
			return &PartError{Path: name}
		}
		info, err := e.Info()
		if err != nil {
			return &PartError{name, err}
		}
		if err := l.file(name, info, info.Size()); err != nil {
			return err
		}
		l.parts[len(l.parts)-1].IsPicture = true
		return nil
	})
}

// stray adds a top-level entry that the format does not know: what checkStray looks at.
func (l *lister) stray(e fs.DirEntry) error {
	name := e.Name()
	switch ext := strings.ToLower(path.Ext(name)); {
	case e.IsDir():
		entries, err := fs.ReadDir(l.fsys, name)
		if err := l.add(Part{Path: name, IsFolder: true}); err != nil {
			return err
		}
		if err == nil && hasMarkdown(entries) {
			return l.add(Part{Path: name + "/x.md"})
		}
		return nil
	case (ext == ".md" || ext == ".markdown") && e.Type().IsRegular():
		info, err := e.Info()
		if err != nil {
			return &PartError{name, err}
		}
		return l.file(name, info, frontMatterStart)
	}
	return l.add(Part{Path: name})
}
