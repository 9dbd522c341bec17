package main

import (
	"fmt"
	"os"

	"palmares/internal/node"
)

type backupCommand struct {
	File string `arg:"" help:"File to write, which must not exist." type:"path"`
}

// Run writes a backup.
func (c *backupCommand) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		size, version, err := st.Backup(inv.ctx, c.File)
		if err != nil {
			return err
		}
		fmt.Fprintf(inv.stdout, "%s: version %d of the catalogue, %.1f MB, verified\n",
			c.File, version, float64(size)/1e6)
		key := keyFile(inv.database)
		if _, err := os.Stat(key); err == nil {
			fmt.Fprintf(inv.stdout, "keep %s in another place: it opens the secrets of webhooks\n", key)
		}
		return nil
	})
}
