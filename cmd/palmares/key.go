package main

import (
	"fmt"

	"palmares/internal/account"
	"palmares/internal/store"
)

type keyCommand struct {
	Create keyCreate `cmd:"" help:"Create a key and print it, once."`
	List   keyList   `cmd:"" help:"List the keys of an account."`
	Revoke keyRevoke `cmd:"" help:"End a key."`
}

type keyCreate struct {
	Email string `arg:"" help:"The address of the account's owner."`
	Name  string `help:"What the key is for." required:"" env:"PALMARES_NAME"`
}

// Run creates a key; it stands alone on stdout, so that a script can keep it.
func (c *keyCreate) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		key, _, err := st.Keys.Create(s.ctx, c.Email, c.Name, s.now())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.stdout, key)
		return err
	})
}

type keyList struct {
	Email string `arg:"" help:"The address of the account's owner."`
	JSON  bool   `name:"json" help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the keys of an account, without the keys themselves.
func (c *keyList) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		keys, err := st.Keys.List(s.ctx, c.Email)
		if err != nil {
			return err
		}
		t := newTable(s.stdout, c.JSON, "id", "name", "key", "created_at", "last_used_at", "expires_at", "suspended_at", "revoked_at")
		for _, k := range keys {
			t.row(k.ID, k.Name, k.Prefix+"…"+k.Suffix, moment(k.CreatedAt), moment(k.LastUsedAt), moment(k.ExpiresAt), moment(k.SuspendedAt), moment(k.RevokedAt))
		}
		return t.flush()
	})
}

type keyRevoke struct {
	ID string `arg:"" help:"The id of the key, as key list shows it."`
}

// Run revokes a key.
func (c *keyRevoke) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		if err := st.Keys.Revoke(s.ctx, account.AnyOwner(), c.ID, s.now()); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.stdout, "%s is revoked\n", c.ID)
		return err
	})
}
