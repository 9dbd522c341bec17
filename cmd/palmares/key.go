package main

import (
	"palmares/internal/account"
	"palmares/internal/node"
)

type keyCommand struct {
	Create keyCreate `cmd:"" help:"Create a key and print it, once."`
	List   keyList   `cmd:"" help:"List the keys of an account."`
	Revoke keyRevoke `cmd:"" help:"Revoke a key."`
}

type keyCreate struct {
	Email string `arg:"" help:"E-mail address of the account's owner."`
	Name  string `help:"What the key is for." required:"" env:"PALMARES_NAME"`
}

// Run creates a key, and prints nothing else on stdout, so that a script can store it.
func (c *keyCreate) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		key, _, err := st.Keys.Create(inv.ctx, c.Email, c.Name, nil, inv.now())
		if err != nil {
			return err
		}
		return inv.printf("%s\n", key)
	})
}

type keyList struct {
	Email string `arg:"" help:"E-mail address of the account's owner."`
	JSON  bool   `name:"json" help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the keys of an account, without the keys themselves.
func (c *keyList) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		keys, err := st.Keys.List(inv.ctx, c.Email)
		if err != nil {
			return err
		}
		t := newTable(inv.stdout, c.JSON, "id", "name", "key", "created_at", "last_used_at", "expires_at",
			"suspended_at", "revoked_at")
		for _, k := range keys {
			t.row(k.ID, k.Name, k.Prefix+"…"+k.Suffix, timestamp(k.CreatedAt), timestamp(k.LastUsedAt),
				timestamp(k.ExpiresAt), timestamp(k.SuspendedAt), timestamp(k.RevokedAt))
		}
		return t.flush()
	})
}

type keyRevoke struct {
	ID string `arg:"" help:"ID of the key, from key list."`
}

// Run revokes a key.
func (c *keyRevoke) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		if err := st.Keys.Revoke(inv.ctx, account.AnyOwner(), c.ID, inv.now()); err != nil {
			return err
		}
		return inv.printf("%s is revoked\n", c.ID)
	})
}
