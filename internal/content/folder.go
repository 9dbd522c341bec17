package content

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// Folders returns the names of the folders that a content folder may have.
func Folders() []string {
	names := []string{imageFolder}
	for _, k := range catalog.WrittenKinds {
		names = append(names, k.Folder)
	}
	return names
}

// IsIgnored reports whether nothing of this name in a content folder is read, wherever
// it is: hidden files, backups and autosaves of editors, and what file managers leave.
func IsIgnored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		len(name) > 1 && strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") ||
		strings.EqualFold(name, "Thumbs.db") || strings.EqualFold(name, "desktop.ini")
}

// A folder is the state of one Read.
type folder struct {
	fsys       fs.FS
	progress   func(records int)
	maxRecords int
	memory     *Memory // may be nil
	now        string  // hours up to it have passed
	only       string  // the file whose links are checked; "" for all
	basis              // of the records

	catalogue catalog.Catalog
	batches   []*batch // in reading order
	images    map[string]*image
	hasProofs bool // there is a file of what was seen of prices
	proofs    []catalog.Proof
	settings  record // the links and pictures of catalogue.yaml

	obituaries map[string]*record // by slug, those with an hour
	problems   []Problem
	warnings   []Warning
}

func (f *folder) problem(file string, line int, code string, args ...any) {
	f.tell(file, line, problem.New(code, args...))
}

func (f *folder) tell(file string, line int, e error) {
	keep(&f.problems, Problem{file, line, problem.Of(e)})
}

func (f *folder) warn(file string, line int, code string, args ...any) {
	f.warnOf(file, line, problem.New(code, args...))
}

func (f *folder) warnOf(file string, line int, what error) {
	addWarning(&f.warnings, f.ignored, Warning{file, line, problem.Of(what)})
}

// read fills catalogue, basis and batches.
func (f *folder) read(ctx context.Context) error {
	entries, err := fs.ReadDir(f.fsys, ".")
	if err != nil {
		return problem.Wrap(err, "content-folder-unreadable", err)
	}
	found := map[string]bool{} // false: present, but of the wrong type
	for _, e := range entries {
		name := e.Name()
		mustBeFolder, known := expected(name)
		switch {
		case IsIgnored(name):
		case !known:
			f.checkStray(e)
		default:
			found[name] = f.checkType(name, e, mustBeFolder)
		}
	}
	if _, present := found[catalog.SettingsFile]; !present {
		f.problem(catalog.SettingsFile, 1, "file-missing")
	}
	if found[catalog.SettingsFile] {
		f.readCatalogue()
	}
	if found[imageFolder] {
		if err := f.listImages(); err != nil {
			return err
		}
	}
	f.hasProofs = found[catalog.ProofFile]
	return f.readRecords(ctx, found)
}

// expected reports whether the format has a top-level entry of this name.
func expected(name string) (mustBeFolder, known bool) {
	stem, isLines := strings.CutSuffix(name, ".jsonl")
	if catalog.KindIn(stem) != nil {
		return !isLines, true
	}
	if name == imageFolder {
		return true, true
	}
	return false, name == catalog.SettingsFile || name == catalog.ProofFile
}

// checkType reports whether an entry is a regular file, or a folder, and adds a
// problem if not. Nothing else is ever opened: reading a pipe would block.
func (f *folder) checkType(name string, e fs.DirEntry, wantFolder bool) bool {
	mode := e.Type()
	if mode&fs.ModeSymlink != 0 {
		info, err := fs.Stat(f.fsys, name)
		if err != nil {
			f.problem(name, 1, "broken-link")
			return false
		}
		mode = info.Mode().Type()
	}
	switch {
	case wantFolder && !mode.IsDir():
		f.problem(name, 1, "must-be-folder", path.Base(name))
		return false
	case !wantFolder && mode.IsDir():
		f.problem(name, 1, "folder-not-file")
		return false
	case !wantFolder && !mode.IsRegular():
		f.problem(name, 1, "irregular-file")
		return false
	}
	return true
}

// checkStray adds a problem for an entry that looks like content but would not be
// read.
func (f *folder) checkStray(e fs.DirEntry) {
	name := e.Name()
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	names := []string{"catalogue"}
	for _, k := range catalog.WrittenKinds {
		if k != catalog.PageKind { // the word has other uses
			names = append(names, k.Folder)
		}
	}
	near := nearest(stem, names)
	switch ext := strings.ToLower(path.Ext(name)); {
	case e.IsDir():
		if near == "" || near == "catalogue" {
			return
		}
		entries, err := fs.ReadDir(f.fsys, name)
		if err == nil && hasMarkdown(entries) {
			f.problem(name, 1, "similar-folder", near+"/")
		}
	case ext == ".jsonl" || ext == ".ndjson":
		f.problem(name, 1, "bulk-file-elsewhere")
	case near == "catalogue" && (ext == ".yaml" || ext == ".yml" || ext == ".json"):
		f.problem(name, 1, "similar-file", catalog.SettingsFile)
	case near != "" && near != "catalogue" && (ext == ".yaml" || ext == ".yml" || ext == ".json"):
		f.problem(name, 1, "similar-file", near+".jsonl")
	case ext == ".md" || ext == ".markdown":
		if e.Type().IsRegular() && f.hasFrontMatter(name) {
			f.problem(name, 1, "record-elsewhere")
		}
	}
}

func hasMarkdown(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return path.Ext(e.Name()) == ".md" })
}

// frontMatterStart is how many bytes tell that a file begins with front matter.
const frontMatterStart = 8

func (f *folder) hasFrontMatter(name string) bool {
	file, err := f.fsys.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, frontMatterStart)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(start[:n]), tree.ByteOrderMark), "\n")
	return strings.TrimRight(line, " \r") == "---"
}

// readCatalogue reads catalogue.yaml. If its categories cannot be read, those of
// the records are not checked.
func (f *folder) readCatalogue() {
	text, failure := readFile(f.fsys, catalog.SettingsFile)
	if failure != nil {
		f.tell(catalog.SettingsFile, 1, failure)
		return
	}
	d := decoder{file: catalog.SettingsFile, line: 1, problems: &f.problems, warnings: &f.warnings}
	if d.File, d.parsed = tree.ParseSettings(text, d.tell); d.parsed {
		f.catalogue, f.declared = d.catalogue()
		f.site, f.zone, f.ignored = f.catalogue.URL, f.catalogue.Zone(), d.ignored
		d.warnPictures()
		f.settings = record{
			file: d.file,
			references: &references{
				refs: d.pages, links: d.links, pictures: d.pictures, fieldPictures: d.fieldPictures,
			},
		}
	}
}

// readFile returns the text of a file of at most maxFile bytes, or a problem.
func readFile(fsys fs.FS, name string) (text string, failure error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", problem.New("file-unreadable", rootCause(err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, tree.MaxFile+1))
	switch {
	case err != nil:
		return "", problem.New("file-unreadable", rootCause(err))
	case len(data) > tree.MaxFile:
		return "", problem.New("file-too-large", tree.MaxFile)
	}
	return string(data), nil
}

// rootCause returns the text of err without the path, which the problem already
// has.
func rootCause(err error) problem.Text {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return problem.Foreign(err.Error())
}
