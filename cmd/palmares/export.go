package main

import (
	"errors"

	"palmares/internal/content"
	"palmares/internal/node"
	"palmares/internal/publication"
)

type exportCommand struct {
	Dir   string `arg:"" help:"Folder to write; it must not exist or be empty."`
	JSONL bool   `name:"jsonl" help:"Write the records in bulk as JSON lines instead of one Markdown file each."`
}

func (c *exportCommand) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		published, err := st.Catalogue.LoadAll(inv.ctx)
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
		show := newProgress(inv)
		err = content.Write(inv.ctx, c.Dir, published.Catalog, content.WriteOptions{
			Format: format, Pictures: st.Pictures, Progress: func(n int) { show.show("writing", n, 0) },
		})
		show.done()
		return inv.result(err, "%s: version %d, %s\n", c.Dir, published.Version, publication.Counts(published.Catalog))
	})
}
