package preview

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"

	"palmares/internal/content"
)

// A tree is the set of folders whose entries decide what content.Read reads: those it
// reads and, as it follows links within the content folder, those on the way of links.
// All paths are without links, so that each folder has one.
type tree struct {
	watcher *fsnotify.Watcher
	base    string          // the content folder
	folders map[string]bool // base and below
	targets map[string]bool // where links lead to
}

// newTree watches the folders of the content folder dir, and no others.
func newTree(w *fsnotify.Watcher, dir string) (*tree, error) {
	t := &tree{watcher: w, folders: map[string]bool{}, targets: map[string]bool{}}
	base, err := filepath.Abs(dir)
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err == nil {
		err = w.Add(base)
	}
	if err != nil {
		return t, err
	}
	t.base = base
	t.list(base)
	for _, name := range content.Folders() {
		// What is missing or cannot be read is the business of content.Read.
		if top, err := filepath.EvalSymlinks(filepath.Join(base, name)); err == nil && t.contains(top) {
			_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
				switch {
				case err != nil || !e.IsDir():
				case path != top && content.IsIgnored(e.Name()):
					return fs.SkipDir
				default:
					t.list(path)
				}
				return nil
			})
		}
	}
	for _, watched := range w.WatchList() {
		if !t.folders[watched] {
			_ = w.Remove(watched) // fails if it is gone
		}
	}
	return t, nil
}

// contains reports whether a path without links is in the content folder.
func (t *tree) contains(path string) bool {
	return path == t.base ||
		strings.HasPrefix(path, strings.TrimSuffix(t.base, string(filepath.Separator))+string(filepath.Separator))
}

// add watches a folder, before anything in it is looked at, so that no change is missed.
func (t *tree) add(dir string) {
	if !t.folders[dir] {
		t.folders[dir] = true
		_ = t.watcher.Add(dir) // as in newTree
	}
}

// list adds a folder and follows the links in it.
func (t *tree) list(dir string) {
	t.add(dir)
	entries, _ := os.ReadDir(dir) // as in newTree
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && !content.IsIgnored(e.Name()) {
			t.follow(filepath.Join(dir, e.Name()))
		}
	}
}

// maxLinks is how many links may follow each other, as on most systems: links may form
// a circle.
const maxLinks = 40

// follow adds the folders on the way from a link to the file or folder it leads to.
func (t *tree) follow(link string) {
	for range maxLinks {
		target, err := os.Readlink(link)
		if err != nil {
			return // the end of the way
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		for dir := target; t.contains(dir) && dir != t.base; dir = filepath.Dir(dir) {
			t.targets[dir] = true
			if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil && t.contains(parent) {
				t.add(parent)
				t.targets[filepath.Join(parent, filepath.Base(dir))] = true
			}
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(target))
		if err != nil {
			return // it leads to nothing yet
		}
		link = filepath.Join(parent, filepath.Base(target))
	}
}

// isRelevant reports whether an event may concern what content.Read reads.
func (t *tree) isRelevant(e fsnotify.Event) bool {
	return e.Op != fsnotify.Chmod && (t.targets[e.Name] || !content.IsIgnored(filepath.Base(e.Name)))
}
