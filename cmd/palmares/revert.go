package main

import (
	"os"

	"palmares/internal/node"
	"palmares/internal/publication"
	"palmares/internal/remote"
)

type revertCommand struct {
	Version int64   `arg:"" help:"Version to undo, as in palmares log."`
	DryRun  bool    `help:"Only print what would change."`
	Force   bool    `help:"Take back records that were changed since, too."`
	Server  baseURL `help:"Undo it on this server, with the token in PALMARES_TOKEN, instead of in the database." placeholder:"URL"`

	languageOption `embed:""`
}

// Run makes a version without what another one changed, and prints what that changes.
func (c *revertCommand) Run(inv *invocation) error {
	node.LimitGarbage()
	c.speak(inv)
	out := (&checkOptions{Format: "text"}).newPrinter(inv, ".", inv.stderr)
	defer out.progress.done()
	undo := &publication.Undo{Version: c.Version, Force: c.Force, DryRun: c.DryRun, Now: inv.now, Sink: out}
	if c.Server != "" {
		client, err := remote.NewClient(string(c.Server), os.Getenv("PALMARES_TOKEN"))
		if err != nil {
			return err
		}
		defer client.Close()
		client.Language = inv.language
		return client.Revert(inv.ctx, undo)
	}
	return inv.withExisting(func(st *node.Database) error {
		_, err := undo.Run(inv.ctx, st.Catalogue)
		return err
	})
}
