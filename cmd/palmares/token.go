package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"palmares/internal/node"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token and print it, once."`
	List   tokenList   `cmd:"" help:"List the tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

type tokenCreate struct {
	Name    string   `help:"Who publishes with it; recorded with every version." required:""`
	Expires lifetime `help:"After how many days it stops working, as in 90d (default: never)." placeholder:"DAYS"`
}

// lifetime is a number of days; 0 for ever.
type lifetime int

// maxLifetime is ten years.
const maxLifetime = 3653

func (l *lifetime) UnmarshalText(b []byte) error {
	days, isDays := strings.CutSuffix(string(b), "d")
	n, err := strconv.Atoi(days)
	if !isDays || err != nil || n < 1 || n > maxLifetime {
		return &invalidValue{
			fmt.Sprintf("%q is not a number of days: expected one from 1d to %dd, as in 90d", b, maxLifetime),
		}
	}
	*l = lifetime(n)
	return nil
}

// Run creates a token, and prints nothing else on stdout, so that a script can store it.
func (c *tokenCreate) Run(inv *invocation) error {
	return inv.withStore(func(st *node.Database) error {
		var expires time.Time
		if c.Expires > 0 {
			expires = inv.now().Add(time.Duration(c.Expires) * 24 * time.Hour)
		}
		token, _, err := st.Tokens.Create(inv.ctx, c.Name, expires, inv.now())
		return inv.result(err, "%s\n", token)
	})
}

type tokenList struct {
	JSON bool `name:"json" help:"Print JSON lines."`
}

// Run lists the tokens, without the tokens themselves.
func (c *tokenList) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		tokens, err := st.Tokens.List(inv.ctx)
		out := newTable(inv.stdout, c.JSON, "id", "name", "token", "created_at", "last_used_at", "expires_at",
			"revoked_at")
		for _, t := range tokens {
			out.row(t.ID, t.Name, t.Prefix+"…"+t.Suffix, timestamp(t.CreatedAt), timestamp(t.LastUsedAt),
				timestamp(t.ExpiresAt), timestamp(t.RevokedAt))
		}
		return out.flush(err)
	})
}

type tokenRevoke struct {
	ID string `arg:"" help:"ID of the token, from token list."`
}

func (c *tokenRevoke) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		return inv.result(st.Tokens.Revoke(inv.ctx, c.ID, inv.now()), "%s is revoked\n", c.ID)
	})
}
