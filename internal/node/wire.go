package node

import (
	"context"
	"errors"
	"math"
	"os"
	"time"

	"palmares/internal/accountsite"
	"palmares/internal/api"
	"palmares/internal/billing"
	"palmares/internal/catalogdb"
	"palmares/internal/dataset"
	"palmares/internal/keyring"
	"palmares/internal/mail"
	"palmares/internal/newsletter"
	"palmares/internal/quota"
	"palmares/internal/readership"
	"palmares/internal/remote"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/vault"
	"palmares/internal/web"
	"palmares/internal/webhook"
	"palmares/internal/webhookapi"
)

// readerInterval is how often mails about readers and to readers are looked for.
const readerInterval = 5 * time.Second

// dependencies is what everything else is built on. Opening it needs the database.
type dependencies struct {
	store  *Database
	sealer vault.Sealer
	live   *snapshot.Live
	meter  *quota.Meter // nil without quotas
	places *web.Places
	reads  *readership.Counter
}

// open opens the database and reads what must be in memory before anything is served. It
// waits for a database that is unreachable.
func (n *node) open(ctx context.Context) (d dependencies, err error) {
	n.store, err = whenReachable(ctx, n.wait, func(ctx context.Context) (*Database, error) {
		return Open(ctx, n.cfg.Database)
	})
	if err != nil {
		return d, err
	}
	if err := n.store.SQL.Claim(); err != nil {
		return d, err
	}
	d.store = n.store
	d.sealer, err = whenReachable(ctx, n.wait, func(ctx context.Context) (vault.Sealer, error) {
		return n.cfg.Webhooks.Keys.Open(ctx, n.store.Secrets())
	})
	if err != nil {
		return d, err
	}
	n.calendar = &calendar{store: n.store, now: n.cfg.Now, log: n.log}
	if err := n.calendar.advance(ctx); err != nil { // run tries again
		n.log.Error("what is scheduled cannot be published now", "error", err)
	}
	n.exports = dataset.New(dataset.Config{Dir: n.cfg.ExportDir, Release: n.cfg.Release, Log: n.log})
	d.reads = readership.New(readership.Config{
		Store: n.store.Readership, Trusted: n.cfg.Trusted, BaseURL: n.cfg.BaseURL, Now: n.cfg.Now, Log: n.log,
	})
	d.places = web.NewPlaces(n.cfg.Trusted)
	n.pages = site.New(site.Config{
		Demo: n.isDemo, Places: d.places, Exports: n.exports, BaseURL: n.cfg.BaseURL, Readers: d.reads,
		Pictures: pictures{&n.demo, n.store.Pictures}, Document: api.Document(), Now: n.cfg.Now,
	})
	d.live, err = whenReachable(ctx, n.wait, func(ctx context.Context) (*snapshot.Live, error) {
		return snapshot.NewLive(ctx, n.load)
	})
	if err != nil || !n.cfg.Quota {
		return d, err
	}
	d.meter, err = whenReachable(ctx, n.wait, func(ctx context.Context) (*quota.Meter, error) {
		return quota.New(ctx, quota.Config{
			Counters: n.store.Usage, Shared: n.store.SQL.Shared(), Now: n.cfg.Now, Log: n.log,
		})
	})
	return d, err
}

// wire builds everything that serve needs, from top to bottom, starts it and opens the
// public handler.
func (n *node) wire() error {
	d, err := n.open(n.ctx)
	if err != nil {
		return err
	}
	c, st, now, log, base := &n.cfg, d.store, n.cfg.Now, n.log, n.cfg.BaseURL
	keys := keyring.New(st.Keys, now)
	clock := &clockCheck{store: st, now: now, log: log}
	dispatcher := webhook.NewDispatcher(webhook.Config{
		Queue: queue{st.Deliveries, st.Events}, Secrets: st.Secrets(), Sealer: d.sealer, Allow: c.Webhooks.Allow,
		Schedule: c.Webhooks.Schedule, Timeout: c.Webhooks.Timeout, Now: now, ClockWrong: clock.isWrong, Log: log,
	})
	transport := c.Mail
	if transport == nil {
		transport = mail.LogSender{Log: log}
	}
	letters := &newsletter.Newsletter{
		Follows: st.Follows.Sealed(d.sealer), Links: st.Links.Sealed(d.sealer), Snapshot: d.live.Snapshot, Now: now,
		EndURL: func(token, all string) string { return accountsite.EndURL(base, token, all) },
	}
	mails := mail.NewQueue(mail.Config{
		Outbox: st.Mails, Content: &mailContent{letters, st, d.sealer, base, now}, Transport: transport,
		BaseURL: base, Name: func() string { return d.live.Snapshot().Catalog.Name }, Now: now, Log: log,
	})
	payments, err := billing.New(billing.Config{
		Settings: c.Stripe, Ledger: st.Subscriptions, Keys: st.Keys, BaseURL: base, Now: now, Log: log,
	})
	if err != nil {
		return err
	}
	interval, wake := n.notifications()
	watch := server.NewWatch(server.WatchConfig{
		State: st, Uses: st.Keys, Interval: interval, Wake: wake, Served: dispatcher.Wake,
		Live: d.live, Keys: keys, Log: log,
	})
	daily := 0
	if c.Quota {
		daily = quota.Free.Limit()
	}
	accounts := accountsite.New(accountsite.Config{
		Store: st.accounts, Desk: st.desks, Readers: st.readers, Site: n.pages, BaseURL: base, Trusted: c.Trusted, MailLogged: c.Mail == nil, Now: now, Log: log,
		WakeMail: mails.Wake, WakeWebhooks: dispatcher.Wake, Sealer: d.sealer, Allow: c.Webhooks.Allow,
		Billing: payments, Quota: daily, Outage: watch.Outage,
	})
	cfg := server.Config{
		Live: d.live, Keys: keys, Site: n.pages, Log: log, Requests: n.logs, Meter: d.meter, Places: d.places, Exports: n.exports,
		Trusted: c.Trusted, Metrics: n.metrics, BaseURL: base,
		MCPQuota: c.MCPQuota, Local: c.Local, Version: c.Version, Ready: n.public.Ready,
		Webhooks: webhookapi.New(webhookapi.Config{
			Store: st.accounts, Events: st.Events, Keys: keys, Sealer: d.sealer, Allow: c.Webhooks.Allow, Trusted: c.Trusted,
			Now: now, Log: log,
			Wake: dispatcher.Wake, Outage: watch.Outage, Snapshot: d.live.Snapshot, BaseURL: base,
		}),
		Account: accounts, Desk: n.openDesk(accounts, d.sealer),
		Publish: remote.NewHandler(remote.Config{
			Store: st.catalogue, Tokens: st.Tokens, NotFound: n.pages, Now: now, Log: log,
		}),
	}
	if payments.Enabled() {
		cfg.Stripe = payments
		n.metrics.Register(payments.Metrics())
	}
	n.start(d, watch, clock, dispatcher, mails, letters, payments)
	n.public.Open(server.New(cfg))
	n.announce(d.live.Snapshot())
	return nil
}

// start runs the background loops and registers their metrics.
func (n *node) start(
	d dependencies, watch *server.Watch, clock *clockCheck, dispatcher *webhook.Dispatcher, mails *mail.Queue,
	letters *newsletter.Newsletter, payments *billing.Billing,
) {
	for _, warning := range n.cfg.Warnings {
		n.log.Warn(warning)
	}
	if d.meter != nil {
		n.run(d.meter.Run)
		n.metrics.Flag("palmares_quota_alone",
			"1 while this node counts requests by itself, as the database does not answer.", d.meter.Alone)
	}
	n.run(d.reads.Run)
	n.run(watch.Run)
	health := &healthCheck{store: d.store, log: n.log}
	n.run(health.run)
	n.metrics.Flag("palmares_database_up", "1 while the database answers and nothing is wrong with it, "+
		"0 while what is in memory is served or nothing can be stored.",
		func() bool { return watch.Outage() == nil && !health.failing.Load() })
	n.metrics.Gauge("palmares_memory_limit_bytes", "The most memory that this process may use; 0 for no limit.",
		func() float64 { return float64(n.cfg.Memory) })
	n.metrics.Gauge("palmares_backup_age_seconds", "Since the last backup of the database; if none was ever made, since "+
		"the day before the first publication.", health.age(catalogdb.Backup, n.cfg.Now))
	n.metrics.Gauge("palmares_copy_age_seconds", "Since Litestream was last seen to have copied all of the database.",
		health.age(catalogdb.Copy, n.cfg.Now))
	machine, _ := os.Hostname() // "" is a name, too
	n.metrics.Gauge("palmares_check_age_seconds", "Since the last `palmares check --quiet` on this machine.",
		health.age(catalogdb.Check+machine, n.cfg.Now))
	n.metrics.Gauge("palmares_check_wrong", "How much that found wrong.", func() float64 {
		if history := health.history.Load(); history != nil {
			return float64(history.Last[catalogdb.Check+machine].Wrong)
		}
		return math.NaN()
	})
	if d.store.SQL.Shared() {
		n.run(clock.run)
		n.metrics.Gauge("palmares_clock_offset_seconds",
			"How far the clock of this machine is ahead of the database's; negative if it is behind.", clock.ahead)
	}
	n.runUntilStop(n.calendar.run)
	n.metrics.Gauge("palmares_scheduled_stuck", "Scheduled records that could not be published at their hour.",
		func() float64 { return float64(n.calendar.stuck.Load()) })
	n.metrics.Catalogue(d.live)
	n.metrics.Flag("palmares_catalogue_behind",
		"1 while the published version cannot be loaded and an older one is served.", watch.Behind)
	n.runUntilStop(n.exports.Run)
	n.runUntilStop(dispatcher.Run)
	n.runUntilStop(mails.Run)
	n.runUntilStop(func(ctx context.Context) error { return n.writeToReaders(ctx, d.live, letters) })
	n.metrics.Register(dispatcher, mails)
	n.run(payments.Run)
	n.run(n.pruneSessions)
	if n.certificates == nil {
		return
	}
	// Whoever waits for this node to start finds the certificate that another process has got. If it
	// cannot be read, Run says so.
	_, _ = n.certificates.Open(n.ctx, d.store.Certificates.Sealed(d.sealer))
	n.runUntilStop(n.certificates.Run)
	n.metrics.Gauge("palmares_certificate_expiry_days",
		"Days until the first certificate expires; 0 if one is missing.", func() float64 {
			if expiry := n.certificates.Expiry(); !expiry.IsZero() {
				return expiry.Sub(n.cfg.Now()).Hours() / 24
			}
			return 0
		})
}

const (
	// pollInterval is how often the database is asked whether something changed. A
	// publication must be served within a second; the query costs microseconds.
	pollInterval = 250 * time.Millisecond
	// listenInterval is the same where the database notifies: it covers the time in
	// which that connection is broken.
	listenInterval = 500 * time.Millisecond
)

// notifications returns how often to poll for changes, and a channel that the database
// wakes the poller with, nil if it does not notify.
func (n *node) notifications() (time.Duration, <-chan struct{}) {
	if !n.store.SQL.Shared() {
		return pollInterval, nil
	}
	wake := make(chan struct{}, 1)
	n.run(func(ctx context.Context) error {
		return n.store.SQL.Listen(ctx, func() {
			select {
			case wake <- struct{}{}:
			default: // a wake-up is pending
			}
		})
	})
	return listenInterval, wake
}

// writeToReaders queues what is due: the mail about what readers report, to the contact of the catalogue, and the
// mails to those who follow something.
func (n *node) writeToReaders(ctx context.Context, live *snapshot.Live, letters *newsletter.Newsletter) error {
	return repeat(ctx, readerInterval, func(ctx context.Context) error {
		err := n.store.Reports.QueueDigest(ctx, live.Snapshot().Catalog.Settings.Contact, n.cfg.Now())
		return errors.Join(err, letters.Queue(ctx))
	}, func(err error) {
		n.log.Error("mails about readers and to readers cannot be queued now; trying again", "error", err)
	})
}

// pruneSessions removes expired links and sessions once an hour.
func (n *node) pruneSessions(ctx context.Context) error {
	prune := func(ctx context.Context) error {
		return errors.Join(n.store.Sessions.Prune(ctx, n.cfg.Now()), n.store.Shares.Prune(ctx, n.cfg.Now()))
	}
	return repeat(ctx, time.Hour, prune, func(err error) { n.log.Error("could not remove expired sessions", "error", err) })
}
