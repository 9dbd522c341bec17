package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/program"
	"palmares/internal/record"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/store"
)

// An indexFile keeps the search index of a large catalogue, so that a server that starts
// need not build it. Whatever is wrong with the file, the index is built instead.
type indexFile struct {
	path     string // "" for none
	database string // the SQLite file whose permissions the file gets; "" for none
	least    int    // tools
	delay    time.Duration
	log      *slog.Logger

	kept string // the identity of what the file has, as far as is known
}

func newIndexFile(database string, log *slog.Logger) *indexFile {
	// Less than a large catalogue is indexed in a second. A version that is soon followed by
	// another is not worth writing.
	f := &indexFile{path: indexPath(database), least: largeCatalogue, delay: time.Minute, log: log}
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		f.database = path
	}
	return f
}

// indexPath returns where the index of a database is kept: where only its owner can write.
func indexPath(database string) string {
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		return path + "-index"
	}
	dir, err := os.UserCacheDir()
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return filepath.Join(dir, "palmares-index")
}

// identity says of which version an index is, and which program made it; "" if it is not kept.
func (f *indexFile) identity(tools int, version int64, publishedAt string, feed *record.Feed) string {
	if f.path == "" || tools < f.least {
		return ""
	}
	running, err := program.Digest()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("palmares search index of version %d, published %s, with the state %s of the feed %s, by the program %s", version, publishedAt, feed.State, feed.ID, running)
}

// read returns the index of that identity, or nil.
func (f *indexFile) read(identity string, c *catalog.Catalog) *search.Index {
	if identity == "" {
		return nil
	}
	file, err := os.Open(f.path)
	if err != nil {
		f.report("be read", err)
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		f.report("be read", err)
		return nil
	}
	index, err := search.Read(file, info.Size(), identity, c)
	if err != nil {
		f.report("be read", err)
		return nil
	}
	f.kept = identity
	return index
}

// make writes the index of what is published, unless the file has it. It reads the tools one
// by one, with less memory than a server needs.
func (f *indexFile) make(ctx context.Context, from *store.Catalogue, show func(done, total int)) error {
	p, tools, err := from.Outline(ctx)
	if err != nil {
		return err
	}
	identity := f.identity(tools, p.Version, p.PublishedAt, p.Feed)
	if identity == "" || f.has(identity) {
		return nil
	}
	var done atomic.Int64
	add := func(to *search.Part) func(*catalog.Tool) {
		return func(t *catalog.Tool) {
			to.Add(t)
			show(int(done.Add(1)), tools)
		}
	}
	first, second := search.NewPart(p.Catalog), search.NewPart(p.Catalog)
	if err := from.EachSearched(ctx, p, add(first), add(second)); err != nil {
		return err
	}
	return f.write(ctx, identity, search.Join(p.Catalog, first, second), func() error {
		now, tools, err := from.Outline(ctx)
		if err == nil && f.identity(tools, now.Version, now.PublishedAt, now.Feed) != identity {
			err = store.ErrSuperseded
		}
		return err
	})
}

// has reports whether the file has the index of that identity.
func (f *indexFile) has(identity string) bool {
	file, err := os.Open(f.path)
	if err != nil {
		return false
	}
	defer file.Close()
	return search.IsOf(file, identity)
}

// run writes the index of every version that is served for a while, until ctx ends.
func (f *indexFile) run(ctx context.Context, live *snapshot.Live) error {
	for {
		s, replaced := live.Watch()
		if identity := f.identity(len(s.Catalog.Tools), s.Version, s.PublishedAt, s.Feed()); s.Version > 0 && identity != "" && identity != f.kept {
			select {
			case <-ctx.Done():
				return nil
			case <-replaced:
				continue
			case <-time.After(f.delay):
			}
			if err := f.write(ctx, identity, s.Index, func() error { return nil }); err != nil && ctx.Err() == nil {
				f.report("be written", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-replaced:
		}
	}
}

// unfinished is what the name of the file is followed by, and then by digits, while it is
// written.
const unfinished = ".new-"

// write writes the index, unless check, which is called at the end, returns an error.
func (f *indexFile) write(ctx context.Context, identity string, index *search.Index, check func() error) error {
	file, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+unfinished+"*")
	if err != nil {
		return err
	}
	err = index.Write(untilDone{ctx, file}, identity)
	if info, missing := os.Stat(f.database); err == nil && missing == nil {
		err = file.Chmod(info.Mode() & 0o666)
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = check()
	}
	if err == nil {
		err = os.Rename(file.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	f.kept = identity
	f.tidy()
	return nil
}

// tidy removes what killed processes left behind: other processes may be writing, but not for
// an hour. What cannot be removed stays for the next time.
func (f *indexFile) tidy() {
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(f.path)+unfinished) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(filepath.Dir(f.path), e.Name()))
		}
	}
}

// report logs what is wrong with the file. That there is none, or that of another version, is
// not.
func (f *indexFile) report(what string, err error) {
	if !errors.Is(err, search.ErrOther) && !errors.Is(err, fs.ErrNotExist) {
		f.log.Warn("the search index cannot "+what+": the next start takes longer", "file", f.path, "error", err)
	}
}

// untilDone is a writer that fails once a context has ended.
type untilDone struct {
	ctx context.Context
	to  io.Writer
}

func (w untilDone) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(b)
}
