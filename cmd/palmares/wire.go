package main

import (
	"context"
	"fmt"
	"time"

	"palmares/internal/accountsite"
	"palmares/internal/api"
	"palmares/internal/billing"
	"palmares/internal/catalog"
	"palmares/internal/dataset"
	"palmares/internal/keyring"
	"palmares/internal/mail"
	"palmares/internal/quota"
	"palmares/internal/remote"
	"palmares/internal/search"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/store"
	"palmares/internal/webhook"
	"palmares/internal/webhookapi"
)

// dependencies is what everything else is built on. Opening it needs the database.
type dependencies struct {
	store  *store.Store
	sealer webhook.Sealer
	live   *snapshot.Live
	meter  *quota.Meter // nil without quotas
}

// open opens the database and reads what must be in memory before anything is served. It
// waits for a database that is unreachable.
func (n *node) open(ctx context.Context) (d dependencies, err error) {
	n.store, err = whenReachable(ctx, n.wait, func(ctx context.Context) (*store.Store, error) {
		return store.Open(ctx, n.inv.database)
	})
	if err != nil {
		return d, err
	}
	if err := n.store.Claim(); err != nil {
		return d, err
	}
	d.store = n.store
	_, err = whenReachable(ctx, n.wait, func(ctx context.Context) (struct{}, error) { return struct{}{}, n.openMirror(ctx) })
	if err != nil {
		return d, err
	}
	d.sealer, err = whenReachable(ctx, n.wait, func(ctx context.Context) (webhook.Sealer, error) {
		return n.options.Webhooks.keySource(n.inv.database).Open(ctx, n.store.Endpoints)
	})
	if err != nil {
		return d, err
	}
	o := &n.options.Exports
	n.exports = dataset.New(dataset.Config{Dir: o.folder(n.inv.database), Space: int64(o.Space), Release: release(), Log: n.log})
	n.pages = site.New(site.Config{Demo: n.isDemo, Exports: n.exports, BaseURL: string(n.options.BaseURL), Pictures: pictures{&n.demo, n.store.Pictures}, Document: api.Document()})
	d.live, err = whenReachable(ctx, n.wait, func(ctx context.Context) (*snapshot.Live, error) {
		return snapshot.NewLive(ctx, n.load)
	})
	if err != nil || n.options.Quota == "off" {
		return d, err
	}
	d.meter, err = whenReachable(ctx, n.wait, func(ctx context.Context) (*quota.Meter, error) {
		return quota.New(ctx, quota.Config{Counters: n.store.Usage, Shared: n.store.Shared(), Now: n.inv.now, Log: n.log})
	})
	return d, err
}

// wire builds everything that serve needs, from top to bottom, starts it and opens the
// public handler.
func (n *node) wire(ctx context.Context) error {
	d, err := n.open(ctx)
	if err != nil {
		return err
	}
	c, st, now, log, base := n.options, d.store, n.inv.now, n.log, string(n.options.BaseURL)
	keys := keyring.New(st.Keys, now)
	dispatcher := webhook.NewDispatcher(webhook.Config{
		Queue: st.Deliveries, Secrets: st.Endpoints, Sealer: d.sealer, Allow: c.Webhooks.Allow,
		Schedule: webhook.Schedule(c.Delivery.Schedule), Timeout: time.Duration(c.Delivery.Timeout), Now: now, Log: log,
	})
	transport, err := c.mailTransport(log)
	if err != nil {
		return err
	}
	mails := mail.NewQueue(mail.Config{
		Outbox: st.Mails, Content: &mailContent{store: st, baseURL: base, now: now}, Transport: transport, BaseURL: base,
		Name: func() string { return d.live.Snapshot().Catalog.Name }, Now: now, Log: log,
	})
	payments, err := billing.New(billing.Config{
		Settings: c.Stripe.settings(), Ledger: st.Subscriptions, Keys: st.Keys, BaseURL: base, Now: now, Log: log,
	})
	if err != nil {
		return err
	}
	interval, wake := n.notifications()
	watch := server.NewWatch(server.WatchConfig{
		State: st, Uses: st.Keys, Interval: interval, Wake: wake, Served: dispatcher.Wake, Live: d.live, Keys: keys, Log: log,
	})
	cfg := server.Config{
		MCPQuota: int(c.MCPQuota), Local: c.local, Version: version,
		BaseURL: base, Origin: string(c.Mirror.Origin), Live: d.live, Keys: keys, Meter: d.meter, Streams: n.streams, Exports: n.exports, Trusted: c.Trusted, Site: n.pages, Log: log, Requests: n.logs, Metrics: n.metrics, Ready: n.public.Ready,
		Webhooks: webhookapi.New(webhookapi.Config{
			Store: st, Keys: keys, Sealer: d.sealer, Allow: c.Webhooks.Allow, Trusted: c.Trusted, Now: now, Log: log, Wake: dispatcher.Wake, Outage: watch.Outage,
			Snapshot: d.live.Snapshot, BaseURL: base,
		}),
		Account: accountsite.New(accountsite.Config{
			Store: st, Site: n.pages, BaseURL: base, Trusted: c.Trusted, MailLogged: c.Mail.SMTP.given == nil, Now: now, Log: log,
			WakeMail: mails.Wake, WakeWebhooks: dispatcher.Wake, Sealer: d.sealer, Allow: c.Webhooks.Allow, Billing: payments, Quota: c.dailyQuota(), Outage: watch.Outage,
		}),
	}
	cfg.Publish = remote.NewHandler(remote.Config{Store: st, NotFound: n.pages, Now: now, Log: log, Memory: &n.memory})
	if payments.Enabled() {
		cfg.Stripe = payments
	}
	n.start(d, watch, dispatcher, mails, payments)
	if err := n.startMirror(ctx, d.live); err != nil {
		return err
	}
	n.public.Open(server.New(cfg))
	n.announce(d.live.Snapshot())
	return nil
}

// start runs the background loops and registers their metrics.
func (n *node) start(d dependencies, watch *server.Watch, dispatcher *webhook.Dispatcher, mails *mail.Queue, payments *billing.Billing) {
	if n.options.Mail.SMTP.given == nil {
		n.log.Warn("--smtp is not set: mails are written to this log, links included")
	}
	if most := maxConnections(fileLimit()); most < defaultConnections && n.connections.Limit() == most {
		n.log.Warn(fmt.Sprintf("the limit of open files allows only %d connections: raise it (LimitNOFILE of systemd, ulimit -n)", most))
	}
	if d.meter != nil {
		n.run(d.meter.Run)
		n.metrics.Flag("palmares_quota_alone", "1 while this node counts requests by itself, as the database does not answer.", d.meter.Alone)
	}
	n.run(watch.Run)
	health := &healthCheck{store: d.store, log: n.log}
	n.run(health.run)
	n.metrics.Flag("palmares_database_up", "1 while the database answers and nothing is wrong with it, 0 while what is in memory is served or nothing can be stored.",
		func() bool { return watch.Outage() == nil && !health.failing.Load() })
	n.metrics.Catalogue(d.live)
	n.metrics.Flag("palmares_catalogue_behind", "1 while the published version cannot be loaded and an older one is served.", watch.Behind)
	n.runUntilStop(n.exports.Run)
	n.runUntilStop(dispatcher.Run)
	n.runUntilStop(mails.Run)
	n.metrics.Register(dispatcher, mails)
	n.run(payments.Run)
	n.run(n.pruneSessions)
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
	if !n.store.Shared() {
		return pollInterval, nil
	}
	wake := make(chan struct{}, 1)
	n.run(func(ctx context.Context) error {
		return n.store.Listen(ctx, func() {
			select {
			case wake <- struct{}{}:
			default: // a wake-up is pending
			}
		})
	})
	return listenInterval, wake
}

// load builds what is served instead of before and lets the pages show it. The API serves
// it a moment later.
func (n *node) load(ctx context.Context, before *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	n.memory.BeginLoad()
	defer n.running.Go(n.endLoad) // while the version is served, and the one before is garbage
	s, index, err := n.build(ctx, before)
	if err != nil {
		return nil, err
	}
	show := n.pages.Prepare(s)
	if err := index(); err != nil {
		return nil, err
	}
	show()
	if !n.isDemo(s) {
		n.demo.forget()
	}
	return s, nil
}

// endLoad frees the memory of a load, and says so if the next one will not fit.
func (n *node) endLoad() {
	n.memory.EndLoad()
	limit, live := memoryLimit(n.options.Memory), liveMemory()
	for _, next := range takeovers {
		if needed := live * next.percent / 100; limit > 0 && needed > limit {
			n.log.Warn(fmt.Sprintf("%s may need %d MiB for a while, and the limit is %d MiB: raise it (--memory, MemoryMax of systemd, the limits of the container)", next.publication, needed>>20, limit>>20))
			return
		}
	}
}

// build returns the published catalogue, or until there is one the demo, which is never
// stored; and what completes it with its search index, which is built meanwhile.
func (n *node) build(ctx context.Context, before *snapshot.Snapshot) (s *snapshot.Snapshot, index func() error, err error) {
	var earlier *store.Published
	if before != nil && before.Version > 0 {
		earlier = &store.Published{Catalog: before.Catalog, Version: before.Version, PublishedAt: before.PublishedAt, Feed: before.Feed()}
	}
	begin := time.Now()
	published, step, err := n.store.Catalogue.LoadAfter(ctx, earlier)
	if err != nil {
		return nil, nil, err
	}
	base := string(n.options.BaseURL)
	switch served := n.published.Load(); {
	case published.Version > 0:
		n.published.Store(published.Version)
		n.reportStage("all tools are read, now they are sorted, rendered and indexed", published, step, begin)
		var found *search.Index
		done := make(chan error, 1)
		go func() {
			var err error
			found, err = snapshot.NextIndex(ctx, before, published.Catalog, step)
			done <- err
		}()
		s = snapshot.Next(before, published.Catalog, step, published.Version, published.ChangedOn)
		s.Events, s.PublishedAt = published.Events, published.PublishedAt
		s.SetFeed(published.Feed)
		n.reportStage("all tools are rendered, now the search index is completed", published, step, begin)
		return s, func() error {
			err := <-done
			if err == nil {
				s.SetIndex(found)
			}
			return err
		}, nil
	case served > 0:
		return nil, nil, fmt.Errorf("the database has no catalogue any more: still serving version %d; restore a backup or publish again, or restart palmares if this is meant", served)
	case n.options.Demo == "off":
		s = snapshot.Empty("Palmarès", base)
		s.SetFeed(published.Feed)
	default:
		if s, err = n.demo.snapshot(ctx, base); err != nil {
			return nil, nil, err
		}
	}
	return s, func() error { return s.BuildIndex(ctx) }, nil
}

// largeCatalogue is how many tools take more than a second to read and to index.
const largeCatalogue = 50_000

// reportStage logs how far the reading of a whole large catalogue is, which takes seconds.
func (n *node) reportStage(stage string, p *store.Published, step *catalog.Step, begin time.Time) {
	if step == nil && len(p.Catalog.Tools) >= largeCatalogue {
		n.log.Info(stage, "version", p.Version, "tools", len(p.Catalog.Tools), "took", time.Since(begin).Round(time.Millisecond).String())
	}
}

// isDemo reports whether a snapshot is the demo catalogue.
func (n *node) isDemo(s *snapshot.Snapshot) bool { return n.options.Demo == "on" && s.Version == 0 }

// pruneSessions removes expired sign-in links and sessions once an hour.
func (n *node) pruneSessions(ctx context.Context) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := n.store.Sessions.Prune(ctx, n.inv.now()); err != nil && ctx.Err() == nil {
			n.log.Error("could not remove expired sessions", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
