package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/catalog"
	"palmares/internal/node"
	"palmares/internal/quota"
)

type usageCommand struct {
	Top  top  `help:"How many accounts and networks to list (default: 20)." default:"20" placeholder:"N" what:"a number of accounts and networks" range:"1-1000000"`
	Day  day  `help:"The day in UTC, as in 2026-11-17 (default: today)." placeholder:"DAY"`
	JSON bool `name:"json" help:"Print JSON lines."`
}

// top is a number of records; without one, the default.
type top int

// Decode reads a number, if there is one.
func (n *top) Decode(ctx *kong.DecodeContext) error {
	*n = 20
	next := ctx.Scan.Peek()
	if next.IsEOL() || strings.HasPrefix(next.String(), "-") {
		return nil
	}
	return number(ctx, reflect.ValueOf(n).Elem())
}

// day is a date; "" until given.
type day string

func (d *day) UnmarshalText(b []byte) error {
	if _, err := time.Parse(time.DateOnly, string(b)); err != nil {
		return &invalidValue{fmt.Sprintf("%q is not a day: write it as in 2026-11-17", b)}
	}
	*d = day(b)
	return nil
}

// Run lists who sent the most requests on a day. Networks are pseudonyms, which are kept until the
// day is over.
func (c *usageCommand) Run(inv *invocation) error {
	if c.Day == "" {
		c.Day = day(catalog.Day(inv.now().UTC()))
	}
	return inv.withExisting(func(st *node.Database) error {
		all, err := st.Usage.Top(inv.ctx, string(c.Day), int(c.Top))
		t := newTable(inv.stdout, c.JSON, "day", "requests", "limit", "account", "email", "plan", "network")
		for _, x := range all {
			limit := any(quota.Anonymous.Limit())
			if x.Account != "" {
				limit = dailyLimit(x.Plan)
			}
			t.row(string(c.Day), x.Requests, limit, x.Account, x.Email, string(x.Plan), x.Network)
		}
		return t.flush(err)
	})
}
