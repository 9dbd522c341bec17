package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/mail"
	"palmares/internal/portal"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/store"
	"palmares/internal/webhook"
	"palmares/internal/webhookapi"
)

// customerOptions are for what serve does for those who have an account: mails,
// webhooks, payments.
type customerOptions struct {
	webhookOptions
	Schedule schedule `name:"webhook-schedule" help:"Waits before each attempt to deliver a webhook, comma-separated; for tests (default: 0s, 5s, 5m, 30m, 2h, 5h, 10h, 14h, 20h, 24h)." env:"PALMARES_WEBHOOK_SCHEDULE" placeholder:"WAITS"`

	SMTP     smtpServer `name:"smtp" help:"The mail server, smtp://USER:PASSWORD@HOST:PORT or smtps://… (default: none; mails are printed in the log)." env:"PALMARES_SMTP" placeholder:"URL"`
	MailFrom string     `help:"Whom mails come from (default: no-reply at the host of --base-url)." env:"PALMARES_MAIL_FROM" placeholder:"ADDRESS"`

	StripeKey           string `help:"The secret key of Stripe (default: none; Pro is given with account plan)." env:"PALMARES_STRIPE_KEY" placeholder:"KEY"`
	StripeWebhookSecret string `help:"The signing secret of the Stripe webhook that leads to /hooks/stripe." env:"PALMARES_STRIPE_WEBHOOK_SECRET" placeholder:"SECRET"`
	StripePrice         string `help:"The id of the Stripe price of Pro: 99 EUR a month, tax exclusive." env:"PALMARES_STRIPE_PRICE" placeholder:"ID"`
}

// smtpServer is a mail server; nil until it was given.
type smtpServer struct{ given *mail.SMTP }

// UnmarshalText reads the address of a mail server.
func (s *smtpServer) UnmarshalText(b []byte) error {
	parsed, err := mail.ParseSMTP(string(b))
	if err != nil {
		return &refusedValue{err.Error()}
	}
	s.given = &parsed
	return nil
}

// schedule is when attempts are made.
type schedule webhook.Schedule

// UnmarshalText reads a list of durations.
func (s *schedule) UnmarshalText(b []byte) error {
	parsed, err := webhook.ParseSchedule(string(b))
	if err != nil {
		return &refusedValue{err.Error()}
	}
	*s = schedule(parsed)
	return nil
}

// customers is what serve does for those who have an account. newCustomers checks
// everything that can be wrong with the options before anything runs.
type customers struct {
	*node
	sealer     webhook.Sealer
	dispatcher *webhook.Dispatcher
	mails      *mail.Queue
	billing    *billing.Billing
}

func (n *node) newCustomers() (*customers, error) {
	c := &customers{node: n}
	var err error
	if c.sealer, err = n.session.sealer(n.SecretKey); err != nil {
		return nil, err
	}
	st, now := n.store, n.session.now
	c.dispatcher = webhook.NewDispatcher(webhook.Config{
		Claim: st.ClaimDeliveries, Settle: st.SettleDelivery, Recover: st.RunRecovery, Prune: st.PruneWebhooks,
		Reseal: c.reseal, Figures: st.WebhookFigures,
		Sealer: c.sealer, Allow: n.Allow, Schedule: webhook.Schedule(n.Schedule), Now: now, Log: n.log,
	})
	base, err := url.Parse(string(n.BaseURL))
	if err != nil {
		return nil, err
	}
	send := mail.LogSender{Log: n.log}.Send
	if n.SMTP.given != nil {
		from, err := mail.ParseFrom(n.MailFrom, base)
		if err != nil {
			return nil, err
		}
		send = mail.NewSender(*n.SMTP.given, from).Send
	}
	c.mails = mail.NewQueue(mail.Config{
		Claim: st.ClaimMails, Settle: st.SettleMail, Oldest: st.OldestMail,
		Link: c.link, Endpoint: c.endpoint, Send: send, BaseURL: string(n.BaseURL), Now: now, Log: n.log,
	})
	c.billing, err = billing.New(billing.Config{
		Key: n.StripeKey, WebhookSecret: n.StripeWebhookSecret, Price: n.StripePrice, BaseURL: string(n.BaseURL), Now: now, Log: n.log,
		Subscription: st.Subscription, SubscriptionOf: st.SubscriptionOf, Subscriptions: st.Subscriptions, SetCustomer: st.SetCustomer,
		EventSeen: st.StripeEventSeen, Apply: st.ApplySubscription, PruneEvents: st.PruneStripeEvents,
		CancelLater: st.CancelLater, Cancellations: st.Cancellations, Canceled: st.Canceled, SuspendKeys: st.SuspendKeys,
	})
	return c, err
}

// start runs the loops and adds the handlers to what is served.
func (c *customers) start(cfg *server.Config, pages *site.Site) {
	if c.SMTP.given == nil {
		c.log.Warn("no mail server is given with --smtp: mails are printed in this log, links included")
	}
	for _, loop := range []func(context.Context) error{c.dispatcher.Run, c.mails.Run, c.billing.Run, c.prune} {
		c.run(loop)
	}
	c.metrics.Register(c.dispatcher, c.mails)
	cfg.Webhooks = webhookapi.New(webhookapi.Config{
		Store: c.store, Keys: cfg.Keys, Sealer: c.sealer, Allow: c.Allow, Now: c.session.now, Log: c.log, Wake: c.dispatcher.Wake,
	})
	cfg.Account = portal.New(portal.Config{
		Store: c.store, Frame: pages.Frame, BaseURL: string(c.BaseURL), Trusted: c.Trusted, MailLogged: c.SMTP.given == nil,
		Now: c.session.now, Log: c.log, WakeMail: c.mails.Wake,
	})
	if c.billing.Enabled() {
		cfg.Stripe = c.billing
	}
}

// link makes what a mail leads to, at the moment it is handed over.
func (c *customers) link(ctx context.Context, to string, kind mail.Kind) (string, error) {
	purpose := account.LinkSignIn
	if kind == mail.ConfirmDeletion {
		purpose = account.LinkDeletion
	}
	token, err := c.store.CreateLink(ctx, to, purpose, c.session.now())
	if errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("%w: %w", mail.ErrObsolete, err)
	}
	if err != nil {
		return "", err
	}
	return portal.LinkURL(string(c.BaseURL), purpose, token), nil
}

func (c *customers) endpoint(ctx context.Context, id string) (webhook.Endpoint, error) {
	e, err := c.store.Endpoint(ctx, "", id)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %w", mail.ErrObsolete, err)
	}
	return e, err
}

// reseal seals under the first of the given keys what another one sealed, so that
// the operator can then drop that one.
func (c *customers) reseal(ctx context.Context) error {
	secrets, err := c.store.SealedSecrets(ctx)
	if err != nil {
		return err
	}
	for _, held := range secrets {
		for _, sealed := range []string{held.Secret, held.OldSecret} {
			if sealed == "" || c.sealer.Current(sealed) {
				continue
			}
			secret, openErr := c.sealer.Open(held.EndpointID, sealed)
			if openErr != nil {
				err = errors.Join(err, openErr)
				continue
			}
			err = errors.Join(err, c.store.ReplaceSecrets(ctx, held.EndpointID, sealed, c.sealer.Seal(held.EndpointID, secret)))
		}
	}
	return err
}

// prune forgets, once an hour, what has expired of sign-ins and sessions.
func (c *customers) prune(ctx context.Context) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := c.store.PruneSessions(ctx, c.session.now()); err != nil && ctx.Err() == nil {
			c.log.Error("expired sessions cannot be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
