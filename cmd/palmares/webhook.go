package main

import (
	"fmt"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/guard"
	"palmares/internal/node"
	"palmares/internal/webhook"
)

type webhookCommand struct {
	Add        webhookAdd        `cmd:"" help:"Add an endpoint to an account and print its secret, once."`
	List       webhookList       `cmd:"" help:"List the endpoints of an account."`
	Deliveries webhookDeliveries `cmd:"" help:"List the deliveries to an endpoint, newest first."`
	Resend     webhookResend     `cmd:"" help:"Send a delivery again."`
	Pause      webhookPause      `cmd:"" help:"Stop sending to an endpoint; what is due waits."`
	Resume     webhookResume     `cmd:"" help:"Send to an endpoint again."`
	Delete     webhookDelete     `cmd:"" help:"Delete an endpoint and its deliveries."`
}

type webhookAdd struct {
	Email   string         `arg:"" help:"E-mail address of the account's owner."`
	URL     string         `arg:"" name:"url" help:"URL to send events to: https, a domain name, port 443."`
	Events  []string       `help:"Event types to send, comma-separated (default: all)." placeholder:"TYPES"`
	Options webhookOptions `embed:""`
}

// Run adds an endpoint. It prints only the secret on stdout, so that a script can store
// it, and the ID on stderr.
func (c *webhookAdd) Run(inv *invocation) error {
	url, err := guard.CheckURL(c.URL, c.Options.Allow)
	if err != nil {
		return err
	}
	return inv.withExisting(func(st *node.Database) error {
		sealer, err := c.Options.keySource(inv.database).Open(inv.ctx, st.Secrets())
		if err != nil {
			return err
		}
		owner, err := st.Accounts.Find(inv.ctx, c.Email)
		if err != nil {
			return err
		}
		for i := range c.Events {
			c.Events[i] = strings.TrimSpace(c.Events[i])
		}
		secret := webhook.NewSecret()
		seal := func(id string) string { return sealer.Seal(id, secret) }
		e, err := st.Endpoints.Create(inv.ctx, owner.ID, url, c.Events, seal, nil, inv.now())
		if err != nil {
			return err
		}
		fmt.Fprintf(inv.stderr, "added %s\n", e.ID)
		return inv.printf("%s\n", secret)
	})
}

type webhookList struct {
	Email string `arg:"" help:"E-mail address of the account's owner."`
	JSON  bool   `name:"json" help:"Print JSON lines."`
}

// Run lists the endpoints of an account, without their secrets.
func (c *webhookList) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		owner, err := st.Accounts.Find(inv.ctx, c.Email)
		if err != nil {
			return err
		}
		endpoints, err := st.Endpoints.List(inv.ctx, owner.Owner())
		t := newTable(inv.stdout, c.JSON, endpointColumns...)
		addEndpoints(t, endpoints)
		return t.flush(err)
	})
}

var endpointColumns = []string{
	"id", "url", "events", "state", "reason", "failures", "last_success_at", "created_at", "failing_since", "last_error",
}

// addEndpoints adds endpoints to a table, without their secrets.
func addEndpoints(t *table, endpoints []webhook.Endpoint) {
	for _, e := range endpoints {
		events := "all"
		if e.Events != nil {
			events = strings.Join(e.Events, ",")
		}
		state, failure := string(e.State), ""
		if e.Failing() {
			state = "failing"
		}
		if e.LastError() != "" {
			failure = string(e.LastFailure.Outcome)
			if e.LastFailure.Status != 0 {
				failure += " " + strconv.Itoa(int(e.LastFailure.Status))
			}
		}
		t.row(e.ID, e.URL, events, state, string(e.Reason), e.Failures, timestamp(e.LastSuccessAt), timestamp(e.CreatedAt),
			timestamp(e.FailingSince), failure)
	}
}

type webhookDeliveries struct {
	ID   string `arg:"" help:"ID of the endpoint, from webhook list."`
	JSON bool   `name:"json" help:"Print JSON lines."`
}

// Run lists the deliveries of an endpoint, all that are kept.
func (c *webhookDeliveries) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		t := newTable(inv.stdout, c.JSON, "id", "event", "type", "origin", "state", "attempts", "outcome", "status",
			"duration_ms", "created_at", "next_at")
		filter := accountdb.DeliveryFilter{Limit: 200}
		for {
			some, err := st.Deliveries.List(inv.ctx, account.AnyOwner(), c.ID, filter)
			for _, d := range some {
				var outcome, status, duration any
				if last := d.Last; last != nil {
					outcome, duration = string(last.Outcome), last.Duration.Milliseconds()
					if last.Status != 0 {
						status = last.Status
					}
				}
				t.row(d.ID, d.EventID, d.Type, d.Origin, string(d.State), d.Count, outcome, status, duration,
					timestamp(d.CreatedAt), timestamp(d.NextAt))
				filter.Before = d.ID
			}
			if len(some) < filter.Limit {
				return t.flush(err)
			}
		}
	})
}

type webhookResend struct {
	Delivery string `arg:"" help:"ID of the delivery, from webhook deliveries."`
}

// Run sends an event again to the same endpoint, and prints the new delivery.
func (c *webhookResend) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		d, err := st.Deliveries.Resend(inv.ctx, account.AnyOwner(), c.Delivery, inv.now())
		return inv.result(err, "%s  %s  %s  %s\n", d.ID, d.EventID, d.Type, d.State)
	})
}

type webhookPause struct {
	ID string `arg:"" help:"ID of the endpoint, from webhook list."`
}

func (c *webhookPause) Run(inv *invocation) error { return inv.setEndpoint(c.ID, webhook.Paused) }

type webhookResume struct {
	ID string `arg:"" help:"ID of the endpoint, from webhook list."`
}

// Run makes an endpoint active, also one that was disabled.
func (c *webhookResume) Run(inv *invocation) error { return inv.setEndpoint(c.ID, webhook.Active) }

func (inv *invocation) setEndpoint(id string, state webhook.State) error {
	return inv.withExisting(func(st *node.Database) error {
		e, err := st.Endpoints.Change(inv.ctx, account.AnyOwner(), id, webhook.Change{State: &state}, inv.now())
		return inv.result(err, "%s is %s\n", e.ID, e.State)
	})
}

type webhookDelete struct {
	ID string `arg:"" help:"ID of the endpoint, from webhook list."`
}

func (c *webhookDelete) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		if err := st.Endpoints.Delete(inv.ctx, account.AnyOwner(), c.ID); err != nil {
			return err
		}
		return inv.sweep(st, c.ID+" is deleted")
	})
}
