package preview

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"palmares/internal/content"
)

const (
	// quiet is how long nothing must change before the folder is read: editors save in
	// several steps, and git changes many files.
	quiet = 40 * time.Millisecond
	// patience bounds the wait for quiet.
	patience = 400 * time.Millisecond
	// absence is how often to look for a folder that has vanished.
	absence = time.Second
)

// Run reads the folder now and after every change, until ctx is done.
func (p *Preview) Run(ctx context.Context) error {
	defer p.spools.close()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("changes of the folder cannot be watched: %w", err)
	}
	defer w.Close()
	for ctx.Err() == nil {
		again := p.watch(w) // before reading, so that no change is missed
		p.read(ctx)
		waitForChange(ctx, w, again)
	}
	return nil
}

// watch watches the folder and the folders in it. If there is none, it returns when to
// try again.
func (p *Preview) watch(w *fsnotify.Watcher) <-chan time.Time {
	if err := w.Add(p.cfg.Dir); err != nil {
		return time.After(absence)
	}
	for _, name := range content.Folders() {
		// A folder that is missing or cannot be read is the business of content.Read.
		_ = filepath.WalkDir(filepath.Join(p.cfg.Dir, name), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = w.Add(path)
			}
			return err
		})
	}
	return nil
}

// waitForChange returns when something changed and then nothing for a moment.
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
		case e := <-w.Events:
			if !isRelevant(e) {
				continue
			}
		case <-w.Errors: // changes were lost
		}
		settled = time.After(quiet)
		if late == nil {
			late = time.After(patience)
		}
	}
}

// isRelevant reports whether an event may concern what content.Read reads.
func isRelevant(e fsnotify.Event) bool {
	return e.Op != fsnotify.Chmod && !strings.HasPrefix(filepath.Base(e.Name), ".")
}
