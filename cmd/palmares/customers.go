package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/billing"
	"palmares/internal/mail"
	"palmares/internal/quota"
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
	Timeout  timeout  `name:"webhook-timeout" help:"How long a receiver of a webhook may take to answer; a process that dies delays by twice as long what it was sending; for tests (default: 15s)." env:"PALMARES_WEBHOOK_TIMEOUT" placeholder:"DURATION"`

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

// timeout is how long a receiver may take; 0 until it was given.
type timeout time.Duration

// UnmarshalText reads a duration.
func (d *timeout) UnmarshalText(b []byte) error {
	given, err := time.ParseDuration(string(b))
	if err != nil || given < 100*time.Millisecond || given > webhook.AnswerWithin {
		return &refusedValue{fmt.Sprintf("%q is not a time to wait for an answer: give one from 100ms to %s", b, webhook.AnswerWithin)}
	}
	*d = timeout(given)
	return nil
}

// customers is what serve does for those who have an account.
type customers struct {
	*node
	sealer     webhook.Sealer
	dispatcher *webhook.Dispatcher
	mails      *mail.Queue
	billing    *billing.Billing
}

// check refuses what cannot be, before the database is waited for. On SQLite the
// sealer's key may only be made when the database's folder is there.
func (o *customerOptions) check(s *session, base string) error {
	if _, err := o.from(base); err != nil {
		return err
	}
	if _, err := billing.New(billing.Config{Key: o.StripeKey, WebhookSecret: o.StripeWebhookSecret, Price: o.StripePrice}); err != nil {
		return err
	}
	if o.SecretKey == "" && s.onSQLite() {
		return nil
	}
	_, err := s.keys(o.SecretKey, false)
	return err
}

// from is whom mails come from.
func (o *customerOptions) from(base string) (netmail.Address, error) {
	u, err := url.Parse(base)
	if err != nil || o.SMTP.given == nil {
		return netmail.Address{}, err
	}
	return mail.ParseFrom(o.MailFrom, u)
}

func (n *node) newCustomers(ctx context.Context) (*customers, error) {
	c := &customers{node: n}
	err := n.whenReachable(ctx, func(ctx context.Context) (err error) {
		c.sealer, err = n.session.sealer(ctx, n.store, n.SecretKey)
		return err
	})
	if err != nil {
		return nil, err
	}
	st, now := n.store, n.session.now
	timeout := cmp.Or(time.Duration(n.Timeout), webhook.AnswerWithin)
	c.dispatcher = webhook.NewDispatcher(webhook.Config{
		Claim: func(ctx context.Context, now time.Time, limit int) ([]webhook.Claim, error) {
			return st.Deliveries.ClaimFor(ctx, now, 2*timeout, limit)
		},
		Settle: st.Deliveries.Finish, Recover: st.Deliveries.RunRecovery, Prune: st.Deliveries.Prune,
		Reseal: c.reseal, Figures: st.Deliveries.Figures,
		Sealer: c.sealer, Allow: n.Allow, Schedule: webhook.Schedule(n.Schedule), Timeout: timeout, Now: now, Log: n.log,
	})
	send := mail.LogSender{Log: n.log}.Send
	if n.SMTP.given != nil {
		from, err := n.from(string(n.BaseURL))
		if err != nil {
			return nil, err
		}
		send = mail.NewSender(*n.SMTP.given, from).Send
	}
	c.mails = mail.NewQueue(mail.Config{
		Claim: st.Mails.Claim, Settle: st.Mails.Finish, Oldest: st.Mails.Oldest,
		Link: c.link, Endpoint: c.endpoint, Check: st.Mails.Check, Send: send, BaseURL: string(n.BaseURL), Now: now, Log: n.log,
	})
	c.billing, err = billing.New(billing.Config{
		Key: n.StripeKey, WebhookSecret: n.StripeWebhookSecret, Price: n.StripePrice, BaseURL: string(n.BaseURL), Now: now, Log: n.log,
		Subscription: st.Subscriptions.Find, SubscriptionOf: st.Subscriptions.ByCustomer, Subscriptions: st.Subscriptions.List, SetCustomer: st.Subscriptions.SetCustomer,
		EventSeen: st.Subscriptions.EventSeen, Apply: st.Subscriptions.Apply, PruneEvents: st.Subscriptions.PruneEvents,
		Cancellations: st.Subscriptions.Cancellations, Canceled: st.Subscriptions.Canceled, PruneCanceled: st.Subscriptions.PruneCancellations, SuspendKeys: st.Keys.SuspendExcess,
	})
	return c, err
}

// start runs the loops and adds the handlers to what is served. away tells that the
// database does not answer.
func (c *customers) start(cfg *server.Config, pages *site.Site, away func() bool) {
	if c.SMTP.given == nil {
		c.log.Warn("no mail server is given with --smtp: mails are printed in this log, links included")
	}
	c.work(c.dispatcher.Run)
	c.work(c.mails.Run)
	c.run(c.billing.Run)
	c.run(c.prune)
	c.metrics.Register(c.dispatcher, c.mails)
	cfg.Webhooks = webhookapi.New(webhookapi.Config{
		Store: c.store, Keys: cfg.Keys, Sealer: c.sealer, Allow: c.Allow, Now: c.session.now, Log: c.log, Wake: c.dispatcher.Wake, Away: away,
	})
	daily := 0
	if c.Quota == "on" {
		daily = quota.Free.Limit()
	}
	cfg.Account = accountsite.New(accountsite.Config{
		Store: c.store, Frame: pages.Frame, BaseURL: string(c.BaseURL), Trusted: c.Trusted, MailLogged: c.SMTP.given == nil,
		Now: c.session.now, Log: c.log, WakeMail: c.mails.Wake, WakeWebhooks: c.dispatcher.Wake,
		Sealer: c.sealer, Allow: c.Allow, Billing: c.billing, Quota: daily, Away: away,
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
	token, err := c.store.Links.Create(ctx, to, purpose, c.session.now())
	if errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("%w: %w", mail.ErrObsolete, err)
	}
	if err != nil {
		return "", err
	}
	return accountsite.LinkURL(string(c.BaseURL), purpose, token), nil
}

func (c *customers) endpoint(ctx context.Context, id string) (webhook.Endpoint, error) {
	e, err := c.store.Endpoints.Find(ctx, account.AnyOwner(), id)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %w", mail.ErrObsolete, err)
	}
	return e, err
}

// reseal seals under the first of the given keys what another one sealed, so that
// the operator can then drop that one.
func (c *customers) reseal(ctx context.Context) error {
	secrets, err := c.store.Endpoints.SealedSecrets(ctx)
	if err != nil {
		return err
	}
	resealed := 0
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
			if replaceErr := c.store.Endpoints.ReplaceSecret(ctx, held.EndpointID, sealed, c.sealer.Seal(held.EndpointID, secret)); replaceErr != nil {
				err = errors.Join(err, replaceErr)
				continue
			}
			resealed++
		}
	}
	if resealed > 0 {
		c.log.Info("webhook secrets were sealed anew under the first key of --secret-key", "resealed", resealed)
	}
	return err
}

// prune forgets, once an hour, what has expired of sign-ins and sessions.
func (c *customers) prune(ctx context.Context) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := c.store.Sessions.Prune(ctx, c.session.now()); err != nil && ctx.Err() == nil {
			c.log.Error("expired sessions cannot be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
