package main

import (
	"palmares/internal/node"
	"palmares/internal/vault"
)

type readerCommand struct {
	Remove readerRemove `cmd:"" help:"End what an address follows, and erase it from reports and from mails that wait to be confirmed."`
}

type readerRemove struct {
	Address   string `arg:"" help:"E-mail address of the reader."`
	SecretKey string `help:"The key that seals addresses (default: the file beside a SQLite database)." env:"PALMARES_SECRET_KEY" placeholder:"KEY"`
}

func (c *readerRemove) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		sealer, err := vault.KeySource{Given: c.SecretKey, File: keyFile(inv.database)}.Open(inv.ctx, st.Secrets())
		if err != nil {
			return err
		}
		n, err := st.Follows.Sealed(sealer).Remove(inv.ctx, c.Address)
		return inv.result(err, "%s is removed from %d follows and reports\n", c.Address, n)
	})
}
