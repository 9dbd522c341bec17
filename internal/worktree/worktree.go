// Package worktree is the content folder behind the desk: it writes what people publish in a
// browser into the folder, into the git repository around it, if there is one, and into the
// database.
//
// Nothing is written before everything is known to be possible. In a repository, what is to be
// published is first a commit that nothing refers to, made beside the work tree: on HEAD, on the
// upstream if that moved on, or on both, which it joins. It is validated and compared with what is
// published; then it is noted in a journal, pushed, published, and at last written to the work
// tree, where files that others are editing stay as they are. A process that is killed in between
// finishes when it opens the folder again, or has changed nothing. Published commits are never
// rebased: later versions must contain them (publication.Revision).
//
// Outside git, the journal holds the files themselves. What takes a version back is a publication,
// too: the journal names the version, and undoing it twice does what undoing it once does.
package worktree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/osfile"
)

// A Config says which folder is opened, and where it is published.
type Config struct {
	Dir      string
	Store    *catalogdb.Store
	Now      func() time.Time
	Log      *slog.Logger
	Patience time.Duration // with the upstream; 0 for 30 seconds
}

// A Folder is a content folder that is written to. It may be used concurrently, and by several
// processes.
type Folder struct {
	cfg     Config
	root    *os.Root
	repo    *repository // nil outside git
	private string      // a folder for the journal
	temp    string      // a folder in that, which every writer empties first

	mu    sync.Mutex   // one writer at a time; between processes, the lock in private
	files sync.RWMutex // they are being written
}

// Open opens a folder. Its errors are for operators. Call Recover before anything else.
func Open(ctx context.Context, cfg Config) (*Folder, error) {
	root, err := content.Open(cfg.Dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{cfg: cfg, root: root, private: filepath.Join(cfg.Dir, ".palmares")}
	f.repo, err = openRepository(ctx, cfg.Dir, cmp.Or(cfg.Patience, 30*time.Second))
	if f.repo != nil {
		f.private = filepath.Join(f.repo.gitDir, "palmares")
	}
	f.temp = filepath.Join(f.private, "temp")
	if err == nil {
		err = cmp.Or(tryWrite(cfg.Dir), os.MkdirAll(f.temp, 0o700), tryWrite(f.temp))
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// tryWrite returns an error if no file can be made in a folder.
func tryWrite(dir string) error {
	if err := osfile.TryWrite(dir, 1); err != nil {
		return fmt.Errorf("nothing can be written in %s (%w): it must belong to the user that runs palmares and, "+
			"under systemd, be in ReadWritePaths= of the unit", dir, err)
	}
	return nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Read returns a file of the folder as it is now; an error that is fs.ErrNotExist if there is none.
func (f *Folder) Read(path string) ([]byte, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	f.files.RLock()
	defer f.files.RUnlock()
	return f.root.ReadFile(filepath.FromSlash(path))
}

// With returns the folder as it is now with changes over it, for content.ReadFS.
func (f *Folder) With(changes []Change) fs.FS {
	o := newOverlay(f.root.FS())
	for _, c := range changes {
		if c.Data == nil {
			o.hide(c.Path)
		} else {
			o.put(c.Path, func() ([]byte, error) { return c.Data, nil })
		}
	}
	return o
}

// A Change is one file of a publication.
type Change struct {
	Path string // in the folder, with forward slashes
	Data []byte // nil removes the file
	Base string // Hash of the file that it replaces; "" if there is none
}

// Hash returns the hash of a file by which a Change names it; "" of nil, which stands for no file.
func Hash(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// CheckPath refuses paths that are neither records nor pictures: a change must not write what git or a shell runs.
func CheckPath(path string) error {
	first, file, isInFolder := strings.Cut(path, "/")
	isRecord := strings.HasSuffix(file, ".md") && !strings.Contains(file, "/")
	isContent := path == "catalogue.yaml" || isInFolder && slices.Contains(content.Folders(), first) && (isRecord || first == "images")
	if !isContent || !fs.ValidPath(path) || strings.ContainsAny(path, "\\\n\x00") ||
		slices.ContainsFunc(strings.Split(path, "/"), content.IsIgnored) {
		return &Error{text: "Ce nom de fichier n’est pas possible\u00a0: " + path + "."}
	}
	return nil
}

// checkBases returns a ConflictError for files that are no longer what the changes replace.
func checkBases(changes []Change, read func(path string) ([]byte, error)) error {
	conflict := ConflictError{Files: map[string][]byte{}}
	for _, c := range changes {
		data, err := read(c.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		now := Hash(data)
		if now == c.Base || now == Hash(c.Data) {
			continue
		}
		conflict.Paths = append(conflict.Paths, c.Path)
		if data != nil {
			conflict.Files[c.Path] = data
		}
	}
	if conflict.Paths != nil {
		return &conflict
	}
	return nil
}

// lock makes this process the only one that writes, and finishes what was begun. The result
// unlocks.
func (f *Folder) lock(ctx context.Context) (unlock func(), err error) {
	f.mu.Lock()
	file, isOurs, err := osfile.Lock(filepath.Join(f.private, "lock"))
	for end := time.Now().Add(lockWait); err == nil && !isOurs && time.Now().Before(end) && ctx.Err() == nil; {
		select { // what a killed process started may live a moment longer
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
		file, isOurs, err = osfile.Lock(filepath.Join(f.private, "lock"))
	}
	unlock = func() {
		if file != nil {
			_ = file.Close() // nothing was written
		}
		f.mu.Unlock()
	}
	if err == nil && !isOurs {
		err = &Error{text: "Une autre publication est en cours\u00a0: réessayez dans un instant."}
	}
	if err == nil {
		err = f.recover(ctx)
	}
	if err != nil {
		unlock()
		return nil, explain(err)
	}
	return unlock, nil
}

// Recover finishes what a process that was killed had begun. An error means that it has to be
// called again.
func (f *Folder) Recover(ctx context.Context) error {
	unlock, err := f.lock(ctx)
	if err == nil {
		unlock()
	}
	return err
}

// Run sends what is not sent, and brings what colleagues did into the folder, every minute until ctx
// ends.
func (f *Folder) Run(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for said := ""; ; {
		text := ""
		if err := f.Send(ctx); err != nil && ctx.Err() == nil {
			text = fmt.Sprint(err, " (", errors.Unwrap(err), ")")
		}
		if text != "" && text != said {
			f.cfg.Log.Warn("the desk's folder could not be joined with its upstream; it is tried again every minute", "error", text)
		}
		said = text
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
