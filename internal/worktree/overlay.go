package worktree

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// An overlay is a folder with other files over it. The sizes in its lists are not known.
type overlay struct {
	under fs.FS
	files map[string]func() ([]byte, error) // nil hides a file, or a folder with all that is under it
	dirs  map[string]map[string]bool        // the names in the folders of files, and whether they are folders
}

func newOverlay(under fs.FS) *overlay {
	return &overlay{under, map[string]func() ([]byte, error){}, map[string]map[string]bool{}}
}

func (o *overlay) hide(name string) { o.files[name] = nil }

func (o *overlay) put(name string, load func() ([]byte, error)) {
	o.files[name] = load
	for isDir := false; name != "."; isDir = true {
		dir := path.Dir(name)
		if o.dirs[dir] == nil {
			o.dirs[dir] = map[string]bool{}
		}
		o.dirs[dir][path.Base(name)] = isDir
		name = dir
	}
}

// hides reports whether what is under the overlay by that name is not seen.
func (o *overlay) hides(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if _, found := o.files[name]; found {
			return true
		}
	}
	return false
}

// Open opens a file.
func (o *overlay) Open(name string) (fs.File, error) {
	fail := func(err error) (fs.File, error) { return nil, &fs.PathError{Op: "open", Path: name, Err: err} }
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	if load := o.files[name]; load != nil {
		data, err := load()
		if err != nil {
			return fail(err)
		}
		return &overFile{bytes.NewReader(data), path.Base(name), false}, nil
	}
	if o.dirs[name] != nil {
		return &overFile{bytes.NewReader(nil), path.Base(name), true}, nil
	}
	if o.hides(name) {
		return fail(fs.ErrNotExist)
	}
	return o.under.Open(name)
}

// ReadDir lists a folder.
func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	var list []fs.DirEntry
	err := error(&fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist})
	if !o.hides(name) {
		list, err = fs.ReadDir(o.under, name)
	}
	over := o.dirs[name]
	if err != nil && over == nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		_, isOver := over[e.Name()]
		_, isHidden := o.files[path.Join(name, e.Name())]
		return isOver || isHidden
	})
	for child, isDir := range over {
		list = append(list, fs.FileInfoToDirEntry(&overFile{bytes.NewReader(nil), child, isDir}))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// An overFile is a file or a folder of an overlay: it is open, and describes itself.
type overFile struct {
	*bytes.Reader // which has the size
	name          string
	isDir         bool
}

func (f *overFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *overFile) Close() error               { return nil }
func (f *overFile) Name() string               { return f.name }
func (f *overFile) ModTime() time.Time         { return time.Time{} }
func (f *overFile) IsDir() bool                { return f.isDir }
func (f *overFile) Sys() any                   { return nil }

func (f *overFile) Mode() fs.FileMode {
	if f.isDir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
