package main

import (
	"palmares/internal/node"
)

type feedCommand struct {
	Renew feedRenewCommand `cmd:"" help:"Give the feed another name, after a backup was restored and before servers start: readers, which may have read what is no longer there, then start from the beginning."`
}

type feedRenewCommand struct{}

func (c *feedRenewCommand) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		id, err := st.Catalogue.RenewFeed(inv.ctx)
		return inv.result(err, "The feed is now %s. Servers that run keep the former name until the next "+
			"publication, or until they are restarted.\n", id)
	})
}
