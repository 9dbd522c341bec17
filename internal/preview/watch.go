package preview

import (
	"context"
	"fmt"
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
	defer p.drafts.Close()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("changes of the folder cannot be watched: %w", err)
	}
	defer w.Close()
	for ctx.Err() == nil {
		t, err := newTree(w, p.cfg.Dir) // before reading, so that no change is missed
		var again <-chan time.Time
		if err != nil {
			again = time.After(absence)
		}
		p.read(ctx)
		waitForChange(ctx, w, t, again)
	}
	return nil
}

// waitForChange returns when something changed and then nothing for a moment, or when it
// is time to look again.
func waitForChange(ctx context.Context, w *fsnotify.Watcher, t *tree, again <-chan time.Time) {
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
			if !t.isRelevant(e) {
				continue
			}
		case <-w.Errors: // changes were lost
		}
		settled = time.After(quiet)
		if late == nil {
			late = time.After(maxWait)
		}
	}
}
