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
	Dir           string `arg:"" help:"Content folder."`
	DryRun        bool   `help:"Only print what would change." env:"PALMARES_DRY_RUN"`
	AllowRemovals bool   `help:"Allow tools to disappear without an entry in cimetiere/." env:"PALMARES_ALLOW_REMOVALS"`
}

// Run publishes a folder and prints what changed.
func (c *publishCommand) Run(inv *invocation) (err error) {
	read, err := readFolder(inv, c.Dir, inv.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	next := read.Catalog
	if c.DryRun && isAbsent(inv.database) {
		// A dry run leaves nothing behind, not even an empty database.
		old := &catalog.Catalog{}
		catalog.CarryOver(old, next, catalog.Day(inv.now()))
		return c.report(inv, next, store.Publication{Diff: catalog.Compare(old, next, markdown.Sections), Version: 1})
	}
	return inv.withStore(func(st *store.Store) error {
		show := newProgress(inv.stderr)
		done, err := st.Catalogue.Publish(inv.ctx, next, store.PublishOptions{
			AllowRemovals: c.AllowRemovals,
			DryRun:        c.DryRun,
			Now:           inv.now(),
			Progress:      func(p store.Progress) { show.show(p.Stage, p.Done, p.Total) },
		})
		show.done()
		if err != nil {
			return err
		}
		return c.report(inv, next, done)
	})
}

// isAbsent reports whether a database is a file that does not exist yet.
func isAbsent(database string) bool {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || path == "" {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
