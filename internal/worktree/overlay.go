package worktree

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// An overlay is a folder with other files over it.
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
		return &overFile{bytes.NewReader(data), overInfo{name: path.Base(name), size: int64(len(data))}}, nil
	}
	if o.dirs[name] != nil {
		entries, err := o.ReadDir(name)
		if err != nil {
			return nil, err
		}
		return &overDir{overFile{bytes.NewReader(nil), overInfo{name: path.Base(name), isDir: true}}, entries}, nil
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
		list = append(list, overEntry{overInfo{name: child, isDir: isDir}, o, path.Join(name, child)})
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// An overFile is an open file of an overlay.
type overFile struct {
	*bytes.Reader
	info overInfo
}

func (f *overFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *overFile) Close() error               { return nil }

// An overDir is an open folder in which an overlay has files.
type overDir struct {
	overFile
	rest []fs.DirEntry
}

// ReadDir returns the next n entries, or all.
func (d *overDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	list := d.rest[:n]
	d.rest = d.rest[n:]
	return list, nil
}

// An overInfo describes a file or a folder of an overlay.
type overInfo struct {
	name  string
	size  int64
	isDir bool
}

func (i overInfo) Name() string       { return i.name }
func (i overInfo) Size() int64        { return i.size }
func (i overInfo) ModTime() time.Time { return time.Time{} }
func (i overInfo) IsDir() bool        { return i.isDir }
func (i overInfo) Sys() any           { return nil }

func (i overInfo) Mode() fs.FileMode {
	if i.isDir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

func (i overInfo) Type() fs.FileMode { return i.Mode().Type() }

// An overEntry is an entry of a folder, of which the size is found out when it is asked for.
type overEntry struct {
	overInfo
	in   *overlay
	path string
}

func (e overEntry) Info() (fs.FileInfo, error) { return fs.Stat(e.in, e.path) }
