package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/node"
)

type keyCommand struct {
	Create keyCreate `cmd:"" help:"Create a key and print it, once."`
	List   keyList   `cmd:"" help:"List the keys of an account."`
	Find   keyFind   `cmd:"" help:"Say whose key it is that standard input has, whole or masked as in lists, and its state."`
	Revoke keyRevoke `cmd:"" help:"Revoke a key."`
}

type keyCreate struct {
	Email string `arg:"" help:"E-mail address of the account's owner."`
	Name  string `help:"What the key is for." required:""`
}

// Run creates a key, and prints nothing else on stdout, so that a script can store it.
func (c *keyCreate) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		key, _, err := st.Keys.Create(inv.ctx, c.Email, c.Name, nil, inv.now())
		return inv.result(err, "%s\n", key)
	})
}

type keyList struct {
	Email string `arg:"" help:"E-mail address of the account's owner."`
	JSON  bool   `name:"json" help:"Print JSON lines."`
}

// Run lists the keys of an account, without the keys themselves.
func (c *keyList) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		keys, err := st.Keys.List(inv.ctx, c.Email)
		t := newTable(inv.stdout, c.JSON, keyColumns...)
		addKeys(t, keys, inv.now())
		return t.flush(err)
	})
}

var keyColumns = []string{
	"id", "name", "key", "state", "created_at", "last_used_at", "expires_at", "suspended_at", "revoked_at",
}

// addKeys adds keys to a table, without the keys themselves.
func addKeys(t *table, keys []account.Key, now time.Time) {
	for _, k := range keys {
		t.row(k.ID, k.Name, k.Prefix+"…"+k.Suffix, string(k.State(now)), timestamp(k.CreatedAt), timestamp(k.LastUsedAt),
			timestamp(k.ExpiresAt), timestamp(k.SuspendedAt), timestamp(k.RevokedAt))
	}
}

type keyFind struct {
	JSON bool `name:"json" help:"Print JSON lines."`
}

// Run finds the key that standard input has: an argument would be seen by everybody on the machine.
func (c *keyFind) Run(inv *invocation) error {
	if isTerminal(os.Stdin) {
		fmt.Fprintln(inv.stderr, "Paste the key, and press Enter.")
	}
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, 1<<10)).ReadString('\n')
	key := strings.TrimSpace(line)
	prefix, suffix, isMasked := strings.Cut(strings.Replace(key, "...", "…", 1), "…")
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case !isMasked && !account.CheckKey(key):
		return errors.New("standard input has no API key: they begin with plm_, and one that is cut off or has a " +
			"character too many or a wrong one is none; a masked one is as in lists, plm_abcd…wxyz")
	}
	return inv.withExisting(func(st *node.Database) error {
		keys := make([]account.Key, 1)
		if isMasked {
			keys, err = st.Keys.Masked(inv.ctx, prefix, suffix)
		} else {
			keys[0], err = st.Keys.ByHash(inv.ctx, account.HashKey(key))
		}
		if err != nil {
			return err
		}
		t := newTable(inv.stdout, c.JSON, "id", "name", "state", "last_used_at", "account", "email", "plan")
		for _, k := range keys {
			a, err := st.Accounts.ByID(inv.ctx, k.AccountID)
			if err != nil {
				return err
			}
			t.row(k.ID, k.Name, string(k.State(inv.now())), timestamp(k.LastUsedAt), a.ID, a.Email, string(a.Plan))
		}
		return t.flush(nil)
	})
}

type keyRevoke struct {
	ID string `arg:"" help:"ID of the key, from key list."`
}

func (c *keyRevoke) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		return inv.result(st.Keys.Revoke(inv.ctx, account.AnyOwner(), c.ID, inv.now()), "%s is revoked\n", c.ID)
	})
}
