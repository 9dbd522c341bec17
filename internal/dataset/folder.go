package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"palmares/internal/osfile"
	"palmares/internal/snapshot"
)

// The names in a folder that are not those of exports.
const (
	lockName       = "lock"
	unfinished     = "building-" // a prefix
	manifestFile   = "manifest.json"
	lockedInterval = 100 * time.Millisecond
)

// A folder holds exports. Each is a folder of its own, which gets its name when all its
// files are on the disk. Several processes may share a folder: exports of one name are
// the same, and who writes or removes one holds a lock.
type folder struct{ dir string }

// prepare creates the folder if needed, or returns why it must not be used.
func (f *folder) prepare() error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return f.check()
}

// check returns why the folder must not be used: what is in it is served.
func (f *folder) check() error {
	info, err := os.Lstat(f.dir)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() == os.ModeSymlink:
		return fmt.Errorf("%s is a link, and whoever made it decides what is served: "+
			"remove it, or give the folder itself as --export-dir", f.dir)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: remove it, or choose another --export-dir", f.dir)
	case !osfile.IsOurs(info):
		return fmt.Errorf("%s belongs to another user, who decides what is served: "+
			"choose another --export-dir, or run chown on it", f.dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("other users may write to %s, and so decide what is served: run chmod go-w on it", f.dir)
	}
	return nil
}

// load returns the export of a name; nil if there is none, or none that is complete.
func (f *folder) load(name string) *Export {
	if f.check() != nil {
		return nil
	}
	dir := filepath.Join(f.dir, name)
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return nil
	}
	x := &Export{JSON: b, dir: dir}
	if err := json.Unmarshal(b, &x.Manifest); err != nil {
		return nil
	}
	for _, file := range x.Files {
		if info, err := os.Stat(filepath.Join(dir, file.Name())); err != nil || info.Size() != file.Bytes {
			return nil
		}
	}
	return x
}

// lock waits until no other process writes to the folder, which it creates if needed.
func (f *folder) lock(ctx context.Context) (unlock func(), err error) {
	if err := f.prepare(); err != nil {
		return nil, err
	}
	for {
		file, ok, err := osfile.Lock(filepath.Join(f.dir, lockName))
		if err != nil {
			return nil, err
		}
		if ok {
			return func() { _ = file.Close() }, nil // nothing was written to it
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockedInterval):
		}
	}
}

// clean removes what killed processes have left, unless another process is writing. It
// does nothing if there is no folder.
func (f *folder) clean() error {
	if err := f.check(); err != nil {
		return nil // whoever needs the folder is told
	}
	file, ok, err := osfile.Lock(filepath.Join(f.dir, lockName))
	if err != nil || !ok {
		return err
	}
	defer file.Close()
	return f.removeUnfinished()
}

// removeUnfinished needs the lock.
func (f *folder) removeUnfinished() error {
	entries, err := os.ReadDir(f.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, e.Name())))
		}
	}
	return err
}

// build writes the export of a snapshot, unless it is there, and returns it.
func (f *folder) build(ctx context.Context, s *snapshot.Snapshot, name string) (*Export, error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if x := f.load(name); x != nil { // by another process
		return x, nil
	}
	if err := errors.Join(f.removeUnfinished(), f.removeOthers(s)); err != nil {
		return nil, err
	}
	return f.write(ctx, s, name)
}

// write writes an export into a new folder and names it when it is complete. The name may
// be lost if the power is, and the export with it: it is then written again.
func (f *folder) write(ctx context.Context, s *snapshot.Snapshot, name string) (x *Export, err error) {
	dir, err := os.MkdirTemp(f.dir, unfinished)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	w := writer{ctx: ctx, snap: s, dir: dir, name: name}
	x, err = w.write()
	if err != nil {
		return nil, err
	}
	x.dir = filepath.Join(f.dir, name)
	return x, os.Rename(dir, x.dir)
}

// removeOthers removes the exports that are damaged or not available. It needs the lock.
func (f *folder) removeOthers(s *snapshot.Snapshot) error {
	entries, err := os.ReadDir(f.dir)
	for _, e := range entries {
		if _, ok := Version(e.Name()); !ok {
			continue
		}
		if x := f.load(e.Name()); x == nil || !x.isAvailable(s) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, e.Name())))
		}
	}
	return err
}

// isAvailable reports whether the export may be downloaded while a snapshot is served: it
// is of the same catalogue, of the served version or of the one before, and has no texts that the
// publisher has since decided to keep.
func (x *Export) isAvailable(s *snapshot.Snapshot) bool {
	return x.Feed == s.Feed.ID && x.Version <= s.Version && x.Version >= s.Version-1 &&
		(x.File(ChunksFile) == nil || !isHeads(s.Catalog))
}
