package main

import (
	"fmt"

	"palmares/internal/account"
	"palmares/internal/node"
)

type accountCommand struct {
	Create accountCreate `cmd:"" help:"Create an account."`
	List   accountList   `cmd:"" help:"List the accounts."`
	Plan   accountPlan   `cmd:"" help:"Change the plan of an account."`
	Delete accountDelete `cmd:"" help:"Delete an account and its keys."`
}

type accountCreate struct {
	Email string `arg:"" help:"E-mail address of the owner."`
	Plan  plan   `help:"developer or pro." default:"developer" env:"PALMARES_PLAN"`
}

// Run creates an account and prints it.
func (c *accountCreate) Run(inv *invocation) error {
	return inv.withStore(func(st *node.Database) error {
		a, err := st.Accounts.Create(inv.ctx, c.Email, account.Plan(c.Plan), inv.now())
		if err != nil {
			return err
		}
		return inv.printf("%s  %s  %s\n", a.ID, a.Email, a.Plan)
	})
}

type accountList struct {
	JSON bool `name:"json" help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the accounts.
func (c *accountList) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		accounts, err := st.Accounts.List(inv.ctx)
		if err != nil {
			return err
		}
		t := newTable(inv.stdout, c.JSON, "id", "email", "plan", "created_at")
		for _, a := range accounts {
			t.row(a.ID, a.Email, string(a.Plan), timestamp(a.CreatedAt))
		}
		return t.flush()
	})
}

type accountPlan struct {
	Email string `arg:"" help:"E-mail address of the owner."`
	Plan  plan   `arg:"" help:"developer or pro."`
}

// Run changes a plan.
func (c *accountPlan) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		if err := st.Accounts.SetPlan(inv.ctx, c.Email, account.Plan(c.Plan), inv.now()); err != nil {
			return err
		}
		return inv.printf("%s is on the plan %s\n", c.Email, c.Plan)
	})
}

type accountDelete struct {
	Email string `arg:"" help:"E-mail address of the owner."`
}

// Run deletes an account.
func (c *accountDelete) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		if err := st.Accounts.Delete(inv.ctx, c.Email); err != nil {
			return err
		}
		// A running server would do it as well; perhaps there is none.
		for more := true; more; {
			var err error
			more, err = st.Deliveries.Sweep(inv.ctx)
			if err != nil {
				// Not as the cause: interrupted or not, something was changed.
				return fmt.Errorf("%s is deleted, with its keys; the log of its webhooks is not gone yet, "+
					"and a running server removes it: %v", c.Email, err)
			}
		}
		return inv.printf("%s is deleted, with its keys\n", c.Email)
	})
}
