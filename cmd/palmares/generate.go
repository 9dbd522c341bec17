package main

import (
	"palmares/internal/content"
	"palmares/internal/publication"
	"palmares/internal/synthetic"
)

type generateCommand struct {
	Dir string `arg:"" help:"Folder to write; it must not exist or be empty."`
	// Tools leave room for comparisons and retired tools in the two million records that a folder may have.
	Tools    int    `help:"Number of tools." default:"1000" type:"number" what:"a number of tools" range:"0-1500000"`
	Seed     uint64 `help:"Seed; the same seed produces the same bytes." default:"1" type:"number" what:"a seed" range:"0-18446744073709551615"`
	Markdown bool   `help:"Write one Markdown file per record instead of JSON lines."`
}

func (c *generateCommand) Run(inv *invocation) error {
	made := synthetic.Catalog(c.Tools, c.Seed)
	format := content.JSONL
	if c.Markdown {
		format = content.Markdown
	}
	show := newProgress(inv)
	err := content.Write(inv.ctx, c.Dir, made, content.WriteOptions{
		Format: format, Progress: func(n int) { show.show("writing", n, 0) },
	})
	show.done()
	return inv.result(err, "%s: %s\n", c.Dir, publication.Counts(made))
}
