package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/store"
)

type publishCommand struct {
	Dir           string `arg:"" help:"The content folder."`
	DryRun        bool   `help:"Only print what would change." env:"PALMARES_DRY_RUN"`
	AllowRemovals bool   `help:"Let tools disappear without an entry in cimetiere/." env:"PALMARES_ALLOW_REMOVALS"`
}

// Run publishes a folder and says what changed.
func (c *publishCommand) Run(s *session) error {
	next, err := readFolder(s, c.Dir, s.stderr)
	if err != nil {
		return err
	}
	if c.DryRun && isAbsent(s.database) {
		// A dry run leaves nothing behind, not even an empty database.
		old := &catalog.Catalog{}
		catalog.CarryOver(old, next, catalog.Day(s.now()))
		return c.report(s, next, store.Publication{Diff: catalog.Compare(old, next, markdown.Sections), Version: 1})
	}
	return s.withStore(func(st *store.Store) error {
		show := newProgress(s.stderr)
		done, err := st.Catalogue.Publish(s.ctx, next, store.PublishOptions{
			AllowRemovals: c.AllowRemovals,
			DryRun:        c.DryRun,
			Now:           s.now(),
			Progress:      func(p store.Progress) { show.show(p.Stage, p.Done, p.Total) },
		})
		show.done()
		if err != nil {
			return err
		}
		return c.report(s, next, done)
	})
}

// isAbsent tells whether a database is a file that does not exist yet.
func isAbsent(database string) bool {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || path == "" {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
