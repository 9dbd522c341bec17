package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/clientip"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

type webhookCommand struct {
	Add        webhookAdd        `cmd:"" help:"Add an endpoint to an account and print its secret, once."`
	List       webhookList       `cmd:"" help:"List the endpoints of an account."`
	Deliveries webhookDeliveries `cmd:"" help:"List what was sent to an endpoint, newest first."`
	Resend     webhookResend     `cmd:"" help:"Send a delivery again."`
}

// networks are those to which webhooks may go although they are not public.
type networks []netip.Prefix

// UnmarshalText reads a list of networks.
func (n *networks) UnmarshalText(b []byte) error {
	parsed, err := clientip.ParseTrusted(string(b))
	if err != nil {
		return &refusedValue{fmt.Sprintf("%q are not networks: write them as in 10.0.0.0/8,192.0.2.7", b)}
	}
	*n = parsed
	return nil
}

// webhookOptions are for whoever adds endpoints or sends to them.
type webhookOptions struct {
	Allow     networks `name:"webhook-allow" help:"Networks (CIDR, comma-separated) that are not public and to which webhooks may go (default: none)." env:"PALMARES_WEBHOOK_ALLOW" placeholder:"CIDRS"`
	SecretKey string   `help:"32 bytes in base64 that seal the secrets of webhooks; after a comma, former ones (SQLite: made once beside the database; PostgreSQL: required)." env:"PALMARES_SECRET_KEY" placeholder:"KEY"`
}

type webhookAdd struct {
	Email  string   `arg:"" help:"The address of the account's owner."`
	URL    string   `arg:"" name:"url" help:"Where to send events: https, a domain name, port 443."`
	Events []string `help:"The types of events to send, comma-separated (default: all)." env:"PALMARES_EVENTS" placeholder:"TYPES"`
	webhookOptions
}

// Run adds an endpoint; its secret stands alone on stdout, so that a script can
// keep it, and its id on stderr.
func (c *webhookAdd) Run(s *session) error {
	url, err := webhook.CheckURL(c.URL, c.Allow)
	if err != nil {
		return err
	}
	return s.withStore(func(st *store.Store) error {
		sealer, err := s.sealer(s.ctx, st, c.SecretKey)
		if err != nil {
			return err
		}
		owner, err := st.Accounts.Find(s.ctx, c.Email)
		if err != nil {
			return err
		}
		for i := range c.Events {
			c.Events[i] = strings.TrimSpace(c.Events[i])
		}
		secret := webhook.NewSecret()
		seal := func(id string) string { return sealer.Seal(id, secret) }
		e, err := st.Endpoints.Create(s.ctx, owner.ID, url, c.Events, seal, s.now())
		if err != nil {
			return err
		}
		fmt.Fprintf(s.stderr, "added %s\n", e.ID)
		_, err = fmt.Fprintln(s.stdout, secret)
		return err
	})
}

type webhookList struct {
	Email string `arg:"" help:"The address of the account's owner."`
	JSON  bool   `name:"json" help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the endpoints of an account, without their secrets.
func (c *webhookList) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		owner, err := st.Accounts.Find(s.ctx, c.Email)
		if err != nil {
			return err
		}
		endpoints, err := st.Endpoints.List(s.ctx, owner.Owner())
		if err != nil {
			return err
		}
		t := newTable(s.stdout, c.JSON, "id", "url", "events", "state", "reason", "failures", "last_success_at", "created_at")
		for _, e := range endpoints {
			events := "all"
			if e.Events != nil {
				events = strings.Join(e.Events, ",")
			}
			t.row(e.ID, e.URL, events, string(e.State), e.Reason, strconv.Itoa(e.Failures), moment(e.LastSuccessAt), moment(e.CreatedAt))
		}
		return t.flush()
	})
}

type webhookDeliveries struct {
	ID   string `arg:"" help:"The id of the endpoint, as webhook list shows it."`
	JSON bool   `name:"json" help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the deliveries of an endpoint, all that are kept.
func (c *webhookDeliveries) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		t := newTable(s.stdout, c.JSON, "id", "event", "type", "origin", "state", "attempts", "outcome", "status", "duration_ms", "created_at", "next_at")
		filter := store.DeliveryFilter{Limit: 200}
		for {
			some, err := st.Deliveries.List(s.ctx, account.AnyOwner(), c.ID, filter)
			if err != nil {
				return err
			}
			for _, d := range some {
				var outcome, status, duration string
				if n := len(d.Attempts); n > 0 {
					last := d.Attempts[n-1]
					outcome, duration = string(last.Outcome), strconv.FormatInt(last.Duration.Milliseconds(), 10)
					if last.Status != 0 {
						status = strconv.Itoa(last.Status)
					}
				}
				t.row(d.ID, d.EventID, d.Type, d.Origin, string(d.State), strconv.Itoa(d.Count), outcome, status, duration, moment(d.CreatedAt), moment(d.NextAt))
				filter.Before = d.ID
			}
			if len(some) < filter.Limit {
				return t.flush()
			}
		}
	})
}

type webhookResend struct {
	Delivery string `arg:"" help:"The id of the delivery, as webhook deliveries shows it."`
}

// Run sends an event again to the same endpoint, and prints the new delivery.
func (c *webhookResend) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		d, err := st.Deliveries.Resend(s.ctx, account.AnyOwner(), c.Delivery, s.now())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.stdout, "%s  %s  %s  %s\n", d.ID, d.EventID, d.Type, d.State)
		return err
	})
}
