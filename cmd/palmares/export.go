package main

import (
	"errors"
	"fmt"

	"palmares/internal/content"
	"palmares/internal/store"
)

type exportCommand struct {
	Dir   string `arg:"" help:"The folder to write; it must be absent or empty."`
	JSONL bool   `name:"jsonl" help:"Write the records in bulk as JSON lines instead of one Markdown file each." env:"PALMARES_JSONL"`
}

// Run writes the published catalogue as a content folder.
func (c *exportCommand) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		published, err := st.Catalogue.Load(s.ctx)
		if err != nil {
			return err
		}
		if published.Version == 0 {
			return errors.New("nothing has been published in this database: there is nothing to export")
		}
		format := content.Markdown
		if c.JSONL {
			format = content.JSONL
		}
		show := newProgress(s.stderr)
		err = content.Write(s.ctx, c.Dir, published.Catalog, format, func(n int) { show.show("writing", n, 0) })
		show.done()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.stdout, "%s: version %d, %s\n", c.Dir, published.Version, counts(published.Catalog))
		return err
	})
}
