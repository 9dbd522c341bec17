package preview

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing must change before the folder is read: editors save in
	// several steps, and git changes many files.
	quiet = 40 * time.Millisecond
	// maxWait bounds the wait for quiet.
	maxWait = 400 * time.Millisecond
	// absence is how often to look for a folder that has vanished.
	absence = time.Second
)

// Run reads the folder now and after every change, until ctx is done.
func (p *Preview) Run(ctx context.Context) error {
	defer p.editions.Close()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("changes of the folder cannot be watched: %w", err)
	}
	defer w.Close()
	for ctx.Err() == nil {
		var again <-chan time.Time
		if watch(w, p.cfg.Dir) != nil { // before reading, so that no change is missed
			again = time.After(absence)
		}
		p.read(ctx)
		waitForChange(ctx, w, again)
	}
	return nil
}

// watch watches all folders in a content folder: a link in it may lead to any of them.
func watch(w *fsnotify.Watcher, dir string) error {
	base, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = w.Add(base)
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir(): // what is missing or cannot be read is the business of content.Read
		case e.Name() == ".git" || e.Name() == "node_modules":
			return fs.SkipDir
		default:
			_ = w.Add(path) // as above
		}
		return nil
	})
}

// waitForChange returns when something changed and then nothing for a moment, or when it
// is time to look again.
func waitForChange(ctx context.Context, w *fsnotify.Watcher, again <-chan time.Time) {
	var settled, late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
			return
		case <-settled:
			return
		case <-late:
			return
		case <-w.Events:
		case <-w.Errors: // changes were lost
		}
		settled = time.After(quiet)
		if late == nil {
			late = time.After(maxWait)
		}
	}
}
