package main

import (
	"fmt"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/node"
	"palmares/internal/quota"
)

type accountCommand struct {
	Create accountCreate `cmd:"" help:"Create an account."`
	List   accountList   `cmd:"" help:"List the accounts."`
	Show   accountShow   `cmd:"" help:"Show an account: plan, subscription, keys, webhooks, use by day."`
	Export accountExport `cmd:"" help:"Print everything known of an account as JSON, as its owner can download it."`
	Plan   accountPlan   `cmd:"" help:"Change the plan of an account."`
	Delete accountDelete `cmd:"" help:"Delete an account and its keys."`
}

type accountCreate struct {
	Email string `arg:"" help:"E-mail address of the owner."`
	Plan  plan   `help:"developer or pro." default:"developer"`
}

func (c *accountCreate) Run(inv *invocation) error {
	return inv.withStore(func(st *node.Database) error {
		a, err := st.Accounts.Create(inv.ctx, c.Email, account.Plan(c.Plan), inv.now())
		return inv.result(err, "%s  %s  %s\n", a.ID, a.Email, a.Plan)
	})
}

type accountList struct {
	JSON bool `name:"json" help:"Print JSON lines."`
}

func (c *accountList) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		accounts, err := st.Accounts.List(inv.ctx)
		t := newTable(inv.stdout, c.JSON, "id", "email", "plan", "created_at")
		for _, a := range accounts {
			t.row(a.ID, a.Email, string(a.Plan), timestamp(a.CreatedAt))
		}
		return t.flush(err)
	})
}

type accountShow struct {
	Account string `arg:"" help:"E-mail address of the owner, or ID of the account."`
	JSON    bool   `name:"json" help:"Print JSON lines."`
}

// shownDays is how many days of use are shown, today included.
const shownDays = 14

// Run shows what is known about an account, but no secrets.
func (c *accountShow) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		a, err := findAccount(inv, st, c.Account)
		if err != nil {
			return err
		}
		paid, err := st.Subscriptions.Find(inv.ctx, a.ID)
		if err != nil {
			return err
		}
		keys, err := st.Keys.List(inv.ctx, a.Email)
		if err != nil {
			return err
		}
		endpoints, err := st.Endpoints.List(inv.ctx, a.Owner())
		if err != nil {
			return err
		}
		now := inv.now().UTC()
		days, err := st.Usage.ForAccount(inv.ctx, a.ID, catalog.Day(now.AddDate(0, 0, 1-shownDays)), catalog.Day(now))
		if err != nil {
			return err
		}
		var by any
		switch {
		case a.Plan == account.Pro && paid.Granted:
			by = "subscription"
		case a.Plan == account.Pro:
			by = "operator"
		}
		t := newTable(inv.stdout, c.JSON, "id", "email", "plan", "granted_by", "created_at")
		t.of = "account"
		t.row(a.ID, a.Email, string(a.Plan), by, timestamp(a.CreatedAt))
		t.next("subscription", "customer", "id", "status", "period_end", "cancel_at", "grace_until")
		if paid.CustomerID != "" {
			t.row(paid.CustomerID, paid.ID, string(paid.Status), timestamp(paid.PeriodEnd), timestamp(paid.CancelAt),
				timestamp(paid.GraceUntil))
		}
		t.next("key", keyColumns...)
		addKeys(t, keys, now)
		t.next("endpoint", endpointColumns...)
		addEndpoints(t, endpoints)
		t.next("day", "day", "requests", "limit")
		for _, d := range days {
			t.row(d.Day, d.Requests, dailyLimit(a.Plan))
		}
		return t.flush(nil)
	})
}

// findAccount returns the account of an address or an ID.
func findAccount(inv *invocation, st *node.Database, name string) (account.Account, error) {
	if account.IsID(account.AccountID, name) {
		return st.Accounts.ByID(inv.ctx, name)
	}
	return st.Accounts.Find(inv.ctx, name)
}

type accountExport struct {
	Account string `arg:"" help:"E-mail address of the owner, or ID of the account."`
}

func (c *accountExport) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		a, err := findAccount(inv, st, c.Account)
		if err != nil {
			return err
		}
		return st.Export(inv.ctx, a, inv.now(), inv.stdout)
	})
}

// dailyLimit returns how many requests a day a plan has, nil for any number.
func dailyLimit(p account.Plan) any {
	if p == account.Pro {
		return nil
	}
	return quota.Free.Limit()
}

type accountPlan struct {
	Email string `arg:"" help:"E-mail address of the owner."`
	Plan  plan   `arg:"" help:"developer or pro."`
}

func (c *accountPlan) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		err := st.Accounts.SetPlan(inv.ctx, c.Email, account.Plan(c.Plan), inv.now())
		return inv.result(err, "%s is on the plan %s\n", c.Email, c.Plan)
	})
}

type accountDelete struct {
	Email     string `arg:"" help:"E-mail address of the owner."`
	Cancelled bool   `help:"Its subscription was cancelled at Stripe, or Stripe has it no longer."`
}

func (c *accountDelete) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		a, err := st.Accounts.Find(inv.ctx, c.Email)
		if err != nil {
			return err
		}
		paid, err := st.Subscriptions.Find(inv.ctx, a.ID)
		if err != nil {
			return err
		}
		if paid.Status.Charges() && !c.Cancelled {
			return fmt.Errorf("%s is not deleted, as it pays for Pro: "+
				"cancel the subscription %s in the Stripe dashboard, "+
				"then repeat the command; add --cancelled if no server runs that could have seen it", a.Email, paid.ID)
		}
		if err := st.Accounts.Delete(inv.ctx, a.Email); err != nil {
			return err
		}
		return inv.sweep(st, c.Email+" is deleted, with its keys")
	})
}

// sweep removes the log of deleted webhooks and prints what was done before. A running server
// would sweep as well; perhaps there is none.
func (inv *invocation) sweep(st *node.Database, done string) error {
	for more := true; more; {
		var err error
		more, err = st.Deliveries.Sweep(inv.ctx)
		if err != nil {
			// Not as the cause: interrupted or not, something was changed.
			return fmt.Errorf("%s; the log of its webhooks is not gone yet, and a running server removes it: %v", done, err)
		}
	}
	return inv.printf("%s\n", done)
}
