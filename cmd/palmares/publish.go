package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/store"
)

type publishCommand struct {
	Dir             string `arg:"" help:"Content folder."`
	DryRun          bool   `help:"Only print what would change." env:"PALMARES_DRY_RUN"`
	AllowRemovals   bool   `help:"Allow tools to disappear without an entry in cimetiere/." env:"PALMARES_ALLOW_REMOVALS"`
	revisionOptions `embed:""`
	checkOptions    `embed:""`
}

// Run publishes a folder and prints what changed.
func (c *publishCommand) Run(inv *invocation) (err error) {
	out, rest := c.newFindings(inv, c.Dir, inv.stderr)
	known, err := c.knownPictures(inv)
	if err != nil {
		return err
	}
	read, err := c.read(inv, c.Dir, out, known)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	source, repository, err := c.source(inv.ctx, c.Dir)
	if err != nil {
		return err
	}
	next, now := read.Catalog, inv.now()
	if c.DryRun && isAbsent(inv.database) {
		// A dry run leaves nothing behind, not even an empty database.
		old := &catalog.Catalog{}
		catalog.CarryOver(old, next, catalog.Day(now))
		return c.report(rest, next, store.Publication{Diff: catalog.Compare(old, next, markdown.Sections), Version: 1})
	}
	return inv.withStore(func(st *store.Store) error {
		show := newProgress(inv.stderr)
		done, err := st.Catalogue.Publish(inv.ctx, next, store.PublishOptions{
			AllowRemovals: c.AllowRemovals,
			DryRun:        c.DryRun,
			Now:           now,
			Pictures:      read.Pictures,
			Source:        source,
			Guard:         c.guard(repository),
			Progress:      func(p store.Progress) { show.show(p.Stage, p.Done, p.Total) },
			Check: func(old *catalog.Catalog, diff *catalog.Diff) error {
				show.done()
				warnings := read.WarnUndated(diff.Undated(old, next, catalog.Day(now)))
				return errors.Join(out.print(nil, warnings), c.refuse(c.Dir, warnings))
			},
		})
		show.done()
		if err != nil {
			return err
		}
		return c.report(rest, next, done)
	})
}

// knownPictures returns which pictures need not be decoded, as they were published
// before.
func (c *publishCommand) knownPictures(inv *invocation) (known func(string) (catalog.Picture, bool), err error) {
	if _, err := os.Stat(filepath.Join(c.Dir, "images")); err != nil || isAbsent(inv.database) {
		return nil, nil // a broken folder is reported before the database is opened
	}
	err = inv.withStore(func(st *store.Store) error {
		known, err = st.Pictures.Known(inv.ctx)
		return err
	})
	return known, err
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
