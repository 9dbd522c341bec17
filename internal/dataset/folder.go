package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"palmares/internal/osfile"
	"palmares/internal/snapshot"
)

// Available is how many versions can be downloaded: the served one and those before it.
const Available = 3

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
type folder struct {
	dir   string
	limit int64 // bytes of everything in it
}

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
	if err := errors.Join(f.removeUnfinished(), os.RemoveAll(filepath.Join(f.dir, name))); err != nil { // or damaged
		return nil, err
	}
	kept, err := f.keep(s)
	if err != nil {
		return nil, err
	}
	for {
		r := &room{limit: f.limit, kept: kept}
		x, err := f.write(ctx, s, name, r)
		if !errors.Is(err, ErrNoRoom) || len(r.kept) <= 1 {
			return x, err
		}
		// The disk is full. One export stays: it may be something else that fills it.
		if err := os.RemoveAll(r.kept[0].dir); err != nil {
			return nil, err
		}
		kept = r.kept[1:]
	}
}

// write writes an export into a new folder and names it when it is complete. The name may
// be lost if the power is, and the export with it: it is then written again.
func (f *folder) write(ctx context.Context, s *snapshot.Snapshot, name string, r *room) (x *Export, err error) {
	dir, err := os.MkdirTemp(f.dir, unfinished)
	if err != nil {
		return nil, noRoom(err)
	}
	defer func() {
		if err != nil {
			err = noRoom(errors.Join(err, os.RemoveAll(dir)))
		}
	}()
	w := writer{ctx: ctx, snap: s, dir: dir, name: name, room: r}
	x, err = w.write()
	if err != nil {
		return nil, err
	}
	x.dir = filepath.Join(f.dir, name)
	return x, os.Rename(dir, x.dir)
}

// noRoom returns ErrNoRoom if the disk is full.
func noRoom(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return ErrNoRoom
	}
	return err
}

// keep removes the exports of the same catalogue that are no longer available, and
// returns the others, which stay as long as there is room. Those of other catalogues have the version
// foreign.
func (f *folder) keep(s *snapshot.Snapshot) (kept []*Export, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if _, ok := Version(e.Name()); !ok {
			continue
		}
		x := f.load(e.Name())
		if x == nil || x.Feed == s.Feed.ID && !x.isAvailable(s) {
			if err := os.RemoveAll(filepath.Join(f.dir, e.Name())); err != nil {
				return nil, err
			}
			continue
		}
		if x.Feed != s.Feed.ID {
			x.Version = foreign
		}
		kept = append(kept, x)
	}
	slices.SortFunc(kept, func(a, b *Export) int { return cmp.Compare(a.Version, b.Version) })
	return kept, nil
}

// isAvailable reports whether the export may be downloaded while a snapshot is served: it
// is of the same catalogue, one of its last versions, and has no texts that the publisher
// has since decided to keep.
func (x *Export) isAvailable(s *snapshot.Snapshot) bool {
	return x.Feed == s.Feed.ID && x.Version <= s.Version && x.Version > s.Version-Available &&
		(x.File(ChunksFile) == nil || !isHeads(s.Catalog))
}

const foreign = -1 // older than any version

// A room is what an export may take: the limit of the folder, from which older exports
// are removed, the oldest first.
type room struct {
	limit int64
	used  int64
	kept  []*Export
}

// take takes bytes. ErrNoRoom: there are too few, even without any other export.
func (r *room) take(n int64) error {
	r.used += n
	total := r.used
	for _, x := range r.kept {
		total += x.size()
	}
	for ; total > r.limit && len(r.kept) > 0; r.kept = r.kept[1:] {
		if err := os.RemoveAll(r.kept[0].dir); err != nil {
			return err
		}
		total -= r.kept[0].size()
	}
	if total > r.limit {
		return ErrNoRoom
	}
	return nil
}
