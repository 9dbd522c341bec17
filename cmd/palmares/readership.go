package main

import (
	"palmares/internal/catalog"
	"palmares/internal/node"
	"palmares/internal/readership"
)

type readersCommand struct {
	Since day  `help:"The first day in UTC, as in 2026-11-17 (default: 30 days ago)." placeholder:"DAY" env:"PALMARES_SINCE"`
	JSON  bool `name:"json" help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the views of pages, and those from each host, day by day.
func (c *readersCommand) Run(inv *invocation) error {
	if c.Since == "" {
		c.Since = day(catalog.Day(inv.now().AddDate(0, 0, -29)))
	}
	return inv.withExisting(func(st *node.Database) error {
		days, err := st.Readership.Daily(inv.ctx, "", string(c.Since))
		t := newTable(inv.stdout, c.JSON, "day", "path", "views")
		for _, kind := range []string{readership.Pages, readership.Hosts} {
			if kind == readership.Hosts {
				t.next("", "day", "host", "views")
			}
			for i := 0; i < len(days) && err == nil; i++ { // all days together may be too many
				all, failed := st.Readership.Top(inv.ctx, kind, days[i].Day, days[i].Day, 1_000_000)
				for _, v := range all {
					t.row(v.Day, v.Name, v.Views)
				}
				err = failed
			}
		}
		return t.flush(err)
	})
}
